//! Give me a sentence, I give you the entities it names: the longest names of the dictionary, from left to right.

use super::rule_based::{SentenceMention, statements};
use super::words::{Case, SentenceWords};
use crate::base::text::Vocabulary;
use crate::corpus::builder::Statement;
use rustc_hash::FxHashMap;

/// Most entities that one ambiguous name may link to; a name of more says nothing.
const MAX_BEARERS: usize = 3;

const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = 1 << 31;

/// All names, word by word.
#[derive(Debug, Default)]
pub struct NameTrie {
    vocabulary: Vocabulary,
    edges: FxHashMap<(u32, u32), u32>,
    /// Bearer of the name that ends at a node: none, an entity, or with the highest bit a list of several.
    bearers: Vec<u32>,
    several: Vec<Vec<u32>>,
    /// Entities whose name counts in lower case too.
    any_case: Vec<bool>,
}

impl NameTrie {
    /// An empty trie for `entity_count` entities.
    pub fn new(entity_count: usize) -> Self {
        NameTrie { bearers: vec![NOBODY], any_case: vec![false; entity_count], ..Default::default() }
    }

    /// Lets the normalised name `key` lead to `entity`.
    pub fn insert(&mut self, key: &str, entity: u32) {
        let mut node = 0;
        for word in key.split(' ') {
            let word = self.vocabulary.intern(word);
            let next = self.bearers.len() as u32;
            node = *self.edges.entry((node, word)).or_insert(next);
            if node == next {
                self.bearers.push(NOBODY);
            }
        }
        let bearer = self.bearers[node as usize];
        if bearer == NOBODY {
            self.bearers[node as usize] = entity;
        } else if bearer & SEVERAL != 0 {
            let list = &mut self.several[(bearer & !SEVERAL) as usize];
            if let Err(place) = list.binary_search(&entity) {
                list.insert(place, entity);
            }
        } else if bearer != entity {
            self.bearers[node as usize] = self.several.len() as u32 | SEVERAL;
            self.several.push(vec![bearer.min(entity), bearer.max(entity)]);
        }
    }

    fn bearers_at(&self, node: u32) -> &[u32] {
        let bearer = &self.bearers[node as usize];
        match *bearer {
            NOBODY => &[],
            list if list & SEVERAL != 0 => &self.several[(list & !SEVERAL) as usize],
            _ => std::slice::from_ref(bearer),
        }
    }

    /// Lets lower-case mentions of `entity` count.
    pub fn allow_any_case(&mut self, entity: u32) {
        self.any_case[entity as usize] = true;
    }

    /// Entities that bear exactly the name `key`.
    pub fn get(&self, key: &str) -> &[u32] {
        let mut node = 0;
        for word in key.split(' ') {
            match self.vocabulary.find(word).and_then(|word| self.edges.get(&(node, word))) {
                Some(&next) => node = next,
                None => return &[],
            }
        }
        self.bearers_at(node)
    }
}

/// What was found in one sentence.
#[derive(Debug, Default)]
pub struct SentenceFindings {
    /// Entities, increasing.
    pub entities: Vec<u32>,
    /// Entities that the sentence opens with: candidates for what an untitled text is about.
    pub opening: Vec<u32>,
    /// Facts, with the relation as a number of the recogniser and the sentence left 0.
    pub statements: Vec<Statement>,
}

/// Finds mentions and facts; one for each thread.
#[derive(Debug)]
pub struct Recogniser<'a> {
    trie: &'a NameTrie,
    words: SentenceWords,
    ids: Vec<u32>,
    mentions: Vec<SentenceMention>,
    relations: FxHashMap<String, u32>,
}

impl<'a> Recogniser<'a> {
    /// Finds the names of `trie`.
    pub fn new(trie: &'a NameTrie) -> Self {
        Recogniser {
            trie,
            words: SentenceWords::default(),
            ids: Vec::new(),
            mentions: Vec::new(),
            relations: FxHashMap::default(),
        }
    }

    /// Reads one sentence of a document that is about `topic` (its title's entity).
    pub fn read(&mut self, sentence: &str, topic: Option<u32>) -> SentenceFindings {
        self.words.cut(sentence);
        self.find_mentions(topic);
        let mut entities: Vec<u32> = self.mentions.iter().flat_map(|mention| &mention.entities).copied().collect();
        entities.sort_unstable();
        entities.dedup();
        let opens = |mention: &&SentenceMention| self.words.words()[..mention.words.start].iter().all(|word| word.stop);
        let opening = self.mentions.first().filter(opens).map_or_else(Vec::new, |mention| mention.entities.clone());
        let statements = statements(sentence, &self.words, &self.mentions, topic, &mut self.relations);
        SentenceFindings { entities, opening, statements }
    }

    /// The number of a relation.
    pub fn relation(&mut self, name: &str) -> u32 {
        let next = self.relations.len() as u32;
        *self.relations.entry(name.to_owned()).or_insert(next)
    }

    /// Names of the relations by their numbers.
    pub fn into_relations(self) -> Vec<String> {
        let mut relations: Vec<_> = self.relations.into_iter().collect();
        relations.sort_by_key(|relation| relation.1);
        relations.into_iter().map(|relation| relation.0).collect()
    }

    fn find_mentions(&mut self, topic: Option<u32>) {
        self.mentions.clear();
        self.ids.clear();
        let count = self.words.words().len();
        self.ids
            .extend((0..count).map(|index| self.trie.vocabulary.find(self.words.folded(index)).unwrap_or(u32::MAX)));
        let mut at = 0;
        while at < count {
            let (mut node, mut longest) = (0, None);
            for end in at..count {
                // Most words are in no name.
                if self.ids[end] == u32::MAX {
                    break;
                }
                match self.trie.edges.get(&(node, self.ids[end])) {
                    Some(&next) => node = next,
                    None => break,
                }
                let entities = self.accept(at..end + 1, node, topic);
                if !entities.is_empty() {
                    longest = Some((end + 1, entities));
                }
            }
            match longest {
                Some((end, entities)) => {
                    self.mentions.push(SentenceMention { words: at..end, entities });
                    at = end;
                }
                None => at += 1,
            }
        }
    }

    /// Bearers of the name at `node` that these words can mean.
    fn accept(&self, range: std::ops::Range<usize>, node: u32, topic: Option<u32>) -> Vec<u32> {
        let words = &self.words.words()[range.clone()];
        let lower = words[0].case == Case::Lower;
        // "Her" at the start of a sentence is a pronoun, whatever film is called so.
        let function_word = words.iter().all(|word| word.stop);
        if function_word && (lower || range.start == 0) {
            return Vec::new();
        }
        let allowed = |entity: &&u32| !lower || self.trie.any_case[**entity as usize];
        let bearers: Vec<u32> = self.trie.bearers_at(node).iter().filter(allowed).copied().collect();
        match topic {
            Some(topic) if bearers.contains(&topic) => vec![topic],
            _ if bearers.len() <= MAX_BEARERS => bearers,
            _ => Vec::new(),
        }
    }
}
