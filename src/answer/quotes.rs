//! Give me a question, I give you the sentences of the file that answer it best, cited to the byte, or say that there
//! are none.

use crate::answer::{Answer, AnswerEvidence, Claim, LinkedName, NOTHING, Status, Support};
use crate::base::error::{Error, Result};
use crate::base::ids::SentenceId;
use crate::corpus::snapshot::Snapshot;
use crate::language::budget::Ledger;
use crate::retrieval::chain::ChainSettings;
use crate::retrieval::context::{TextFetcher, entity_name};
use crate::retrieval::evidence::coverage::Coverage;
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::evidence::{Evidence, Reason, path_to};
use crate::retrieval::question::linking::Strategy;
use crate::retrieval::question::{QueryTerm, Question};
use crate::retrieval::text::relevance::{TermSet, sentence_fits, with_meaning};
use std::collections::BTreeSet;

/// Least coverage of an answer to a question with a name that the file knows, and without.
const MIN_COVERAGE: (f32, f32) = (0.34, 0.5);
/// Sentences of one chunk that are quoted because they lead on.
const MAX_LEADS: usize = 2;

/// Answers `question` with the sentences of at most `k` chunks of `evidence` (best first), all of `documents` if
/// there is a filter. The caller adds who found it and what it cost.
pub fn answer(
    snapshot: &Snapshot,
    question: &Question,
    evidence: &[Evidence],
    documents: Option<&DocumentSet>,
    k: usize,
) -> Result<Answer> {
    let Coverage { share: coverage, missing } =
        Coverage::of(snapshot, question, evidence.iter().map(|evidence| evidence.chunk))?;
    let mut mentions = question.mentions.iter();
    let named =
        mentions.any(|mention| mention.candidates.iter().any(|candidate| candidate.strategy != Strategy::Fuzzy));
    let enough = coverage >= if named { MIN_COVERAGE.0 } else { MIN_COVERAGE.1 };
    let mut answer = Answer {
        names: linked_names(snapshot, question, documents)?,
        question: question.text.clone(),
        status: Status::Abstained,
        text: NOTHING.into(),
        plain: String::new(),
        reason: Some("the best evidence has too few of the question's words".into()),
        cause: None,
        citations: Vec::new(),
        claims: Vec::new(),
        invalid_citations: 0,
        evidence: Vec::new(),
        missing,
        coverage,
        plan: Vec::new(),
        preset: String::new(),
        model: None,
        stage: None,
        cost: Ledger::default(),
        trace: Vec::new(),
    };
    if enough && !evidence.is_empty() {
        let mut fetcher = TextFetcher::among(snapshot, documents);
        quote(snapshot, &mut fetcher, question, evidence, k, &mut answer)?;
    }
    Ok(answer)
}

/// What the question's names were linked to. Names are the file's as a whole: where only some `documents` are asked,
/// they would tell of the others, and are left out.
pub(crate) fn linked_names(
    snapshot: &Snapshot,
    question: &Question,
    documents: Option<&DocumentSet>,
) -> Result<Vec<LinkedName>> {
    if documents.is_some() {
        return Ok(Vec::new());
    }
    let linked = question.mentions.iter().filter_map(|mention| {
        let strategy = mention.candidates.first()?.strategy;
        let entities = mention
            .candidates
            .iter()
            .map(|candidate| entity_name(snapshot, candidate.entity))
            .collect::<Result<Vec<_>>>();
        Some(entities.map(|entities| LinkedName { name: question.name(mention).to_owned(), entities, strategy }))
    });
    linked.collect()
}

/// Fills in the quotes: of each chunk the sentences that fit best, and those that lead on to other evidence.
fn quote(
    snapshot: &Snapshot,
    fetcher: &mut TextFetcher<'_>,
    question: &Question,
    evidence: &[Evidence],
    k: usize,
    answer: &mut Answer,
) -> Result<()> {
    let mut lines = Vec::new();
    let chosen = &evidence[..evidence.len().min(k)];
    for piece in chosen {
        let leads = chosen.iter().filter_map(|other| match other.reason {
            Reason::Hop(hop) if hop.from == piece.chunk => Some(hop.sentence),
            _ => None,
        });
        let sentences: BTreeSet<SentenceId> =
            leads.take(MAX_LEADS).chain(best_sentences(snapshot, question, piece)?).collect();
        let mut numbers = Vec::new();
        for sentence in sentences {
            let citation = fetcher.cite(answer.citations.len() + 1, sentence, piece.chunk)?;
            lines.push(format!("{} [{}]", citation.quote, citation.number));
            answer.claims.push(Claim {
                text: citation.quote.clone(),
                citations: vec![citation.number],
                support: Support::Store,
                missing: Vec::new(),
            });
            numbers.push(citation.number);
            answer.citations.push(citation);
        }
        answer.evidence.push(AnswerEvidence {
            citations: numbers,
            chunk: piece.chunk,
            document: fetcher.document(snapshot.provenance()?.chunk(piece.chunk)?.document)?.id,
            score: piece.score,
            reason: piece.reason.found_by(),
            path: fetcher.path(&path_to(evidence, piece))?,
            shown: true,
        });
    }
    answer.text = lines.join("\n");
    answer.plain = answer.claims.iter().map(|claim| claim.text.as_str()).collect::<Vec<_>>().join("\n");
    // Quotes are their own proof; whether they answer is for the reader to say.
    answer.status = Status::Verified;
    answer.reason = None;
    Ok(())
}

/// The sentence of a chunk that says most of what is asked, and the one that has most of the question's words; the
/// first sentence if none has any.
fn best_sentences(snapshot: &Snapshot, question: &Question, evidence: &Evidence) -> Result<Vec<SentenceId>> {
    let first = snapshot.provenance()?.chunk(evidence.chunk)?.first_sentence;
    let fits = |terms: &[QueryTerm], chunk| {
        Ok::<_, Error>(sentence_fits(snapshot, terms, &[chunk])?.into_iter().next().unwrap_or_default())
    };
    // What the sentence that led here has said already is not asked again.
    let mut open = question.asked_terms();
    if let Reason::Hop(hop) = evidence.reason {
        let said = fits(&open, hop.from)?.into_iter().find(|fit| fit.sentence == hop.sentence);
        let rest = said.map_or(TermSet::default(), |fit| fit.covered).others(&open);
        if !rest.is_empty() {
            open = rest;
        }
    }
    let (mut asked, mut all) = (fits(&open, evidence.chunk)?, fits(&question.content_terms(), evidence.chunk)?);
    let share = ChainSettings::default().sentence_meaning;
    for fit in asked.iter_mut().chain(&mut all) {
        fit.overlap = with_meaning(snapshot, question.vector.as_ref(), share, fit)?;
    }
    let mut best: [(f32, f32, SentenceId); 2] = [(0.0, 0.0, first); 2];
    for (asked, all) in asked.iter().zip(&all) {
        let keys = [(asked.overlap, all.overlap, asked.sentence), (all.overlap, asked.overlap, asked.sentence)];
        for (best, key) in best.iter_mut().zip(keys) {
            if (key.0, key.1) > (best.0, best.1) {
                *best = key;
            }
        }
    }
    Ok(best.into_iter().map(|best| best.2).collect())
}
