//! Give me a model's answer and the table of evidence, I say claim by claim what the cited bytes support, without a
//! model.
//!
//! Numbers in brackets name rows of the table; a number that names none is taken out and counted (checklist B19), and
//! no text is ever searched for citations. A claim is supported if one sentence of a cited row says it: if the claim
//! is what is left of the sentence, in this or an equal wording, when parts of it are left out that may be
//! (`deletion`). What no rule allows is not supported; nothing is counted or weighed.

mod alignment;
mod asked;
mod claim;
mod deletion;
mod description;
mod foreign;
mod implied;
mod inflection;
mod lexeme;
mod parts;
mod passage;
mod reader;
mod reason;
mod relation;
mod rewording;
mod support;
mod token;
mod undoing;
mod vocabulary;

use crate::answer::evidence_table::{EvidenceRow, EvidenceTable};
use crate::answer::{Claim, Support};
use crate::base::error::Result;
use crate::base::ids::SentenceId;
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::context::{Citation, TextFetcher};
use alignment::Effort;
use claim::cut;
use passage::Passage;
use std::collections::BTreeMap;
use std::ops::Range;
use support::HeldAgainst;

/// Sentences of one row that are cited for one claim.
const MAX_SENTENCES: usize = 2;
/// Steps for one answer, of about 50 ns.
const MAX_STEPS: u64 = 30_000_000;
/// Sentences of an answer that are held against the evidence; what comes behind is not supported.
const MAX_CLAIMS: usize = 200;

/// An answer with what supports it.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// The answer, its citations numbered anew in the order they occur.
    pub text: String,
    /// The same without citations.
    pub plain: String,
    /// Its sentences.
    pub claims: Vec<Claim>,
    /// To the byte.
    pub citations: Vec<Citation>,
    /// The row of evidence behind each citation.
    pub rows: Vec<usize>,
    /// Citations that name no evidence.
    pub invalid: usize,
}

impl Verified {
    /// Whether every claim is supported.
    pub fn is_supported(&self) -> bool {
        !self.claims.is_empty() && self.claims.iter().all(|claim| claim.support != Support::None)
    }
}

/// A sentence of an answer, held against the evidence.
struct Judged {
    /// Rows that the model named.
    cited: Vec<usize>,
    /// Bytes of rows that support it.
    grounds: Vec<(usize, Range<usize>)>,
    invalid: usize,
    support: Support,
    missing: Vec<String>,
}

/// Judges the sentences of an answer, one after the other.
struct Judge<'a> {
    question: &'a str,
    table: &'a EvidenceTable,
    /// Rows that were read.
    passages: BTreeMap<usize, Passage>,
    /// What was claimed before.
    before: String,
    /// Steps for all claims of the answer.
    effort: Effort,
    /// Claims that may still be judged.
    left: usize,
}

impl<'a> Judge<'a> {
    fn new(question: &'a str, table: &'a EvidenceTable) -> Self {
        Judge {
            question,
            table,
            passages: BTreeMap::new(),
            before: String::new(),
            effort: Effort::new(MAX_STEPS),
            left: MAX_CLAIMS,
        }
    }

    fn judge(&mut self, text: &str, named: &[usize], checked: bool) -> Judged {
        let invalid = named.iter().filter(|&&number| self.table.get(number).is_none()).count();
        let mut cited: Vec<usize> = Vec::new();
        for &number in named.iter().filter(|&&number| self.table.get(number).is_some()) {
            if !cited.contains(&number) {
                cited.push(number);
            }
        }
        let all = self.all_rows();
        let rows = if cited.is_empty() { &all } else { &cited };
        let found = if self.left == 0 { None } else { self.grounds(text, rows) };
        self.left = self.left.saturating_sub(1);
        let bare = reason::has_nothing_to_look_for(text);
        let (support, missing) = match &found {
            Some(_) => (Support::Store, Vec::new()),
            None if bare && checked && !cited.is_empty() => (Support::Model, Vec::new()),
            None => (Support::None, reason::missing(text, &self.read(rows))),
        };
        text.clone_into(&mut self.before);
        Judged { cited, grounds: found.unwrap_or_default(), invalid, support, missing }
    }

    fn all_rows(&self) -> Vec<usize> {
        self.table.rows().iter().map(|row| row.number).collect()
    }

    fn read(&mut self, rows: &[usize]) -> Vec<Passage> {
        for row in rows.iter().filter_map(|&number| self.table.get(number)) {
            let chunk = &row.chunk;
            self.passages.entry(row.number).or_insert_with(|| {
                let opens = chunk.previous.is_none();
                Passage::read(row.number, chunk.document.title.as_deref(), &chunk.headings, &chunk.text, opens)
            });
        }
        rows.iter().filter_map(|number| self.passages.get(number).cloned()).collect()
    }

    /// The rows and bytes that support `text`.
    fn grounds(&mut self, text: &str, rows: &[usize]) -> Option<Vec<(usize, Range<usize>)>> {
        let passages = self.read(rows);
        let texts: Vec<&str> = passages
            .iter()
            .map(|passage| self.table.get(passage.row).map_or("", |row| row.chunk.text.as_str()))
            .collect();
        let evidence =
            HeldAgainst { question: self.question, before: &self.before, passages: &passages, texts: &texts };
        let grounds = evidence.grounds(text, &self.effort)?;
        Some(grounds.into_iter().map(|ground| (passages[ground.passage].row, ground.range)).collect())
    }
}

/// Whether somebody should look at `text` again: the cited rows do not support a sentence of it, or it is a short
/// answer that stands nowhere in them. A short answer that stands there may rest on several sentences, which rules
/// cannot always join: it is not called supported, and not doubted either.
pub fn leaves_doubt(question: &str, text: &str, cited: &[usize], table: &EvidenceTable) -> bool {
    let cuts = cut(text);
    let mut judge = Judge::new(question, table);
    let doubtful = |cut: &claim::Cut| {
        let named = if cut.numbers.is_empty() { cited } else { &cut.numbers };
        let judged = judge.judge(&cut.text, named, false);
        let rows = if judged.cited.is_empty() { judge.all_rows() } else { judged.cited };
        judged.support != Support::Store && !reason::stands_there(&cut.text, &judge.read(&rows))
    };
    cuts.is_empty() || cuts.iter().any(doubtful)
}

/// Checks `text` against `table`. `cited` are the rows that the model named for the whole answer, `checked` whether
/// its own check found the answer grounded.
pub fn verify(
    snapshot: &Snapshot,
    question: &str,
    text: &str,
    cited: &[usize],
    checked: bool,
    table: &EvidenceTable,
) -> Result<Verified> {
    let mut verified = Verified::default();
    let mut fetcher = TextFetcher::new(snapshot);
    let mut judge = Judge::new(question, table);
    for cut in cut(text) {
        let named = if cut.numbers.is_empty() { cited } else { &cut.numbers };
        let judged = judge.judge(&cut.text, named, checked);
        verified.invalid += judged.invalid;
        let mut citations = Vec::new();
        let shown = if judged.grounds.is_empty() {
            let rows = judged.cited.iter().filter_map(|&number| table.get(number));
            rows.map(|row| (row.number, reason::nearest(&cut.text, question, &row.chunk.text))).collect()
        } else {
            judged.grounds
        };
        for (row, range) in shown.iter().filter_map(|(number, range)| Some((table.get(*number)?, range))) {
            for sentence in sentences_of(snapshot, row, range)? {
                let number = verified.cite(&mut fetcher, sentence, row)?;
                if !citations.contains(&number) {
                    citations.push(number);
                }
            }
        }
        let marks: String = citations.iter().map(|number| format!("[{number}]")).collect();
        for (whole, piece) in
            [(&mut verified.text, format!("{} {marks}", cut.text)), (&mut verified.plain, cut.text.clone())]
        {
            if !whole.is_empty() {
                whole.push(' ');
            }
            whole.push_str(piece.trim_end());
        }
        let Judged { support, missing, .. } = judged;
        verified.claims.push(Claim { text: cut.text, citations, support, missing });
    }
    Ok(verified)
}

impl Verified {
    /// The number of a sentence's citation.
    fn cite(&mut self, fetcher: &mut TextFetcher<'_>, sentence: SentenceId, row: &EvidenceRow) -> Result<usize> {
        let mut citation = fetcher.cite(self.citations.len() + 1, sentence, row.chunk.chunk)?;
        // The row has the names that may be shown.
        citation.id.clone_from(&row.chunk.document.id);
        citation.source.clone_from(&row.chunk.document.source);
        let same = |known: &&Citation| known.document == citation.document && known.start == citation.start;
        if let Some(known) = self.citations.iter().find(same) {
            return Ok(known.number);
        }
        self.citations.push(citation);
        self.rows.push(row.number);
        Ok(self.citations.len())
    }
}

/// The sentences of the file that some bytes of a row's text are in.
fn sentences_of(snapshot: &Snapshot, row: &EvidenceRow, range: &Range<usize>) -> Result<Vec<SentenceId>> {
    let provenance = snapshot.provenance()?;
    let (from, to) = (row.chunk.start as usize + range.start, row.chunk.start as usize + range.end);
    let mut found = Vec::new();
    for sentence in
        snapshot.sentences_of_chunk(row.chunk.chunk)?.map(SentenceId).filter(|sentence| row.shows(*sentence))
    {
        let place = provenance.sentence(sentence)?;
        let (start, end) = (place.start as usize, place.start as usize + usize::from(place.byte_length));
        if start < to && from < end && found.len() < MAX_SENTENCES {
            found.push(sentence);
        }
    }
    Ok(found)
}
