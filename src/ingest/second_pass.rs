//! Give me a file whose text is stored, I find its entities, mentions and facts, and publish it: the second pass of
//! [`super::pipeline`].

use crate::base::error::Result;
use crate::corpus::builder::{Description, EntityDictionaryWriter, Place, Statement, StoredText};
use crate::ingest::batch_graph::{LinkedBatch, Relations, link};
use crate::ingest::build_report::BuildReport;
use crate::ingest::extractor::{ChunkPhrases, PhraseCounts, Selector};
use crate::ingest::pipeline::BuildPipeline;
use crate::ingest::progress::Progress;
use crate::ingest::reading::ModelReader;
use crate::ingest::rounds::watched;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// Batches that each thread links in one round: enough that a long one does not leave the others waiting.
const LINK_BATCHES: usize = 4;

/// Repeated ids that are listed; the rest is only counted.
const MAX_REPEATED_IDS: usize = 1000;

impl<P: Place> BuildPipeline<'_, P> {
    /// Second pass, and the writing of the indexes.
    pub(super) fn second_pass(mut self) -> Result<BuildReport> {
        if let Some(selector) = self.settings.statistical {
            let names = self.standing_out(selector)?;
            self.gazetteer.standing_out(names);
        }
        let (gazetteer, file) = (std::mem::take(&mut self.gazetteer), &mut self.file);
        let (resolved, written) = self.pool.install(|| rayon::join(|| gazetteer.resolve(), || file.write_terms()));
        written?;
        // The names' sections are made beside the first round of linking.
        let mut names = Some(self.file.dictionary(&resolved.entities));
        let mut dictionary = None;
        let mut relations = Relations::default();
        let (total_bytes, mut bytes) = (self.file.counts().text_bytes, 0);
        let batches: Vec<usize> = (0..self.file.batch_count()).collect();
        for round in batches.chunks(self.pool.current_num_threads() * LINK_BATCHES) {
            self.check_cancelled()?;
            let stored = round.iter().map(|&batch| self.file.stored_text(batch)).collect::<Result<Vec<_>>>()?;
            let (file, names, given) = (&self.file, names.take(), &self.given);
            let resolved = &resolved;
            let link_all = |stop: &AtomicBool| {
                let stopped = || stop.load(Ordering::Relaxed);
                let link_one =
                    |stored: StoredText| link(file, resolved, stored.documents(), &stored.inflate()?, given, &stopped);
                stored.into_par_iter().map(link_one).collect()
            };
            let (linked, made): (Vec<Result<LinkedBatch>>, _) = watched(&self.pool, self.cancelled, |stop| {
                rayon::join(|| link_all(stop), || names.map(EntityDictionaryWriter::finish))
            })?;
            dictionary = dictionary.or(made);
            for result in linked {
                let linked = result?;
                bytes += linked.text_bytes;
                self.push(linked, &mut relations);
            }
            (self.progress)(Progress::Linking { bytes, total_bytes });
        }
        self.check_cancelled()?;
        (self.progress)(Progress::Writing);
        drop(resolved);
        let description = self.describe();
        self.report.repeated_ids = self.file.repeated_ids();
        self.report.repeated_id_count = self.report.repeated_ids.len() as u64;
        self.report.repeated_ids.truncate(MAX_REPEATED_IDS);
        let (file, dictionary) = (self.file, dictionary.expect("a file has at least one batch"));
        self.report.finished = self.pool.install(|| file.finish(dictionary, &relations.names, description))?;
        Ok(self.report)
    }

    /// Phrases that stand out in a base chunk: the stored text is read twice more, to count and to choose.
    fn standing_out(&mut self, selector: Selector) -> Result<BTreeSet<String>> {
        let over_stop_words = matches!(selector, Selector::SklearnL2(_));
        let (mut counts, mut names) = (PhraseCounts::default(), BTreeSet::new());
        for choosing in [false, true] {
            for batch in 0..self.file.batch_count() {
                self.check_cancelled()?;
                let stored = self.file.stored_text(batch)?;
                let text = stored.inflate()?;
                let rows = self.file.documents();
                let base = rows.get(stored.documents().start as usize).map_or(0, |row| row.text_start);
                for (document, range) in self.file.base_chunk_ranges(stored.documents()) {
                    let start = (rows[document.index()].text_start - base) as usize;
                    let chunk = ChunkPhrases::new(&text[start + range.start..start + range.end], over_stop_words);
                    match choosing {
                        false => counts.add(&chunk),
                        true => names.extend(counts.select(&chunk, selector).into_iter().map(|phrase| phrase.0)),
                    }
                }
            }
        }
        Ok(names)
    }

    fn push(&mut self, linked: LinkedBatch, relations: &mut Relations) {
        linked.mentions.into_iter().for_each(|entities| self.file.push_mentions(entities));
        linked.about.into_iter().for_each(|entities| self.file.push_about(entities));
        let numbers: Vec<u32> = linked.relations.into_iter().map(|name| relations.number(name)).collect();
        for statement in linked.statements {
            self.file.push_statement(Statement { relation: numbers[statement.relation as usize], ..statement });
        }
    }

    /// What the manifest says of the build.
    fn describe(&self) -> Description {
        let layers = self.settings.layers.iter().map(|layer| {
            let size = format!("{} tokens, overlap {}", layer.target_tokens, layer.overlap_tokens);
            (format!("layer.{}", layer.name), size)
        });
        let mut settings: BTreeMap<String, String> = layers.collect();
        let extractor = if self.given.is_empty() { "rule-based-1" } else { "rule-based-1, ready triples" };
        if self.reader.as_deref().is_some_and(ModelReader::summarises) {
            settings.insert("summaries".into(), "in the metadata".into());
        }
        let statistical = self.settings.statistical.map_or_else(String::new, |selector| format!(", {selector:?}"));
        settings.insert("extractor".into(), format!("{extractor}{statistical}"));
        Description { title: self.settings.title.clone(), settings, warnings: self.report.warning_count }
    }
}
