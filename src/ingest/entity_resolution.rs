//! Give me the names of all batches, I give you the entities: who is one and the same, and under which names.
//!
//! An entity is a normalised name. Titles and headings are entities always; a capitalised span is one if two
//! sentences name it. Aliases are names without a parenthesised disambiguator, an organisation's legal form or a
//! leading article, defined acronyms, and the other names that a document's first sentence gives. An alias never
//! takes a name that is some entity's own.

use crate::base::text::{IdByText, Vacant, is_stop_word, name_key};
use crate::corpus::builder::{NewEntity, origin};
use crate::ingest::analysis::{NameCandidate, Names};
use crate::ingest::extractor::NameTrie;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Candidates held while reading; beyond it those seen once are forgotten, so memory stays bounded.
const MAX_CANDIDATES: usize = 1 << 20;
/// Confidence of an entity that a document names as one, of 255.
const GIVEN_CONFIDENCE: u8 = 217;
/// Confidence of an entity that stands out by its frequency, of 255.
const STATISTICAL_CONFIDENCE: u8 = 128;
/// Longest heading that is taken for a name.
const MAX_HEADING_WORDS: usize = 8;
const KIND_ORGANISATION: u8 = 2;
const ORGANISATION_SUFFIXES: &[&str] = &[
    "ag",
    "co",
    "company",
    "corp",
    "corporation",
    "foundation",
    "gmbh",
    "inc",
    "incorporated",
    "limited",
    "llc",
    "ltd",
    "plc",
    "sa",
];

/// Collects names batch by batch.
#[derive(Debug, Default)]
pub struct Gazetteer {
    names: Names,
    /// Normalised.
    standing_out: BTreeSet<String>,
    limit: usize,
}

/// The entities, and how to find them in texts.
#[derive(Debug)]
pub struct Resolved {
    /// By id.
    pub entities: Vec<NewEntity>,
    /// All their names.
    pub trie: NameTrie,
    /// Entity of each document's title.
    pub titles: Vec<Option<u32>>,
}

impl Gazetteer {
    /// Adds the next batch.
    pub fn append(&mut self, names: Names) {
        for (key, candidate) in names.candidates {
            self.names.add(key, candidate);
        }
        self.names.acronyms.extend(names.acronyms);
        self.names.documents.extend(names.documents);
        if self.names.candidates.len() > self.limit.max(MAX_CANDIDATES) {
            self.names.retain(|candidate| candidate.count > 1);
            // Where most names are seen again, forgetting at every batch would cost more than it frees.
            self.limit = self.names.candidates.len() * 2;
        }
    }

    /// Adds names that stand out in the text.
    pub fn standing_out(&mut self, names: impl IntoIterator<Item = String>) {
        self.standing_out.extend(names);
    }

    /// Decides who is an entity.
    pub fn resolve(mut self) -> Resolved {
        let mut resolver = Resolver::default();
        let mut titles: Vec<Option<u32>> = Vec::with_capacity(self.names.documents.len());
        for document in &mut self.names.documents {
            // The title lives on as the entity's name.
            let title = document.title.take();
            let entity = title.as_deref().and_then(|title| resolver.entity(title, origin::TITLE, 255));
            document.common_noun |= title.as_deref().is_some_and(is_sentence_case);
            titles.push(entity);
        }
        for heading in self.names.documents.iter().flat_map(|document| &document.headings) {
            if name_key(heading).split(' ').count() <= MAX_HEADING_WORDS {
                resolver.entity(heading, origin::HEADING, 200);
            }
        }
        // Names that the titles' bearers have anyway must not become entities of their own.
        for id in 0..resolver.entities.len() as u32 {
            resolver.derive_aliases(id);
        }
        for (document, title) in self.names.documents.iter().zip(&titles) {
            if let Some(title) = *title {
                document.other_names.iter().for_each(|name| resolver.alias(title, name));
                if document.common_noun {
                    resolver.any_case.push(title);
                }
            }
        }
        for name in self.names.documents.iter().flat_map(|document| &document.given) {
            // A triple's "Mercury" is one of those that are called so, not another one.
            if !resolver.aliases.contains_key(&name_key(name)) {
                let known = resolver.known(&name_key(name)).is_ok();
                if let Some(id) = resolver.entity(name, origin::IMPORTED, GIVEN_CONFIDENCE).filter(|_| !known) {
                    resolver.derive_aliases(id);
                }
            }
        }
        for (key, candidate) in &self.names.candidates {
            if is_entity(candidate) && !resolver.aliases.contains_key(key.as_str()) {
                let known = resolver.known(key).is_ok();
                if let Some(id) =
                    resolver.entity(&candidate.surface, origin::SPAN, candidate.confidence).filter(|_| !known)
                {
                    resolver.derive_aliases(id);
                }
            }
        }
        for name in &self.standing_out {
            if !resolver.aliases.contains_key(name) {
                resolver.entity(name, origin::STATISTICAL, STATISTICAL_CONFIDENCE);
            }
        }
        self.names.documents = Vec::new();
        for (full_name, acronym) in &self.names.acronyms {
            if let Ok(id) = resolver.known(full_name) {
                resolver.entities[id as usize].origins |= origin::ACRONYM;
                resolver.alias(id, acronym);
            }
        }
        resolver.finish(titles)
    }
}

/// A span that opens sentences only may be any word with a capital.
fn is_entity(candidate: &NameCandidate) -> bool {
    candidate.count >= 2 && candidate.inner >= 1
}

/// "Solar eclipse": the words after the first are in lower case, so the first one's capital says nothing.
fn is_sentence_case(title: &str) -> bool {
    let words: Vec<&str> = title.split_whitespace().collect();
    let lower = |word: &&str| word.chars().next().is_some_and(char::is_lowercase) && !is_stop_word(word);
    title.chars().next().is_some_and(char::is_lowercase)
        || (words.len() > 1
            && words[1..].iter().any(lower)
            && !words[1..].iter().any(|word| word.chars().next().is_some_and(char::is_uppercase)))
}

#[derive(Default)]
struct Resolver {
    entities: Vec<NewEntity>,
    by_key: IdByText,
    /// Alias key to its bearers.
    aliases: FxHashMap<String, Vec<u32>>,
    any_case: Vec<u32>,
}

impl Resolver {
    /// The entity with this name, made if there is none.
    fn entity(&mut self, name: &str, origins: u16, confidence: u8) -> Option<u32> {
        let key = name_key(name);
        if key.is_empty() {
            return None;
        }
        match self.known(&key) {
            Ok(id) => {
                let entity = &mut self.entities[id as usize];
                entity.origins |= origins;
                entity.confidence = entity.confidence.max(confidence);
                Some(id)
            }
            Err(vacant) => {
                let id = self.entities.len() as u32;
                self.entities.push(NewEntity {
                    name: name.trim().to_owned(),
                    confidence,
                    origins,
                    ..Default::default()
                });
                self.by_key.insert(vacant, id);
                Some(id)
            }
        }
    }

    /// The entity whose canonical name has this key.
    fn known(&self, key: &str) -> Result<u32, Vacant> {
        self.by_key.find(key, |id| name_key(&self.entities[id as usize].name) == key)
    }

    fn alias(&mut self, id: u32, name: &str) {
        let key = name_key(name);
        let shouted = name.chars().all(|c| !c.is_lowercase());
        let entity = &self.entities[id as usize];
        if key.is_empty()
            || (is_stop_word(&key) && !shouted)
            || entity.alias_keys.contains(&key)
            || name_key(&entity.name) == key
        {
            return;
        }
        let entity = &mut self.entities[id as usize];
        entity.alias_keys.push(key.clone());
        if !entity.aliases.iter().any(|alias| alias == name.trim()) {
            entity.aliases.push(name.trim().to_owned());
        }
        self.aliases.entry(key).or_default().push(id);
    }

    /// Aliases that the name itself gives.
    fn derive_aliases(&mut self, id: u32) {
        let name = self.entities[id as usize].name.clone();
        let mut base = name.as_str();
        if let Some((before, _)) = name.split_once(" (").filter(|_| name.ends_with(')')) {
            self.alias(id, before);
            base = before;
        }
        if let Some(rest) = base.strip_prefix("The ").or_else(|| base.strip_prefix("the ")) {
            self.alias(id, rest);
        }
        let mut words: Vec<&str> = base.split_whitespace().collect();
        if let Some(last) = words.pop().filter(|_| !words.is_empty())
            && ORGANISATION_SUFFIXES.binary_search(&name_key(last).as_str()).is_ok()
        {
            self.entities[id as usize].kind = KIND_ORGANISATION;
            self.alias(id, words.join(" ").trim_end_matches(','));
        }
    }

    fn finish(mut self, titles: Vec<Option<u32>>) -> Resolved {
        let mut trie = NameTrie::new(self.entities.len());
        for id in 0..self.entities.len() {
            let mut alias_keys = std::mem::take(&mut self.entities[id].alias_keys);
            alias_keys.retain(|key| self.known(key).is_err());
            let entity = &mut self.entities[id];
            entity.alias_keys = alias_keys;
            trie.insert(&name_key(&entity.name), id as u32);
            entity.alias_keys.iter().for_each(|key| trie.insert(key, id as u32));
            if entity.name.chars().next().is_some_and(char::is_lowercase) {
                trie.allow_any_case(id as u32);
            }
        }
        self.any_case.iter().for_each(|&id| trie.allow_any_case(id));
        Resolved { entities: self.entities, trie, titles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::builder::Layer;
    use crate::ingest::analysis::analyse;
    use crate::ingest::document::Document;

    fn resolve(documents: &[(Option<&str>, &str)]) -> Resolved {
        let layer = Layer { name: "x".into(), target_tokens: 256, overlap_tokens: 0 };
        let documents =
            documents.iter().map(|(title, text)| Document::plain("d", title.map(str::to_owned), *text)).collect();
        let mut gazetteer = Gazetteer::default();
        gazetteer.append(analyse(documents, &[layer], &|| false).unwrap().1);
        gazetteer.resolve()
    }

    fn names(resolved: &Resolved, key: &str) -> Vec<String> {
        resolved.trie.get(key).iter().map(|&id| resolved.entities[id as usize].name.clone()).collect()
    }

    #[test]
    fn aliases_lead_to_their_bearers() {
        let resolved = resolve(&[
            (Some("Mercury (planet)"), "Mercury is near the Sun."),
            (Some("Mercury (element)"), "Mercury is a metal."),
            (
                Some("Acme Tools, Inc."),
                "Acme Tools sells to the World Health Organization (WHO). The World Health Organization pays.",
            ),
            (Some("Charlie Goode"), "Charles James Goode (born 1995), also known as Bolt, is a footballer."),
            (Some("The Dam"), "The dam holds. Later The Dam fell."),
        ]);
        assert_eq!(names(&resolved, "mercury"), ["Mercury (planet)", "Mercury (element)"]);
        assert_eq!(names(&resolved, "acme tools"), ["Acme Tools, Inc."]);
        assert_eq!(names(&resolved, "who"), ["World Health Organization"]);
        assert_eq!(names(&resolved, "charles james goode"), ["Charlie Goode"]);
        assert_eq!(names(&resolved, "bolt"), ["Charlie Goode"]);
        assert_eq!(names(&resolved, "dam"), ["The Dam"]);
        assert_eq!(names(&resolved, "sun"), Vec::<String>::new());
    }

    #[test]
    fn an_alias_never_takes_a_name() {
        let resolved = resolve(&[(Some("Paris (Texas)"), "One."), (Some("Paris"), "Two.")]);
        assert_eq!(names(&resolved, "paris"), ["Paris"]);
    }

    #[test]
    fn a_word_that_only_opens_sentences_is_no_name() {
        let resolved = resolve(&[(None, "Rivers flow. Rivers rise. We saw Lake Orta. Then Lake Orta froze.")]);
        assert_eq!(names(&resolved, "rivers"), Vec::<String>::new());
        assert_eq!(names(&resolved, "lake orta"), ["Lake Orta"]);
    }
}
