//! Give me names of entities, I give you what the graph has about them: cards, neighbours, paths, bridges, ranks,
//! subgraphs.

use crate::base::error::{Error, Result, Sought};
use crate::base::ids::{EntityId, FactId, RelationId, SentenceId};
use crate::base::question_length::check_length;
use crate::base::text::{name_key, shown_in_line};
use crate::base::work::Work;
use crate::corpus::snapshot::Snapshot;
use crate::facade::knowledge_base::KnowledgeBase;
use crate::retrieval::context::{Citation, TextFetcher, entity_name};
use crate::retrieval::graph::adjacency::EntityGraph;
use crate::retrieval::graph::bridge::{BridgeLimits, bridges};
use crate::retrieval::graph::fact_mapping::fact_names;
use crate::retrieval::graph::neighbourhood::neighbourhood;
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::passage_graph::Node;
use crate::retrieval::graph::paths::{PathLimits, shortest_paths};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::systems::{InfluenceSettings, reason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Facts of one entity that are walked.
const MAX_DEGREE: usize = 1000;

/// An entity with its names and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntityCard {
    /// Which one.
    pub entity: EntityId,
    /// The canonical name, then the others.
    pub names: Vec<String>,
    /// Entities of like names, with the likeness.
    pub synonyms: Vec<(String, f32)>,
    /// Facts that it stands in.
    pub facts: Vec<FactLine>,
    /// How many there are.
    pub fact_count: usize,
    /// Sentences that name it.
    pub mentions: Vec<Citation>,
    /// How many there are.
    pub mention_count: usize,
    /// Titles or ids of the documents that are about it.
    pub about: Vec<String>,
}

/// A fact in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FactLine {
    /// Which one.
    pub fact: FactId,
    /// Who.
    pub subject: String,
    /// Does what.
    pub relation: String,
    /// To whom.
    pub object: String,
    /// 0 to 1.
    pub confidence: f32,
    /// How often it is stated.
    pub count: u16,
}

/// A part of the graph to look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Picture {
    /// Entities: number, name, and a weight where the look-up has one.
    pub nodes: Vec<PictureNode>,
    /// Facts between them.
    pub edges: Vec<PictureEdge>,
    /// Chains of nodes, by number, where paths were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Vec<u32>>,
    /// How it was found.
    pub note: String,
}

/// A node of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct PictureNode {
    pub entity: u32,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// An edge of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct PictureEdge {
    pub from: u32,
    pub to: u32,
    #[serde(flatten)]
    pub fact: FactLine,
}

/// What the graph has to say; each call may cost what a query may.
#[derive(Debug)]
pub struct Explorer<'a> {
    kb: &'a KnowledgeBase,
    snapshot: Snapshot,
}

impl KnowledgeBase {
    /// The entity graph to look at.
    pub fn explore(&self) -> Explorer<'_> {
        Explorer { kb: self, snapshot: self.query_snapshot() }
    }
}

impl Explorer<'_> {
    fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn view(&self) -> GraphView<'_> {
        GraphView::whole(&self.snapshot)
    }

    /// The entities of a name, or the one of `#` and its number. The most mentioned one comes first.
    pub fn find(&self, name: &str) -> Result<Vec<EntityId>> {
        self.snapshot.renew_work();
        check_length("the name in bytes", name)?;
        let entities = self.snapshot().entities()?;
        let number = name.strip_prefix('#').and_then(|number| number.parse().ok());
        if let Some(number) = number.filter(|&number: &u32| (number as usize) < entities.len()) {
            return Ok(vec![EntityId(number)]);
        }
        let key = name_key(name);
        let mut found = Vec::new();
        for entity in entities.look_up(&key)? {
            found.push((self.snapshot().mentions()?.mention_bytes(entity)?, entity));
        }
        if found.is_empty() {
            let mut near: Vec<String> = Vec::new();
            for (_, entities) in entities.within_distance(&key, 2)? {
                for entity in entities.into_iter().take(3) {
                    near.push(entity_name(self.snapshot(), entity)?);
                }
            }
            near.truncate(5);
            let mend = match near.is_empty() {
                true => "look for it in the text".to_owned(),
                false => format!("there are {}", near.join(", ")),
            };
            return Err(Error::NotFound { sought: Sought::Entity, what: format!("entity named {name:?}"), mend });
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        Ok(found.into_iter().map(|found| found.1).collect())
    }

    /// The first entity of each name.
    fn find_all(&self, names: &[String]) -> Result<Vec<EntityId>> {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            found.extend(self.find(name)?.first().copied());
        }
        Ok(found)
    }

    /// What the file has about all entities of a name, or the one of `#` and its number, at most `limit` facts and
    /// mentions of each; together they may cost what a query may.
    pub fn cards(&self, name: &str, limit: usize) -> Result<Vec<EntityCard>> {
        self.find(name)?.into_iter().map(|entity| self.card_of(entity, limit)).collect()
    }

    /// What the file has about an entity, at most `limit` facts and mentions.
    pub fn card(&self, entity: EntityId, limit: usize) -> Result<EntityCard> {
        self.snapshot.renew_work();
        self.card_of(entity, limit)
    }

    fn card_of(&self, entity: EntityId, limit: usize) -> Result<EntityCard> {
        let snapshot = self.snapshot();
        snapshot.spend(Work::Results, 1)?;
        let (entities, strings) = (snapshot.entities()?, snapshot.strings()?);
        let mut names = vec![entity_name(snapshot, entity)?];
        for alias in entities.aliases(entity)? {
            names.push(strings.get(alias)?.to_owned());
        }
        let mut fetcher = TextFetcher::new(snapshot);
        let (provenance, layer) = (snapshot.provenance()?, snapshot.base_layer()?);
        let sentences = self.view().sentences_of_entity(entity, usize::MAX)?;
        let mut mentions = Vec::new();
        for (index, &sentence) in sentences.iter().take(limit).enumerate() {
            if let Some(chunk) = provenance.chunk_of_sentence(layer, sentence)? {
                mentions.push(fetcher.cite(index + 1, sentence, chunk)?);
            }
        }
        let mut about = Vec::new();
        for chunk in self.view().chunks_about(entity, limit)? {
            let info = crate::retrieval::context::document_info(snapshot, provenance.chunk(chunk)?.document)?;
            about.push(info.title.unwrap_or(info.id));
        }
        about.dedup();
        let arcs = self.view().arcs(entity, usize::MAX)?;
        let facts = arcs.iter().take(limit).map(|arc| self.fact_line(arc.fact)).collect::<Result<_>>()?;
        let mut synonyms = Vec::new();
        for (other, likeness) in self.view().synonyms(entity)? {
            synonyms.push((entity_name(snapshot, other)?, likeness));
        }
        let (fact_count, mention_count) = (arcs.len(), sentences.len());
        Ok(EntityCard { entity, names, synonyms, facts, fact_count, mentions, mention_count, about })
    }

    /// A fact in words.
    pub fn fact(&self, fact: FactId) -> Result<FactLine> {
        self.snapshot.renew_work();
        self.fact_line(fact)
    }

    fn fact_line(&self, fact: FactId) -> Result<FactLine> {
        self.snapshot.spend(Work::Results, 1)?;
        let row = self.view().fact(fact)?;
        let [subject, relation, object] = fact_names(&self.view(), fact)?.map(str::to_owned);
        let confidence = f32::from(row.confidence) / 255.0;
        Ok(FactLine { fact, subject, relation, object, confidence, count: row.count })
    }

    /// Entities with weights, and all `facts`.
    fn picture(&self, entities: BTreeMap<u32, Option<f64>>, facts: Vec<FactId>, note: String) -> Result<Picture> {
        let mut picture = Picture { note, ..Default::default() };
        let mut nodes = entities;
        for fact in facts {
            let row = self.view().fact(fact)?;
            nodes.entry(row.subject).or_insert(None);
            nodes.entry(row.object).or_insert(None);
            picture.edges.push(PictureEdge { from: row.subject, to: row.object, fact: self.fact_line(fact)? });
        }
        self.snapshot.spend(Work::Results, nodes.len())?;
        for (entity, weight) in nodes {
            let name = entity_name(self.snapshot(), EntityId(entity))?;
            picture.nodes.push(PictureNode { entity, name, weight });
        }
        Ok(picture)
    }

    /// The facts of some entities, only those of one relation if it is named.
    pub fn neighbours(&self, names: &[String], relation: Option<&str>, limit: usize) -> Result<Picture> {
        let seeds = self.find_all(names)?;
        let mut relations = Vec::new();
        if let Some(wanted) = relation {
            let facts = self.snapshot().facts()?;
            for relation in (0..facts.relation_count() as u32).map(RelationId) {
                if self.snapshot().strings()?.get(facts.relation(relation)?)?.eq_ignore_ascii_case(wanted) {
                    relations.push(relation);
                }
            }
            if relations.is_empty() {
                let what = format!("relation {wanted:?}");
                return Err(Error::NotFound { sought: Sought::Relation, what, mend: "leave it out to see all".into() });
            }
        }
        let found = neighbourhood(&self.view(), &seeds, &relations, limit)?;
        let note = match found.fell_back {
            true => "no fact is of that relation: all are shown".to_owned(),
            false => format!("{} facts", found.facts.len()),
        };
        self.picture(seeds.iter().map(|seed| (seed.0, None)).collect(), found.facts, note)
    }

    /// The shortest paths over facts between two entities: at most `limit`, of at most `length` facts each.
    pub fn paths(&self, from: &str, to: &str, length: usize, limit: usize) -> Result<Picture> {
        let limits = PathLimits { length, paths: limit, ..Default::default() };
        let ends = self.find_all(&[from.to_owned(), to.to_owned()])?;
        let graph = EntityGraph::new(self.view(), MAX_DEGREE)?;
        let paths = shortest_paths(&graph, ends[0].0, ends[1].0, &limits)?;
        let facts = self.facts_along(&paths)?;
        let note = format!("{} paths of {} facts", paths.len(), paths.first().map_or(0, |path| path.len() - 1));
        let mut picture = self.picture(ends.iter().map(|end| (end.0, None)).collect(), facts, note)?;
        picture.paths = paths;
        Ok(picture)
    }

    /// Entities within `hops` facts of at least two of some entities, with paths to them; at most `limit`.
    pub fn bridges(&self, names: &[String], hops: usize, limit: usize) -> Result<Picture> {
        let limits = BridgeLimits { hops, bridges: limit, ..Default::default() };
        let seeds: Vec<u32> = self.find_all(names)?.iter().map(|seed| seed.0).collect();
        let found = bridges(&EntityGraph::new(self.view(), MAX_DEGREE)?, &seeds, &limits)?;
        let paths: Vec<Vec<u32>> = found.iter().flat_map(|bridge| bridge.paths.clone()).collect();
        let facts = self.facts_along(&paths)?;
        let mut nodes: BTreeMap<u32, Option<f64>> = seeds.into_iter().map(|seed| (seed, None)).collect();
        nodes.extend(found.iter().map(|bridge| (bridge.node, Some(bridge.seeds.len() as f64))));
        let mut picture = self.picture(nodes, facts, format!("{} bridges", found.len()))?;
        picture.paths = paths;
        Ok(picture)
    }

    fn facts_along(&self, paths: &[Vec<u32>]) -> Result<Vec<FactId>> {
        let mut facts = Vec::new();
        for step in paths.iter().flat_map(|path| path.windows(2)) {
            let arcs = self.view().arcs(EntityId(step[0]), MAX_DEGREE)?;
            facts.extend(arcs.iter().filter(|arc| arc.neighbour.0 == step[1]).map(|arc| arc.fact));
        }
        facts.sort_unstable();
        facts.dedup();
        Ok(facts)
    }

    /// The entities of most rank in walks from some entities.
    pub fn rank(&self, names: &[String], teleport: f64, limit: usize) -> Result<Picture> {
        let seeds: Vec<u32> = self.find_all(names)?.iter().map(|seed| seed.0).collect();
        let graph = EntityGraph::new(self.view(), MAX_DEGREE)?;
        let limits = PushLimits { tolerance: 1e-7, max_arcs: 2_000_000, ..Default::default() };
        let rank = local_push(&graph, &Reset::degree_normalised(&graph, &seeds)?, teleport, limits)?;
        let top = rank.scores.iter().take(limit).map(|&(node, score)| (node, Some(score))).collect();
        let left = rank.report.residual * 100.0;
        let mut picture = self.picture(top, Vec::new(), format!("{left:.3} % of the mass was left unspread"))?;
        picture
            .nodes
            .sort_by(|a, b| b.weight.unwrap_or(0.0).total_cmp(&a.weight.unwrap_or(0.0)).then(a.entity.cmp(&b.entity)));
        Ok(picture)
    }

    /// The subgraph to reason over for a question, by AGRAG's minimum cost and maximum influence.
    /// At most `limit` nodes are added to the tree that joins the question's facts. Needs vectors.
    pub fn subgraph(&self, question: &str, limit: usize) -> Result<Picture> {
        self.snapshot.renew_work();
        let vector = self.kb.query_vector(question)?;
        let question = Question::new(&self.view(), question)?.with_vector(Some(vector.clone()));
        let settings = InfluenceSettings { cap: limit, ..Default::default() };
        let found = reason(&self.view(), &question, &vector, &settings)?;
        let entities = found.nodes.iter().filter_map(|node| match node {
            Node::Entity(entity) => Some((entity.0, None)),
            Node::Chunk(_) => None,
        });
        let chunks: Vec<String> = found.chunks.iter().map(|chunk| chunk.id.to_string()).collect();
        let note = format!("{}; chunks {}", found.tried, chunks.join(", "));
        self.picture(entities.collect(), found.facts, note)
    }

    /// Sentences that state a fact.
    pub fn sources(&self, fact: FactId) -> Result<Vec<SentenceId>> {
        self.snapshot.renew_work();
        Ok(self.snapshot().facts()?.sources(fact)?)
    }
}

impl Picture {
    /// Lines for people: facts, then paths, then weights.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for PictureEdge { fact, .. } in &self.edges {
            let _ = writeln!(
                text,
                "{} - {} - {} ({:.2}, {} x)",
                shown_in_line(&fact.subject),
                shown_in_line(&fact.relation),
                shown_in_line(&fact.object),
                fact.confidence,
                fact.count
            );
        }
        let name = |entity: &u32| {
            self.nodes.iter().find(|node| node.entity == *entity).map_or("?".into(), |node| shown_in_line(&node.name))
        };
        for path in &self.paths {
            let _ = writeln!(text, "path: {}", path.iter().map(name).collect::<Vec<_>>().join(" - "));
        }
        for node in &self.nodes {
            if let Some(weight) = node.weight {
                let _ = writeln!(text, "{weight:.6}  {}", shown_in_line(&node.name));
            }
        }
        text.push_str(&self.note);
        text
    }

    /// For Graphviz. What steers a terminal is shown as an escape.
    pub fn to_dot(&self) -> String {
        // A backslash of an escape is doubled, too: it is to be seen.
        let quote = |text: &str| format!("\"{}\"", shown_in_line(text).replace('\\', "\\\\").replace('"', "\\\""));
        let mut text = String::from("digraph a2kb {\n");
        for node in &self.nodes {
            let _ = writeln!(text, "  n{} [label={}];", node.entity, quote(&node.name));
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  n{} -> n{} [label={}];", edge.from, edge.to, quote(&edge.fact.relation));
        }
        text.push('}');
        text
    }

    /// For graph editors. What XML has no way to write is shown as an escape.
    pub fn to_graphml(&self) -> String {
        // XML has no way to write most control characters: they are shown.
        let escape = |text: &str| {
            let text = shown_in_line(text).replace('&', "&amp;").replace('<', "&lt;");
            text.replace('>', "&gt;").replace('"', "&quot;")
        };
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
             <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n\
             <key id=\"weight\" for=\"node\" attr.name=\"weight\" attr.type=\"double\"/>\n\
             <key id=\"relation\" for=\"edge\" attr.name=\"relation\" attr.type=\"string\"/>\n\
             <key id=\"confidence\" for=\"edge\" attr.name=\"confidence\" attr.type=\"double\"/>\n\
             <graph edgedefault=\"directed\">\n",
        );
        for node in &self.nodes {
            let _ = write!(text, "<node id=\"n{}\"><data key=\"name\">{}</data>", node.entity, escape(&node.name));
            if let Some(weight) = node.weight {
                let _ = write!(text, "<data key=\"weight\">{weight}</data>");
            }
            text.push_str("</node>\n");
        }
        for PictureEdge { from, to, fact } in &self.edges {
            let _ = writeln!(
                text,
                "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"relation\">{}</data><data \
                 key=\"confidence\">{:.3}</data></edge>",
                escape(&fact.relation),
                fact.confidence
            );
        }
        text.push_str("</graph>\n</graphml>");
        text
    }
}
