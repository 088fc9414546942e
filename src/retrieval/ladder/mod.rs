//! Give me a question, I climb only as high as it needs: around its entities, between them, over the whole graph,
//! text.
//!
//! Each rung is tried at most once and in this order, and evidence only grows (checklist A8 to A15). After each rung
//! a test without a model says whether the evidence is enough; it decides how far to climb, never whether an answer
//! is right.

mod rungs;
mod settings;
mod sufficiency;

pub use settings::{
    BridgeStage, ClimbBudget, GlobalGraph, GlobalStage, LadderSettings, LocalStage, MERGED_CANDIDATES, Sufficiency,
};
pub use sufficiency::{Findings, examine};

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, FactId};
use crate::base::score::Scored;
use crate::retrieval::chain::{ChainSettings, Walk};
use crate::retrieval::evidence::{Cost, Evidence, Reason, Retrieved, Stage, TraceStep};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a climb found.
#[derive(Clone, Debug, Default)]
pub struct Climb {
    /// Evidence and trace.
    pub retrieved: Retrieved,
    /// Facts that were found on the way, increasing.
    pub facts: Vec<FactId>,
}

/// Time since any fixed moment. It comes in, so that retrieval is a function of its arguments.
pub type Clock<'a> = &'a dyn Fn() -> Duration;

/// A climb under way: evidence that grows.
struct Ascent<'a> {
    view: &'a GraphView<'a>,
    question: &'a Question,
    settings: &'a LadderSettings,
    seeds: Vec<EntityId>,
    evidence: FxHashMap<ChunkId, Evidence>,
    facts: BTreeSet<FactId>,
}

/// The `k` best chunks for `question`, which was linked under the same view.
pub fn climb(
    view: &GraphView<'_>,
    question: &Question,
    settings: &LadderSettings,
    k: usize,
    clock: Clock<'_>,
) -> Result<Climb> {
    climb_while(view, question, settings, k, clock, &|findings| !settings.sufficiency.is_enough(findings))
}

/// The same, going on as long as `go_on` says so.
pub fn climb_while(
    view: &GraphView<'_>,
    question: &Question,
    settings: &LadderSettings,
    k: usize,
    clock: Clock<'_>,
    go_on: &dyn Fn(&Findings) -> bool,
) -> Result<Climb> {
    let start = clock();
    let mut ascent = Ascent {
        view,
        question,
        settings,
        seeds: question.entities().into_iter().collect(),
        evidence: FxHashMap::default(),
        facts: BTreeSet::new(),
    };
    let mut walk = match &settings.local {
        LocalStage::Chain(chain) => Some(Walk::start(view, question, chain)?),
        LocalStage::Neighbourhood { .. } => None,
    };
    let (mut trace, mut total): (Vec<TraceStep>, Cost) = (Vec::new(), Cost::default());
    let stages: BTreeSet<Stage> = settings.stages.iter().copied().collect();
    for &stage in &stages {
        let (tried, cost) = match stage {
            Stage::Local => ascent.local(walk.as_mut())?,
            Stage::Bridge => ascent.bridge(walk.as_mut())?,
            Stage::Global => ascent.global()?,
            Stage::Text => ascent.fall_back()?,
        };
        total = total.plus(cost);
        let findings = examine(view, question, &ascent.ranked())?;
        let spent = settings.budget.spent(total, clock().saturating_sub(start));
        let last = stages.last() == Some(&stage);
        let more = !last && spent.is_none() && go_on(&findings);
        let decision = match spent {
            Some(what) if !last => format!("{findings}: {what} spent"),
            _ if last => format!("{findings}: the last rung"),
            _ if more => format!("{findings}: not enough"),
            _ => format!("{findings}: enough"),
        };
        trace.push(TraceStep { stage, tried, evidence: ascent.evidence.len(), cost, decision });
        if !more {
            break;
        }
    }
    let evidence = settings.budget.cut(view.snapshot(), ascent.ranked(), k)?;
    Ok(Climb { retrieved: Retrieved { evidence, trace }, facts: ascent.facts.into_iter().collect() })
}

impl Ascent<'_> {
    fn ranked(&self) -> Vec<Evidence> {
        let mut all: Vec<Evidence> = self.evidence.values().copied().collect();
        all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        all
    }

    /// Adds chunks with scores of their own scale. With a chain, the first `keep` places stay as they are and new
    /// evidence goes below them; otherwise each rung's scores are brought to 0..1 and added up.
    fn merge(&mut self, found: Vec<Scored<ChunkId>>, reason: Reason) {
        let best = found.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
        let ceiling = match self.settings.local {
            LocalStage::Chain(_) => self.ranked().get(self.settings.keep).map(|evidence| evidence.score),
            LocalStage::Neighbourhood { .. } => None,
        };
        for hit in found {
            let share = (hit.score / best).max(0.0);
            let known = self.evidence.get(&hit.id).copied();
            let score = match (ceiling, known) {
                (Some(ceiling), Some(known)) if known.score >= ceiling => known.score,
                (Some(ceiling), known) => known.map_or(0.0, |known| known.score).max(ceiling * share),
                (None, known) => known.map_or(0.0, |known| known.score) + share,
            };
            let reason = known.map_or(reason, |known| known.reason);
            self.evidence.insert(hit.id, Evidence { chunk: hit.id, score, reason });
        }
    }
}

/// Ranking by text alone: what every climb falls back to, and equals where the graph is gone (checklist A21, A22).
pub fn text_floor(view: &GraphView<'_>, question: &Question, settings: &ChainSettings) -> Result<Vec<Evidence>> {
    Ok(Walk::start(view, &question.without_names(), settings)?.evidence())
}
