//! Give me a model's answer and the table of evidence, I say claim by claim what the cited bytes support, without a
//! model.
//!
//! Numbers in brackets name rows of the table; a number that names none is taken out and counted (checklist B19), and
//! no text is ever searched for citations. A claim is supported if its numbers and names stand in the cited chunks
//! (names of the question are given) and enough of its other words do.

use crate::answer::evidence_table::{EvidenceRow, EvidenceTable};
use crate::answer::{Claim, Support};
use crate::base::error::Result;
use crate::base::ids::SentenceId;
use crate::base::text::{fold, for_each_token, is_stop_word, sentences, stem};
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::context::{Citation, TextFetcher};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Share of a claim's words that the cited chunks must have.
const MIN_SHARE: f32 = 0.6;
/// Rows that are cited for a claim without citations, if they support it.
const MAX_FOUND: usize = 2;
/// Sentences of one chunk that are cited for one claim.
const MAX_SENTENCES: usize = 2;

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

/// Words of a text as claims and evidence are compared by.
#[derive(Debug, Default)]
struct ComparedWords {
    /// Stems of all but function words.
    content: BTreeSet<String>,
    /// Folded names: words with a capital.
    names: BTreeSet<String>,
    /// Numbers without their separators of thousands.
    numbers: BTreeSet<String>,
    /// All folded words.
    all: BTreeSet<String>,
    /// Of a long text only words that begin like these are kept: nothing else is asked for.
    wanted: Option<FxHashSet<[u8; 2]>>,
}

fn beginning(word: &str) -> [u8; 2] {
    let mut bytes = word.bytes();
    [bytes.next().unwrap_or(0), bytes.next().unwrap_or(0)]
}

impl ComparedWords {
    fn add(&mut self, text: &str) {
        let mut first = true;
        for_each_token(text, |span, folded| {
            if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&beginning(folded))) {
                first = false;
                return;
            }
            let word = &text[span.start..span.end];
            let has_digit = word.chars().any(|c| c.is_ascii_digit());
            if !is_stop_word(folded) && !has_digit {
                self.content.insert(stem(folded).into_owned());
                // The first word of a sentence has a capital whatever it is.
                if word.chars().next().is_some_and(char::is_uppercase) && !first {
                    self.names.insert(folded.to_owned());
                }
            }
            self.all.insert(folded.to_owned());
            first = false;
        });
        self.numbers.extend(numbers(text));
    }

    /// Evidence, as far as a claim asks for it.
    fn for_claim(claim: &ComparedWords) -> Self {
        let wanted = claim.all.iter().chain(&claim.content).map(|word| beginning(word)).collect();
        ComparedWords { wanted: Some(wanted), ..Default::default() }
    }

    fn add_row(&mut self, row: &EvidenceRow) {
        self.add(&row.chunk.text);
        row.chunk.document.title.iter().chain(&row.chunk.headings).for_each(|text| self.add(text));
    }

    fn of(text: &str) -> Self {
        let mut words = ComparedWords::default();
        words.add(text);
        // Alone, a capital says that it is a name.
        if words.all.len() <= 2 && text.chars().next().is_some_and(char::is_uppercase) {
            words.names.extend(words.all.iter().filter(|word| !is_stop_word(word)).cloned());
        }
        words
    }
}

/// Digits as they are read: "1,250.5" is 1250.5, "1990s" is 1990.
fn numbers(text: &str) -> Vec<String> {
    let (mut found, mut current) = (Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let digit_follows = rest.peek().is_some_and(char::is_ascii_digit);
        match character {
            digit if digit.is_ascii_digit() => current.push(digit),
            ',' | '\u{202f}' | '\u{a0}' if digit_follows && !current.is_empty() => {}
            '.' if digit_follows && !current.is_empty() => current.push('.'),
            _ if current.is_empty() => {}
            _ => found.push(std::mem::take(&mut current)),
        }
    }
    if !current.is_empty() {
        found.push(current);
    }
    found
}

/// What a claim needs that `evidence` lacks, and the share of its words that it has.
fn missing(claim: &ComparedWords, given: &ComparedWords, evidence: &ComparedWords) -> (Vec<String>, f32) {
    let known = |name: &&String| {
        !evidence.all.contains(*name) && !given.all.contains(*name) && !evidence.content.contains(stem(name).as_ref())
    };
    let mut missing: Vec<String> = claim.names.iter().filter(known).cloned().collect();
    let numbers = claim.numbers.iter().filter(|n| !evidence.numbers.contains(*n) && !given.numbers.contains(*n));
    missing.extend(numbers.cloned());
    let covered = claim.content.iter().filter(|word| evidence.content.contains(*word)).count();
    let share = if claim.content.is_empty() { 1.0 } else { covered as f32 / claim.content.len() as f32 };
    (missing, share)
}

/// A sentence with the numbers behind it.
struct Cut {
    text: String,
    numbers: Vec<usize>,
}

/// Cuts an answer into sentences and takes their `[n]`, `[1, 2]`, `[Source 3]` out.
fn cut(text: &str) -> Vec<Cut> {
    let (mut plain, mut marks) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let inner = rest[open + 1..].split_once(']').map(|(inner, _)| inner);
        match inner.and_then(mark) {
            Some(numbers) => {
                plain.push_str(&rest[..open]);
                let length = plain.trim_end().len();
                plain.truncate(length);
                marks.push((plain.len(), numbers));
                rest = &rest[open + 2 + inner.map_or(0, str::len)..];
            }
            None => {
                plain.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    plain.push_str(rest);
    let ranges = sentences(&plain);
    let mut cuts: Vec<Cut> =
        ranges.iter().map(|range| Cut { text: plain[range.clone()].to_owned(), numbers: Vec::new() }).collect();
    for (place, numbers) in marks {
        // A mark belongs to the sentence that it stands in or right behind.
        let index = ranges.iter().rposition(|range| range.start < place).unwrap_or(0);
        if let Some(cut) = cuts.get_mut(index) {
            cut.numbers.extend(numbers);
        }
    }
    cuts
}

/// The numbers of a mark; `None` if the brackets hold anything else.
fn mark(inner: &str) -> Option<Vec<usize>> {
    let parts = inner.split([',', ';']).map(|part| {
        let part = part.trim();
        let part = part.strip_prefix("Source").or(part.strip_prefix("source")).unwrap_or(part).trim();
        part.trim_start_matches('#').parse().ok()
    });
    parts.collect::<Option<Vec<usize>>>().filter(|numbers| !numbers.is_empty())
}

/// A sentence of an answer, held against the evidence.
struct Judged {
    claim: ComparedWords,
    /// Rows that it rests on.
    numbers: Vec<usize>,
    invalid: usize,
    support: Support,
    missing: Vec<String>,
}

fn judge(cut: &Cut, cited: &[usize], checked: bool, given: &ComparedWords, table: &EvidenceTable) -> Judged {
    let claim = ComparedWords::of(&cut.text);
    let named = if cut.numbers.is_empty() { cited } else { &cut.numbers };
    let invalid = named.iter().filter(|&&number| table.get(number).is_none()).count();
    let mut numbers: Vec<usize> = Vec::new();
    for &number in named.iter().filter(|&&number| table.get(number).is_some()) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let bare = claim.names.is_empty() && claim.numbers.is_empty();
    if numbers.is_empty() && !bare {
        numbers = find_rows(&claim, given, table);
    }
    let mut together = ComparedWords::for_claim(&claim);
    numbers.iter().filter_map(|&number| table.get(number)).for_each(|row| together.add_row(row));
    let (missing, share) = missing(&claim, given, &together);
    let support = match numbers.is_empty() {
        true => Support::None,
        false if missing.is_empty() && share >= MIN_SHARE => Support::Store,
        false if bare && checked => Support::Model,
        false => Support::None,
    };
    Judged { claim, numbers, invalid, support, missing }
}

/// Whether the cited rows support every sentence of `text`.
pub fn supports(question: &str, text: &str, cited: &[usize], table: &EvidenceTable) -> bool {
    let (given, cuts) = (ComparedWords::of(question), cut(text));
    !cuts.is_empty() && cuts.iter().all(|cut| judge(cut, cited, false, &given, table).support == Support::Store)
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
    let given = ComparedWords::of(question);
    let mut verified = Verified::default();
    let mut fetcher = TextFetcher::new(snapshot);
    for cut in cut(text) {
        let Judged { claim, numbers, invalid, support, missing } = judge(&cut, cited, checked, &given, table);
        verified.invalid += invalid;
        let mut citations = Vec::new();
        for row in numbers.iter().filter_map(|&number| table.get(number)) {
            for sentence in best_sentences(snapshot, &mut fetcher, row, &claim, &given)? {
                citations.push(verified.cite(&mut fetcher, sentence, row)?);
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

/// Rows that support a claim for which the model cited none; the best ones.
fn find_rows(claim: &ComparedWords, given: &ComparedWords, table: &EvidenceTable) -> Vec<usize> {
    let fits = |row: &EvidenceRow| {
        let mut words = ComparedWords::for_claim(claim);
        words.add_row(row);
        let (missing, share) = missing(claim, given, &words);
        (missing.is_empty() && share >= MIN_SHARE).then_some((share, row.number))
    };
    let mut fitting: Vec<(f32, usize)> = table.rows().iter().filter_map(fits).collect();
    fitting.sort_by(|a, b| b.0.total_cmp(&a.0));
    fitting.into_iter().take(MAX_FOUND).map(|found| found.1).collect()
}

/// The sentences of a row that say most of a claim: each next one must have a word of it that the ones before lack.
fn best_sentences(
    snapshot: &Snapshot,
    fetcher: &mut TextFetcher<'_>,
    row: &EvidenceRow,
    claim: &ComparedWords,
    given: &ComparedWords,
) -> Result<Vec<SentenceId>> {
    const NAME_OR_NUMBER: usize = 4;
    const WORD: usize = 2;
    let chunk = snapshot.provenance()?.chunk(row.chunk.chunk)?;
    let wanted: FxHashSet<[u8; 2]> =
        claim.all.iter().chain(&claim.content).chain(&given.content).map(|word| beginning(word)).collect();
    let wanted = Some(wanted);
    let mut candidates: Vec<(SentenceId, BTreeSet<String>, usize)> = Vec::new();
    for sentence in chunk.sentences().map(SentenceId).filter(|sentence| row.shows(*sentence)) {
        let text = fetcher.sentence(sentence)?.2;
        let mut words = ComparedWords { wanted: wanted.clone(), ..Default::default() };
        words.add(&text);
        let mut has: BTreeSet<String> = claim.content.intersection(&words.content).cloned().collect();
        has.extend(claim.numbers.intersection(&words.numbers).cloned());
        // Words of the question break ties: they tell which of two mentions is meant.
        let asked = given.content.intersection(&words.content).count();
        candidates.push((sentence, has, asked));
    }
    let names: BTreeSet<String> = claim.names.iter().map(|name| stem(&fold(name)).into_owned()).collect();
    let weight = |word: &String| {
        if names.contains(word) || claim.numbers.contains(word) { NAME_OR_NUMBER } else { WORD }
    };
    let (mut chosen, mut said): (Vec<SentenceId>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
    while chosen.len() < MAX_SENTENCES {
        let best = candidates
            .iter()
            .filter(|candidate| !chosen.contains(&candidate.0))
            .map(|candidate| {
                let gain: usize = candidate.1.difference(&said).map(weight).sum();
                (gain, candidate)
            })
            .max_by_key(|(gain, candidate)| (*gain, candidate.2, std::cmp::Reverse(candidate.0)));
        match best {
            Some((gain, candidate)) if chosen.is_empty() || gain >= NAME_OR_NUMBER => {
                said.extend(candidate.1.iter().cloned());
                chosen.push(candidate.0);
            }
            _ => break,
        }
    }
    chosen.sort_unstable();
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out_and_belong_to_their_sentence() {
        let cuts = cut("Ada built it [1]. It is [tall] 30 m high.[2, 3] Nobody knows [Source 4][x].");
        let found: Vec<(&str, &[usize])> = cuts.iter().map(|cut| (cut.text.as_str(), cut.numbers.as_slice())).collect();
        assert_eq!(
            found,
            [("Ada built it.", &[1][..]), ("It is [tall] 30 m high.", &[2, 3]), ("Nobody knows[x].", &[4]),]
        );
        assert!(cut("").is_empty());
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert_eq!(numbers("1,250.5 m in the 1990s, 3. and 7"), ["1250.5", "1990", "3", "7"]);
        assert!(numbers("none").is_empty());
    }

    #[test]
    fn a_claim_needs_its_names_and_numbers() {
        let evidence = ComparedWords::of("The Velm Dam was designed by Ada Renn in 1931 and is 48 m high.");
        let given = ComparedWords::of("Who designed the Velm Dam?");
        let check = |claim: &str| missing(&ComparedWords::of(claim), &given, &evidence);
        assert_eq!(check("It was designed by Ada Renn in 1931.").0, Vec::<String>::new());
        assert_eq!(check("It was designed by Bo Renn in 1932.").0, ["bo", "1932"]);
        assert_eq!(check("Renn").0, Vec::<String>::new());
        assert_eq!(check("Oslo").0, ["oslo"]);
        assert!(check("It was painted blue by children.").1 < MIN_SHARE);
    }
}
