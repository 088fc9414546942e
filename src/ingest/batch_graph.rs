//! Give me the text of a batch and who the entities are, I give you its mentions, about-edges and facts.

use crate::base::error::{Error, Result};
use crate::base::text::name_key;
use crate::corpus::builder::{FileBuilder, Place, Statement};
use crate::ingest::entity_resolution::Resolved;
use crate::ingest::extractor::{Extraction, Recogniser};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Relation names over all batches, numbered by first occurrence.
#[derive(Default)]
pub(super) struct Relations {
    numbers: FxHashMap<String, u32>,
    pub(super) names: Vec<String>,
}

impl Relations {
    pub(super) fn number(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

/// The graph of one batch.
pub(super) struct LinkedBatch {
    pub(super) mentions: Vec<Vec<u32>>,
    pub(super) about: Vec<Vec<u32>>,
    pub(super) statements: Vec<Statement>,
    pub(super) relations: Vec<String>,
    pub(super) text_bytes: u64,
}

/// Finds the mentions, about-edges and facts of the documents in `range`, whose texts are `text` one after the other,
/// unless `stopped` says so in their midst.
pub(super) fn link<P: Place>(
    file: &FileBuilder<P>,
    resolved: &Resolved,
    range: std::ops::Range<u32>,
    text: &str,
    given: &FxHashMap<u32, Extraction>,
    stopped: &dyn Fn() -> bool,
) -> Result<LinkedBatch> {
    let mut recogniser = Recogniser::new(&resolved.trie);
    let (mut mentions, mut statements, mut topics) = (Vec::new(), Vec::new(), Vec::new());
    let rows = &file.documents()[range.start as usize..range.end as usize];
    let base = rows.first().map_or(0, |row| row.text_start);
    for (row, id) in rows.iter().zip(range.clone()) {
        let body = &text[(row.text_start - base) as usize..][..row.text_length as usize];
        let title = resolved.titles[id as usize];
        let mut opening = Vec::new();
        for sentence in row.first_sentence.0..row.first_sentence.0 + row.sentence_count {
            if stopped() {
                return Err(Error::Interrupted);
            }
            let found = recogniser.read(&body[file.sentence_range(sentence)], title);
            if sentence == row.first_sentence.0 {
                opening = found.opening;
            }
            statements.extend(found.statements.into_iter().map(|statement| Statement { sentence, ..statement }));
            mentions.push(found.entities);
        }
        if let Some(extraction) = given.get(&id) {
            let first = mentions.len() - row.sentence_count as usize;
            let sentences: Vec<(u32, &[u32])> = (row.first_sentence.0..)
                .zip(&mentions[first..])
                .map(|(sentence, named): (u32, &Vec<u32>)| (sentence, named.as_slice()))
                .collect();
            let entity = |name: &str| resolved.trie.get(&name_key(name)).first().copied();
            statements.extend(extraction.statements(entity, |name| recogniser.relation(name), &sentences));
        }
        topics.push(title.map_or(opening, |title| vec![title]));
    }
    let about = file.base_chunks_of(range.clone()).map(|(document, headings)| {
        let mut entities: BTreeSet<u32> = topics[(document - range.start) as usize].iter().copied().collect();
        entities.extend(headings.iter().flat_map(|heading| resolved.trie.get(&name_key(heading)).iter().copied()));
        entities.into_iter().collect()
    });
    Ok(LinkedBatch {
        mentions,
        about: about.collect(),
        statements,
        relations: recogniser.into_relations(),
        text_bytes: text.len() as u64,
    })
}
