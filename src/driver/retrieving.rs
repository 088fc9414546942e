//! Give me a controller's wish for evidence, I fetch it, order it anew and put it on the table.

use crate::answer::trace::{TraceAction, TraceEntry};
use crate::base::error::Result;
use crate::base::ids::FactId;
use crate::base::score::Scored;
use crate::controllers::controller::{Observation, Retrieval};
use crate::driver::run::QuestionRun;
use crate::driver::understanding::understand;
use crate::language::quotation::fact_line;
use crate::retrieval::context::TextFetcher;
use crate::retrieval::evidence::{Evidence, Reason, Retrieved, Stage, TraceStep, path_to};
use crate::retrieval::gate::gate;
use crate::retrieval::graph::fact_mapping::{fact_names, nearest_facts};
use crate::retrieval::question::Question;
use crate::retrieval::systems::{InfluenceSettings, Pipeline, reason_from, retrieve};
use std::rc::Rc;

impl QuestionRun<'_, '_> {
    /// A query, linked, with what it means as far as the preset goes by meaning.
    fn question(&mut self, query: &str, meant: &str) -> Result<Rc<Question>> {
        let known = self.questions.iter().find(|(of, question)| question.text == query && of == meant);
        if let Some((_, question)) = known {
            return Ok(question.clone());
        }
        let question = Rc::new(understand(&self.view, query, meant, self.embed)?);
        self.questions.push((meant.to_owned(), question.clone()));
        Ok(question)
    }

    pub(super) fn gate(&mut self, query: &str, threshold: f32, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = TraceAction::Gate;
        let question = self.question(query, query)?;
        let Some(vector) = &question.vector else {
            entry.outcome = "the file has no vectors: open".into();
            return Ok(Observation::Gate(None));
        };
        let seen = gate(self.driver.snapshot, vector, threshold, self.driver.documents)?;
        entry.what = format!("threshold {threshold:.3}");
        let nearest = seen.document.map_or_else(|| "no document".to_owned(), |document| format!("document {document}"));
        let verdict = if seen.open { "open" } else { "closed" };
        entry.outcome = format!("{nearest} is nearest, {:.3}: {verdict}", seen.score);
        Ok(Observation::Gate(Some(seen)))
    }

    pub(super) fn retrieve(&mut self, retrieval: &Retrieval, entry: &mut TraceEntry) -> Result<Observation> {
        let preset = self.driver.preset;
        let question = self.question(&retrieval.query, retrieval.hypothesis.as_deref().unwrap_or(&retrieval.query))?;
        let mut pipeline = retrieval.pipeline.as_ref().unwrap_or(&preset.pipeline);
        entry.action = TraceAction::Retrieve;
        entry.what.clone_from(&retrieval.query);
        if pipeline.needs_vector() && question.vector.is_none() {
            entry.outcome = "without vectors, by words alone: ".into();
            pipeline = &Pipeline::Keyword;
        }
        let wanted = retrieval.k.max(retrieval.rerank);
        let mut found = retrieve(&self.view, &question, pipeline, wanted, self.driver.clock)?;
        self.rerank(retrieval, &mut found)?;
        found.evidence.truncate(retrieval.k);
        self.stage = self.stage.max(found.stage());
        self.ledger.retrievals += 1;
        let known = self.workspace.table.rows().len();
        let numbers = self.add(&found.evidence)?;
        let more = self.workspace.table.rows().len() - known;
        entry.outcome.push_str(&format!("{} chunks, {more} of them new", numbers.len()));
        entry.retrieval = found.trace;
        if self.driver.model.is_none() {
            self.last = Some((question, found.evidence));
        }
        Ok(Observation::Evidence { numbers })
    }

    /// Asks the reranker, if there is one, to order the first candidates anew (checklist B17).
    fn rerank(&self, retrieval: &Retrieval, found: &mut Retrieved) -> Result<()> {
        let (Some(reranker), true) = (self.driver.reranker, retrieval.rerank > 0) else { return Ok(()) };
        let count = found.evidence.len().min(retrieval.rerank);
        let mut fetcher = TextFetcher::new(self.driver.snapshot);
        let texts = found.evidence[..count].iter().map(|evidence| Ok(fetcher.chunk_text(evidence.chunk)?.2));
        let texts: Vec<String> = texts.collect::<Result<_>>()?;
        let scores = reranker.scores(&retrieval.query, &texts)?;
        let mut first: Vec<(f32, Evidence)> = scores.into_iter().zip(found.evidence.iter().copied()).collect();
        first.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.chunk.cmp(&b.1.chunk)));
        for (place, (score, evidence)) in first.into_iter().enumerate() {
            found.evidence[place] = Evidence { score, ..evidence };
        }
        Ok(())
    }

    /// Puts evidence on the table.
    fn add(&mut self, evidence: &[Evidence]) -> Result<Vec<usize>> {
        let mut fetcher = TextFetcher::among(self.driver.snapshot, self.driver.documents);
        self.workspace.table.start_retrieval();
        let mut numbers = Vec::with_capacity(evidence.len());
        for piece in evidence {
            if let Some(known) = self.workspace.table.of_chunk(piece.chunk) {
                numbers.push(known.number);
                continue;
            }
            let path = fetcher.path(&path_to(evidence, piece))?;
            let chunk = fetcher.chunk(piece.chunk)?;
            numbers.push(self.workspace.table.add(chunk, piece.score, piece.reason.found_by(), path));
        }
        Ok(numbers)
    }

    pub(super) fn facts(&mut self, query: &str, k: usize, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = TraceAction::Facts;
        entry.what = query.to_owned();
        let question = self.question(query, query)?;
        let found: Vec<Scored<FactId>> = match &question.vector {
            Some(vector) => nearest_facts(&self.view, &question, vector, k)?,
            None => Vec::new(),
        };
        let mut facts = Vec::with_capacity(found.len());
        for hit in found {
            facts.push((hit.id, fact_line(&fact_names(&self.view, hit.id)?)));
        }
        entry.outcome = format!("{} facts", facts.len());
        Ok(Observation::Facts(facts))
    }

    pub(super) fn reason(
        &mut self,
        query: &str,
        facts: Vec<FactId>,
        settings: &InfluenceSettings,
        entry: &mut TraceEntry,
    ) -> Result<Observation> {
        entry.action = TraceAction::Reason;
        let names = facts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        entry.what = format!("joins facts {names}");
        let question = self.question(query, query)?;
        let Some(vector) = &question.vector else {
            return Ok(Observation::Reasoning { text: String::new(), numbers: Vec::new() });
        };
        let reasoning = reason_from(&self.view, &question, vector, facts, settings)?;
        let mut text = String::new();
        for &fact in
            reasoning.terminals.iter().chain(reasoning.facts.iter().filter(|fact| !reasoning.terminals.contains(fact)))
        {
            text.push_str(&fact_line(&fact_names(&self.view, fact)?));
            text.push('\n');
        }
        let evidence: Vec<Evidence> = reasoning
            .chunks
            .iter()
            .map(|hit| Evidence { chunk: hit.id, score: hit.score, reason: Reason::PageRank })
            .collect();
        let numbers = self.add(&evidence)?;
        self.stage = self.stage.max(Some(Stage::Global));
        self.ledger.retrievals += 1;
        entry.outcome.clone_from(&reasoning.tried);
        entry.retrieval.push(TraceStep {
            stage: Stage::Global,
            tried: reasoning.tried,
            evidence: numbers.len(),
            cost: reasoning.cost,
            decision: format!("{} facts between {} nodes", reasoning.facts.len(), reasoning.nodes.len()),
        });
        Ok(Observation::Reasoning { text, numbers })
    }
}
