//! Give me a file and questions, I find the documents that are gold in it.

use super::dataset::{GoldPassage, GoldQuestion};
use crate::base::error::{Error, Result, Sought};
use crate::base::ids::DocumentId;
use crate::corpus::snapshot::Snapshot;
use crate::facade::KnowledgeBase;
use crate::retrieval::context::TextFetcher;
use rustc_hash::FxHashMap;

/// A question whose gold documents were found in a file.
#[derive(Clone, Debug)]
pub struct JudgedQuestion {
    /// Its own id.
    pub id: String,
    /// As it is asked.
    pub question: String,
    /// Documents of the file.
    pub gold: Vec<DocumentId>,
    /// Kind of question, if it is given.
    pub kind: Option<String>,
}

/// Letters and digits of a text's beginning that tell passages of one title apart.
const TOLD_APART_BY: usize = 80;

/// Finds the gold documents; questions without any are left out. This reads all ids and titles of the file.
pub fn judge(kb: &KnowledgeBase, questions: Vec<GoldQuestion>) -> Result<Vec<JudgedQuestion>> {
    let snapshot = kb.query_snapshot();
    let names = GoldFinder::new(&snapshot)?;
    let mut judged = Vec::new();
    for question in questions.into_iter().filter(|question| !question.gold.is_empty()) {
        let mut gold = Vec::new();
        for passage in &question.gold {
            let found = names.find(passage)?.ok_or_else(|| Error::NotFound {
                sought: Sought::Document,
                what: format!("{passage:?}, gold of question {}", question.id),
                mend: "build the file from the corpus that the questions belong to".into(),
            })?;
            if !gold.contains(&found) {
                gold.push(found);
            }
        }
        judged.push(JudgedQuestion { id: question.id, question: question.question, gold, kind: question.kind });
    }
    if judged.is_empty() {
        return Err(Error::invalid(
            "the questions",
            "none of them says which passages answer it",
            "give `gold`, `supporting_facts` or `paragraphs`",
        ));
    }
    Ok(judged)
}

/// Documents by their own ids, and by their titles; a duplicate's id leads to the document that was stored.
#[derive(Debug)]
pub struct GoldFinder<'a> {
    snapshot: &'a Snapshot,
    by_id: FxHashMap<&'a str, DocumentId>,
    by_title: FxHashMap<&'a str, Vec<DocumentId>>,
}

impl<'a> GoldFinder<'a> {
    /// Looks at all ids and titles of the file, once.
    pub fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
        let mut names = GoldFinder { snapshot, by_id: FxHashMap::default(), by_title: FxHashMap::default() };
        for duplicate in provenance.duplicates()? {
            names.by_id.insert(strings.get(duplicate.external_id)?, duplicate.document);
        }
        for id in (0..provenance.document_count()).map(DocumentId) {
            let row = provenance.document(id)?;
            names.by_id.insert(strings.get(row.external_id)?, id);
            if let Some(title) = snapshot.string(row.title)? {
                names.by_title.entry(title).or_default().push(id);
            }
        }
        Ok(names)
    }

    /// The documents of `gold`, as far as the file has them; `None` if it has none.
    pub fn documents(&self, gold: &[GoldPassage]) -> Result<Option<Vec<DocumentId>>> {
        let mut found = Vec::new();
        for passage in gold {
            if let Some(document) = self.find(passage)?
                && !found.contains(&document)
            {
                found.push(document);
            }
        }
        Ok((!found.is_empty()).then_some(found))
    }

    fn find(&self, passage: &GoldPassage) -> Result<Option<DocumentId>> {
        let (title, text) = match passage {
            GoldPassage::Id(id) => return Ok(self.by_id.get(id.as_str()).copied()),
            GoldPassage::Title(title, text) => (title, text),
        };
        let candidates = self.by_title.get(title.as_str()).map_or(&[][..], Vec::as_slice);
        let (Some(text), true) = (text, candidates.len() > 1) else { return Ok(candidates.first().copied()) };
        let wanted = beginning(text);
        // Each question may cost what a query may.
        self.snapshot.renew_work();
        for &document in candidates {
            let row = self.snapshot.provenance()?.document(document)?;
            let own = TextFetcher::new(self.snapshot).document_range(&row, 0..row.text_length)?;
            if beginning(&own) == wanted {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }
}

fn beginning(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).take(TOLD_APART_BY).collect()
}
