//! Give me the triples that a document carries, I give you statements of the graph: ready triples, however they were
//! made.
//!
//! This is also the door for a language model: whoever extracts triples puts them into
//! [`Document::triples`](crate::Document), and they join those found by rules.

use crate::base::text::name_key;
use crate::corpus::builder::{Statement, method};

/// Triples of a document as they were given: what they name, and what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// Names of entities, also those in no triple.
    pub entities: Vec<String>,
    /// Subject, relation, object.
    pub triples: Vec<[String; 3]>,
    /// Triples with an end that the text does not have in these words; believed less.
    pub doubtful: Vec<[String; 3]>,
}

/// Confidence of a ready triple, of 255: it may be a model's word.
const CONFIDENCE: u8 = 217;
/// Confidence of a doubtful one.
const DOUBTFUL_CONFIDENCE: u8 = 128;
/// Bytes of a part of a triple: longer ones are no names but sentences.
const MAX_PART_BYTES: usize = 200;

impl Extraction {
    /// Leaves out triples with an empty or overlong part or two equal ends, and gives how many; and those that occur
    /// twice (checklist G5).
    pub fn clean(&mut self) -> usize {
        let fits = |part: &String| part.len() <= MAX_PART_BYTES && !name_key(part).is_empty();
        let (mut bad, mut seen) = (0, std::collections::BTreeSet::new());
        for triples in [&mut self.triples, &mut self.doubtful] {
            let before = triples.len();
            triples.retain(|triple| triple.iter().all(fits) && name_key(&triple[0]) != name_key(&triple[2]));
            bad += before - triples.len();
            triples.retain(|triple| seen.insert(triple.each_ref().map(|part| name_key(part))));
        }
        self.entities.retain(fits);
        bad
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.triples.is_empty() && self.doubtful.is_empty()
    }

    /// All names that must be entities.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let ends =
            self.triples.iter().chain(&self.doubtful).flat_map(|triple| [triple[0].as_str(), triple[2].as_str()]);
        self.entities.iter().map(String::as_str).chain(ends)
    }

    /// Statements of the triples. `entity` finds the entity of a name, `relation` numbers a relation, and `sentences`
    /// are the document's sentences with the entities that each names: the source of a triple is the first one
    /// that names both of its ends, else the subject, else the object, else the document's first.
    pub fn statements(
        &self,
        entity: impl Fn(&str) -> Option<u32>,
        mut relation: impl FnMut(&str) -> u32,
        sentences: &[(u32, &[u32])],
    ) -> Vec<Statement> {
        let mut statements = Vec::with_capacity(self.triples.len() + self.doubtful.len());
        let sure = self.triples.iter().map(|triple| (triple, CONFIDENCE));
        let doubtful = self.doubtful.iter().map(|triple| (triple, DOUBTFUL_CONFIDENCE));
        for ([subject, name, object], confidence) in sure.chain(doubtful) {
            let (Some(subject), Some(object)) = (entity(subject), entity(object)) else { continue };
            if subject == object {
                continue;
            }
            let naming =
                |wanted: &[u32]| sentences.iter().find(|(_, named)| wanted.iter().all(|entity| named.contains(entity)));
            let source = naming(&[subject, object]).or_else(|| naming(&[subject])).or_else(|| naming(&[object]));
            let Some(&(sentence, _)) = source.or(sentences.first()) else { continue };
            statements.push(Statement {
                subject,
                relation: relation(name),
                object,
                sentence,
                confidence,
                method: method::IMPORTED,
            });
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triple(parts: [&str; 3]) -> [String; 3] {
        parts.map(str::to_owned)
    }

    #[test]
    fn bad_triples_are_left_out_and_sources_found() {
        let mut extraction = Extraction {
            entities: vec!["Ada".into(), " ".into()],
            triples: vec![
                triple(["Ada", "built", "Velm Dam"]),
                triple(["ada", "Built", "velm dam"]),
                triple(["", "built", "Velm Dam"]),
                triple(["Ada", "is", "ada"]),
                triple(["Ada", "was born in", "Orta"]),
                triple(["Nobody", "knows", "Ada"]),
            ],
            doubtful: vec![triple(["Ada", "built", "Velm Dam"])],
        };
        assert_eq!(extraction.clean(), 2);
        assert_eq!(extraction.names().collect::<Vec<_>>(), ["Ada", "Ada", "Velm Dam", "Ada", "Orta", "Nobody", "Ada"]);
        let id = |name: &str| ["Ada", "Velm Dam", "Orta"].iter().position(|known| *known == name).map(|id| id as u32);
        let mut relations = Vec::new();
        let number = |name: &str| {
            relations.push(name.to_owned());
            relations.len() as u32 - 1
        };
        let statements = extraction.statements(id, number, &[(7, &[1]), (8, &[0, 1]), (9, &[2])]);
        let found: Vec<_> = statements.iter().map(|s| (s.subject, s.object, s.sentence)).collect();
        assert_eq!(found, [(0, 1, 8), (0, 2, 8)]);
        assert_eq!(relations, ["built", "was born in"]);
    }
}
