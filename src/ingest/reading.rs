//! Give me documents and a language model, I give you what the model takes out of them: entities, triples, a summary
//! each (checklist G5, H1, A1). What was paid for is kept in a journal; what a model says is held against the text.

use super::journal::{Journal, key};
use crate::base::error::{Error, Result};
use crate::base::text::{name_key, sentences};
use crate::ingest::document::Document;
use crate::ingest::extractor::Extraction;
use crate::language::budget::{Budget, Ledger, Prices};
use crate::language::language_model::{CallControl, ChatReply, ChatRequest, LanguageModel, Message, Step, Usage};
use crate::language::quotation::{Mark, Material};
use crate::language::reply;
use crate::language::schema::{object, strings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const EXTRACT: &str = include_str!("prompts/extract.txt");
const SUMMARISE: &str = include_str!("prompts/summarise.txt");
/// Changes when the words or the shape of the requests do: what another version paid for is asked again.
const VERSION: u32 = 2;
/// TextToRead of one extraction, about: a passage as the systems cut them.
const PIECE_BYTES: usize = 2400;
/// TextToRead that a summary is made of: the beginning says what a document is about.
const SUMMARISED_BYTES: usize = 6000;
const EXTRACTION_TOKENS: u32 = 1200;
const SUMMARY_TOKENS: u32 = 120;
/// What a reply usually takes, of its most, for estimates.
const USUAL_TOKENS: (u64, u64) = (250, 50);
/// How often the caller is asked whether to stop.
const POLL: Duration = Duration::from_millis(2);
/// Sentences of a summary without a model.
const FALLBACK_SENTENCES: usize = 2;
/// Bytes of a summary that is believed.
const MAX_SUMMARY_BYTES: usize = 1000;

/// What to ask a model while a file is built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The model; without one summaries are the first sentences.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// Whether to ask for entities and triples.
    pub extract: bool,
    /// Whether to make a summary of each document.
    pub summarise: bool,
    /// Most that may be spent on the whole build.
    pub budget: Budget,
    /// Prices of tokens.
    pub prices: Prices,
    /// Calls under way at once.
    pub parallel_calls: usize,
}

impl Reading {
    /// Everything, within a budget that a build does not exceed unless it is raised.
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        let budget = Budget { calls: usize::MAX, tokens: u64::MAX, time: Duration::MAX, ..Budget::default() };
        Reading {
            model: Some(model),
            extract: true,
            summarise: true,
            budget,
            prices: Prices::default(),
            parallel_calls: 4,
        }
    }

    /// Summaries without a model: the first sentences of each document.
    pub fn extractive_summaries() -> Self {
        Reading {
            model: None,
            extract: false,
            summarise: true,
            budget: Budget::default(),
            prices: Prices::default(),
            parallel_calls: 1,
        }
    }
}

/// What was asked and said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadingReport {
    /// Texts that were read: pieces for triples, documents for summaries.
    pub texts: usize,
    /// Of these, paid for by an earlier build.
    pub reused: usize,
    /// Replies that could not be used; rules stand in for them.
    pub failed: usize,
    /// Texts that the budget left unread; rules stand in for them.
    pub unread: usize,
    /// Triples that were taken.
    pub triples: usize,
    /// Of these, with an end that the text does not have in these words.
    pub doubtful: usize,
    /// Triples that were turned down: empty parts, or no listed entity in them.
    pub refused: usize,
    /// What it cost.
    pub cost: Ledger,
}

/// A build's reading under way.
pub(super) struct ModelReader {
    reading: Reading,
    /// Counts what would be asked, and asks nothing.
    dry: bool,
    journal: Option<Journal>,
    pub(super) report: ReadingReport,
    start: Instant,
}

/// One text to ask about.
struct TextToRead {
    document: usize,
    step: Step,
    text: String,
    key: [u8; 32],
}

/// What became of it.
enum ReadOutcome {
    Said(String),
    Reused(String),
    Failed,
    Unread,
}

impl ModelReader {
    pub(super) fn new(reading: Reading, journal: Option<&Path>, dry: bool) -> Result<Self> {
        let journal = journal.filter(|_| reading.model.is_some() && !dry).map(Journal::open).transpose()?;
        Ok(ModelReader { reading, dry, journal, report: ReadingReport::default(), start: Instant::now() })
    }

    pub(super) fn summarises(&self) -> bool {
        self.reading.summarise
    }

    /// Reads documents: their extraction and summary are filled in.
    pub(super) fn read(&mut self, documents: &mut [&mut Document], cancelled: &dyn Fn() -> bool) -> Result<()> {
        let texts = self.texts(documents);
        let outcomes = match &self.reading.model {
            Some(_) => self.ask_all(&texts, cancelled)?,
            None => texts.iter().map(|_| ReadOutcome::Failed).collect(),
        };
        let fallback = self.reading.model.is_none();
        for (text, outcome) in texts.iter().zip(outcomes) {
            let document = &mut *documents[text.document];
            let said = match outcome {
                ReadOutcome::Said(said) => Some(said),
                ReadOutcome::Reused(said) => {
                    self.report.reused += 1;
                    Some(said)
                }
                ReadOutcome::Failed => {
                    self.report.failed += usize::from(!fallback);
                    None
                }
                ReadOutcome::Unread => {
                    self.report.unread += 1;
                    None
                }
            };
            self.report.texts += 1;
            match text.step {
                Step::Summarise => {
                    let said = said.map(|said| said.trim().to_owned()).filter(|said| !said.is_empty());
                    let summary = said.unwrap_or_else(|| first_sentences(&document.text));
                    put_summary(document, &summary[..summary.floor_char_boundary(MAX_SUMMARY_BYTES)]);
                }
                _ => {
                    if let Some(said) = said
                        && !self.take(&said, &text.text, &mut document.extraction)
                    {
                        self.report.failed += 1;
                    }
                }
            }
        }
        Ok(())
    }

    fn texts(&self, documents: &[&mut Document]) -> Vec<TextToRead> {
        let name = self.reading.model.as_ref().map_or("", |model| model.name());
        let mut texts = Vec::new();
        let mut push = |document: usize, step: Step, text: String| {
            let key = key(format!("{name} {}", step.name()).as_bytes(), VERSION, &text);
            texts.push(TextToRead { document, step, text, key });
        };
        for (place, document) in documents.iter().enumerate() {
            let title = document.fields.title.as_deref().unwrap_or_default();
            if self.reading.summarise && !document.text.trim().is_empty() {
                let start = &document.text[..document.text.floor_char_boundary(SUMMARISED_BYTES)];
                push(place, Step::Summarise, titled(title, start));
            }
            if self.reading.extract {
                pieces(document).into_iter().for_each(|piece| push(place, Step::Extract, titled(title, piece)));
            }
        }
        texts
    }

    fn ask_all(&mut self, texts: &[TextToRead], cancelled: &dyn Fn() -> bool) -> Result<Vec<ReadOutcome>> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| text.key).collect();
        let known = match &self.journal {
            Some(journal) => journal.get(&keys)?,
            None => vec![None; texts.len()],
        };
        let ledger = Mutex::new(std::mem::take(&mut self.report.cost));
        let outcomes: Vec<Mutex<Option<Result<ReadOutcome>>>> = texts.iter().map(|_| Mutex::new(None)).collect();
        // The same text is asked about once.
        let mut firsts: BTreeMap<[u8; 32], usize> = BTreeMap::new();
        let first_of: Vec<usize> =
            keys.iter().enumerate().map(|(place, key)| *firsts.entry(*key).or_insert(place)).collect();
        let (next, running, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let this = &*self;
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(index) else { break };
                if first_of[index] != index {
                    continue;
                }
                let outcome = match &known[index] {
                    Some(said) => Ok(ReadOutcome::Reused(String::from_utf8_lossy(said).into_owned())),
                    None => this.ask(text, &ledger, &|| stop.load(Ordering::Relaxed)),
                };
                *outcomes[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            }
            running.fetch_sub(1, Ordering::Release);
        };
        std::thread::scope(|scope| {
            for _ in 0..this.reading.parallel_calls.clamp(1, texts.len().max(1)) {
                running.fetch_add(1, Ordering::Relaxed);
                scope.spawn(work);
            }
            // The caller is asked from its own thread whether to stop.
            while running.load(Ordering::Acquire) > 0 {
                stop.fetch_or(cancelled(), Ordering::Relaxed);
                std::thread::sleep(POLL);
            }
        });
        self.report.cost = ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
        let taken = outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut found: Vec<ReadOutcome> = Vec::with_capacity(texts.len());
        for (place, outcome) in taken.enumerate() {
            found.push(match outcome {
                Some(outcome) => outcome?,
                None => match found.get(first_of[place]) {
                    Some(ReadOutcome::Said(said) | ReadOutcome::Reused(said)) => ReadOutcome::Reused(said.clone()),
                    Some(ReadOutcome::Unread) => ReadOutcome::Unread,
                    _ => ReadOutcome::Failed,
                },
            });
        }
        Ok(found)
    }

    /// One call; what it says is on the medium before it is used.
    fn ask(&self, text: &TextToRead, ledger: &Mutex<Ledger>, cancelled: &dyn Fn() -> bool) -> Result<ReadOutcome> {
        if cancelled() {
            return Err(Error::Interrupted);
        }
        let request = request(text.step, &text.text);
        let locked = || ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let (budget, prices) = (&self.reading.budget, &self.reading.prices);
        if self.dry {
            let usual = if text.step == Step::Summarise { USUAL_TOKENS.1 } else { USUAL_TOKENS.0 };
            let usage = Usage { prompt_tokens: request.estimated_tokens(), completion_tokens: usual };
            locked().add(text.step, usage, false, prices);
            return Ok(ReadOutcome::Unread);
        }
        // The budget is claimed before the call, so that calls that run at once do not exceed it together.
        let most =
            Usage { prompt_tokens: request.estimated_tokens(), completion_tokens: u64::from(request.max_tokens) };
        {
            let mut ledger = locked();
            if ledger.refuses(budget, prices, &request, self.start.elapsed()).is_some() {
                return Ok(ReadOutcome::Unread);
            }
            ledger.add(text.step, most, false, prices);
        }
        let Some(model) = &self.reading.model else { return Ok(ReadOutcome::Failed) };
        let said = model.reply(&request, &mut CallControl { cancelled, ..Default::default() });
        let (usage, cached) = said.as_ref().map_or((Usage::default(), false), |said| (said.usage, said.cached));
        locked().correct(text.step, most, usage, cached, prices);
        match said {
            Ok(ChatReply { text: said, .. }) => {
                if let Some(journal) = &self.journal {
                    journal.put([(&text.key, said.as_bytes())].into_iter())?;
                }
                Ok(ReadOutcome::Said(said))
            }
            Err(Error::Model { .. } | Error::Invalid { .. }) => Ok(ReadOutcome::Failed),
            Err(error) => Err(error),
        }
    }

    /// Holds triples against the rules and the text (checklist G5); whether there was anything that could be read.
    fn take(&mut self, said: &str, text: &str, extraction: &mut Extraction) -> bool {
        let Some(object) = reply::object(said) else { return false };
        let text_key = format!(" {} ", name_key(text));
        let in_text = |name: &str| text_key.contains(&format!(" {} ", name_key(name)));
        let listed = reply::texts(&object, "entities");
        let is_listed = |part: &String| listed.iter().any(|name| name_key(name) == name_key(part));
        for triple in object.get("triples").and_then(Value::as_array).into_iter().flatten() {
            let parts: Option<Vec<String>> = triple
                .as_array()
                .and_then(|parts| parts.iter().map(|part| Some(part.as_str()?.trim().to_owned())).collect());
            match parts.and_then(|parts| <[String; 3]>::try_from(parts).ok()) {
                Some(parts)
                    if parts.iter().all(|part| !name_key(part).is_empty())
                        && (is_listed(&parts[0]) || is_listed(&parts[2])) =>
                {
                    self.report.triples += 1;
                    if in_text(&parts[0]) && in_text(&parts[2]) {
                        extraction.triples.push(parts);
                    } else {
                        self.report.doubtful += 1;
                        extraction.doubtful.push(parts);
                    }
                }
                _ => self.report.refused += 1,
            }
        }
        // A name that the text does not have is the model's own.
        extraction.entities.extend(listed.into_iter().filter(|name| in_text(name)));
        true
    }

    /// The journal is of no use any more once all was read.
    pub(super) fn finish(self) -> Result<ReadingReport> {
        if self.report.unread == 0
            && let Some(journal) = self.journal
        {
            journal.remove()?;
        }
        Ok(self.report)
    }
}

fn titled(title: &str, text: &str) -> String {
    if title.is_empty() { text.to_owned() } else { format!("{title}\n{text}") }
}

/// Stretches of whole blocks.
fn pieces(document: &Document) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut open: Option<std::ops::Range<usize>> = None;
    for block in &document.blocks {
        let mut rest = block.range.clone();
        open = match open {
            Some(open) if rest.end - open.start <= PIECE_BYTES => Some(open.start..rest.end),
            before => {
                pieces.extend(before);
                while rest.len() > PIECE_BYTES {
                    let cut = document.text.floor_char_boundary(rest.start + PIECE_BYTES);
                    let cut = document.text[rest.start..cut].rfind(' ').map_or(cut, |space| rest.start + space + 1);
                    pieces.push(rest.start..cut);
                    rest.start = cut;
                }
                Some(rest)
            }
        };
    }
    pieces.extend(open);
    pieces.into_iter().map(|range| document.text[range].trim()).filter(|piece| !piece.is_empty()).collect()
}

fn request(step: Step, text: &str) -> ChatRequest {
    let (task, tokens) = match step {
        Step::Summarise => (SUMMARISE, SUMMARY_TOKENS),
        _ => (EXTRACT, EXTRACTION_TOKENS),
    };
    let mut material = Material::default();
    material.quote(Mark::Text, None, &[], text);
    let request = ChatRequest::new(step, vec![Message::system(task), Message::user(material)], tokens);
    match step {
        Step::Summarise => request,
        _ => {
            let triples = json!({ "type": "array", "items": strings() });
            request.json("extraction", object(json!({ "entities": strings(), "triples": triples })))
        }
    }
}

fn first_sentences(text: &str) -> String {
    let start = &text[..text.floor_char_boundary(SUMMARISED_BYTES)];
    let first = sentences(start).into_iter().take(FALLBACK_SENTENCES).map(|range| start[range].replace('\n', " "));
    first.collect::<Vec<_>>().join(" ")
}

/// The summary is a field of the document's metadata.
fn put_summary(document: &mut Document, summary: &str) {
    let metadata =
        document.fields.metadata.as_deref().and_then(|metadata| serde_json::from_str::<Value>(metadata).ok());
    let mut metadata = match metadata {
        Some(Value::Object(metadata)) => metadata,
        _ => serde_json::Map::new(),
    };
    metadata.insert("summary".into(), Value::String(summary.to_owned()));
    document.fields.metadata = Some(Value::Object(metadata).to_string());
}
