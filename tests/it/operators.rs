//! Graph operators beside slow twins that read all facts and mentions, over the demo documents.

use super::{root, tiny};
use a2kb::internals::base::ids::{ChunkId, EntityId, FactId, RelationId, SentenceId};
use a2kb::internals::corpus::snapshot::{Namespace, Snapshot};
use a2kb::internals::retrieval::gate::gate;
use a2kb::internals::retrieval::graph::activation::{ActivationSettings, activate};
use a2kb::internals::retrieval::graph::adjacency::{Adjacency, CompressedGraph, EntityGraph};
use a2kb::internals::retrieval::graph::map_back::{chunks_of_entities, chunks_of_facts};
use a2kb::internals::retrieval::graph::neighbourhood::neighbourhood;
use a2kb::internals::retrieval::graph::page_rank::{PushLimits, Reset, local_push, power_iteration};
use a2kb::internals::retrieval::graph::passage_graph::{PassageGraph, PassageGraphSettings};
use a2kb::internals::retrieval::graph::reset::{bridged_passage_weights, phrase_weights};
use a2kb::internals::retrieval::graph::view::{Deletion, GraphSwitches, GraphView};
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static DEMO: LazyLock<KnowledgeBase> = LazyLock::new(|| {
    let builder = Builder::new().path(root().join("assets/demo")).embedding(tiny::embedding(1));
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    kb.with_embedder(tiny::embedder(1)).unwrap()
});

fn facts(snapshot: &Snapshot) -> Vec<(u32, u32, u32)> {
    let facts = snapshot.facts().unwrap();
    let row = |id| facts.row(FactId(id)).unwrap();
    (0..facts.len() as u32).map(row).map(|row| (row.subject, row.relation, row.object)).collect()
}

/// Sentence to entities.
fn mentions(snapshot: &Snapshot) -> Vec<Vec<u32>> {
    let count = snapshot.provenance().unwrap().sentence_count();
    let of =
        |sentence| snapshot.mentions().unwrap().entities(sentence).unwrap().map(|entity| entity.unwrap().0).collect();
    (0..count).map(of).collect()
}

fn chunk_of(snapshot: &Snapshot, sentence: u32) -> u32 {
    let layer = snapshot.base_layer().unwrap();
    snapshot.provenance().unwrap().chunk_of_sentence(layer, SentenceId(sentence)).unwrap().unwrap().0
}

/// Chunks that mention an entity or are about it.
fn chunks_of(snapshot: &Snapshot, entity: u32) -> BTreeSet<u32> {
    let named = mentions(snapshot).into_iter().enumerate().filter(|(_, named)| named.contains(&entity));
    let mut chunks: BTreeSet<u32> = named.map(|(sentence, _)| chunk_of(snapshot, sentence as u32)).collect();
    for chunk in snapshot.base_layer().unwrap().chunks() {
        let mut about = snapshot.about().unwrap().entities(chunk).unwrap();
        if about.any(|other| other.unwrap().0 == entity) {
            chunks.insert(chunk);
        }
    }
    chunks
}

#[test]
fn neighbourhoods_and_map_back_equal_a_walk_over_all_facts() {
    let snapshot = DEMO.snapshot();
    let (view, all) = (GraphView::whole(snapshot), facts(snapshot));
    let entities = snapshot.entities().unwrap().len() as u32;
    for seed in 0..entities {
        let seeds = [EntityId(seed), EntityId((seed * 7 + 3) % entities)];
        let touches =
            |fact: &(u32, u32, u32)| fact.0 != fact.2 && seeds.iter().any(|seed| seed.0 == fact.0 || seed.0 == fact.2);
        let expected: Vec<u32> = (0..all.len()).filter(|&id| touches(&all[id])).map(|id| id as u32).collect();
        let found = neighbourhood(&view, &seeds, &[], usize::MAX).unwrap();
        assert_eq!(found.facts.iter().map(|fact| fact.0).collect::<Vec<_>>(), expected);
        // A relation filters; one that no fact has falls back to all.
        if let Some(&first) = expected.first() {
            let relation = all[first as usize].1;
            let some = neighbourhood(&view, &seeds, &[RelationId(relation)], usize::MAX).unwrap();
            let same = expected.iter().filter(|&&id| all[id as usize].1 == relation).count();
            assert_eq!((some.facts.len(), some.fell_back), (same, false));
            let none = neighbourhood(&view, &seeds, &[RelationId(u32::MAX)], usize::MAX).unwrap();
            assert_eq!((none.facts.len(), none.fell_back), (expected.len(), true));
        }
        let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
        for &id in &expected {
            let sources = snapshot.facts().unwrap().sources(FactId(id)).unwrap();
            let chunks: BTreeSet<u32> = sources.into_iter().map(|sentence| chunk_of(snapshot, sentence.0)).collect();
            chunks.into_iter().for_each(|chunk| *scores.entry(chunk).or_default() += 0.5);
        }
        let weighed: Vec<(FactId, f64)> = expected.iter().map(|&id| (FactId(id), 0.5)).collect();
        let found = chunks_of_facts(&view, &weighed, usize::MAX).unwrap();
        assert!(
            found.len() == scores.len()
                && found.iter().all(|hit| (f64::from(hit.score) - scores[&hit.id.0]).abs() < 1e-6)
        );
    }
    let ranks = [(EntityId(0), 0.6), (EntityId(5), 0.3), (EntityId(9), 0.1)];
    let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
    for (entity, rank) in ranks {
        let chunks = chunks_of(snapshot, entity.0);
        chunks.iter().for_each(|&chunk| *scores.entry(chunk).or_default() += rank / chunks.len() as f64);
    }
    let found = chunks_of_entities(&view, &ranks, usize::MAX).unwrap();
    assert!(
        found.len() == scores.len() && found.iter().all(|hit| (f64::from(hit.score) - scores[&hit.id.0]).abs() < 1e-6)
    );
}

#[test]
fn a_walk_over_the_file_equals_one_over_its_edges() {
    let view = GraphView::whole(DEMO.snapshot());
    let graph = PassageGraph::new(view, PassageGraphSettings::default()).unwrap();
    let mut edges = Vec::new();
    for node in 0..graph.node_count() as u32 {
        let mut arcs = Vec::new();
        graph.arcs(node, &mut arcs).unwrap();
        edges.extend(arcs.into_iter().filter(|arc| node < arc.0).map(|(other, weight)| (node, other, weight)));
    }
    let copy = CompressedGraph::new(graph.node_count(), &edges);
    let reset = Reset::new([(0, 1.0), (7, 2.0), (graph.of_chunk(ChunkId(3)), 0.5)]);
    let exact = power_iteration(&copy, &reset, 0.3, 1e-13, 10_000).unwrap();
    let limits = PushLimits { tolerance: 1e-11, max_arcs: usize::MAX, keep: usize::MAX };
    let pushed = local_push(&graph, &reset, 0.3, limits).unwrap();
    assert!((exact.report.mass - 1.0).abs() < 1e-9);
    let scores: BTreeMap<u32, f64> = pushed.scores.into_iter().collect();
    for (node, score) in exact.scores {
        assert!((score - scores.get(&node).copied().unwrap_or(0.0)).abs() < 1e-7, "node {node}");
    }
}

#[test]
fn hipporag_resets_are_averages_over_facts_by_chunks() {
    let snapshot = DEMO.snapshot();
    let (view, all) = (GraphView::whole(snapshot), facts(snapshot));
    let chosen: Vec<(FactId, f64)> = [(0u32, 1.0), (3, 0.5), (4, 0.25)].map(|(id, score)| (FactId(id), score)).to_vec();
    let mut expected: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for &(fact, score) in &chosen {
        for end in [all[fact.index()].0, all[fact.index()].2] {
            expected.entry(end).or_default().push(score / chunks_of(snapshot, end).len() as f64);
        }
    }
    let found = phrase_weights(&view, &chosen, usize::MAX).unwrap();
    assert_eq!(found.len(), expected.len());
    for (entity, weight) in &found {
        let values = &expected[&entity.0];
        assert!((weight - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-12);
    }
    let best = phrase_weights(&view, &chosen, 2).unwrap();
    let least = best.iter().map(|weight| weight.1).fold(f64::INFINITY, f64::min);
    assert!(best.len() == 2 && found.iter().filter(|weight| weight.1 > least).count() <= 1);
}

/// LinearRAG's bridging with plain maps: weight, last activation and tier by entity.
fn slow_activation(
    snapshot: &Snapshot,
    near: &dyn Fn(u32) -> f64,
    seeds: &[(u32, f64)],
    settings: &ActivationSettings,
) -> BTreeMap<u32, (f64, f64, usize)> {
    let named = mentions(snapshot);
    let mut found: BTreeMap<u32, (f64, f64, usize)> =
        seeds.iter().map(|&(seed, weight)| (seed, (weight, weight, 1))).collect();
    let mut active: BTreeMap<u32, f64> = seeds.iter().copied().collect();
    let mut used = BTreeSet::new();
    for iteration in 1..settings.max_iterations {
        let mut next: BTreeMap<u32, f64> = BTreeMap::new();
        for (&entity, &activation) in active.iter().filter(|active| *active.1 >= settings.threshold) {
            let mut sentences: Vec<u32> = (0..named.len() as u32)
                .filter(|&s| named[s as usize].contains(&entity) && !used.contains(&s))
                .collect();
            sentences.sort_by(|&a, &b| near(b).total_cmp(&near(a)).then(a.cmp(&b)));
            for sentence in sentences.into_iter().take(settings.sentences) {
                used.insert(sentence);
                let given = activation * near(sentence);
                for &reached in named[sentence as usize].iter().filter(|_| given >= settings.threshold) {
                    *next.entry(reached).or_default() += given;
                    let record = found.entry(reached).or_insert((0.0, 0.0, 0));
                    *record = (record.0 + given, given, iteration + 1);
                }
            }
        }
        active = next;
    }
    found
}

#[test]
fn activation_spreads_as_the_slow_twin_says() {
    let snapshot = DEMO.snapshot();
    let view = GraphView::whole(snapshot);
    let vectors = snapshot.vectors(Namespace::Sentence).unwrap().unwrap();
    let mut reached = 0;
    for (question, seed) in
        [("Who designed the Velm Dam?", 0u32), ("Where was the engineer born?", 4), ("the lake and the river", 11)]
    {
        let vector = DEMO.query_vector(question).unwrap();
        let near = |sentence: u32| f64::from(vectors.product(&vector, sentence as usize).unwrap());
        for (iterations, threshold) in [(1, 0.4), (3, 0.05), (4, 0.2)] {
            let settings =
                ActivationSettings { max_iterations: iterations, threshold, sentences: 2, max_sentences: 1000 };
            let expected = slow_activation(snapshot, &near, &[(seed, 1.0), (seed + 1, 0.7)], &settings);
            let found =
                activate(&view, &vector, &[(EntityId(seed), 1.0), (EntityId(seed + 1), 0.7)], &settings).unwrap();
            assert_eq!(found.len(), expected.len());
            for one in &found {
                let (weight, activation, tier) = expected[&one.entity.0];
                assert!(
                    (one.weight - weight).abs() < 1e-9
                        && (one.activation - activation).abs() < 1e-9
                        && one.tier == tier
                );
            }
            reached = reached.max(found.len());
            let weights = bridged_passage_weights(&view, &found, &[(ChunkId(0), 1.0)], 1.5, 0.05).unwrap();
            for (chunk, weight) in weights {
                let mut sum = 0.0;
                for one in &found {
                    let occurrences = mentions(snapshot)
                        .iter()
                        .enumerate()
                        .filter(|(s, named)| named.contains(&one.entity.0) && chunk_of(snapshot, *s as u32) == chunk.0)
                        .count();
                    sum += one.activation * (1.0 + occurrences as f64).ln() / one.tier as f64;
                }
                let dense = if chunk.0 == 0 { 1.5 } else { 0.0 };
                assert!((weight - 0.05 * (dense + (1.0 + sum).ln())).abs() < 1e-9);
            }
        }
    }
    assert!(reached > 4, "something was reached at all: {reached}");
}

#[test]
fn deleted_entities_take_their_edges_along() {
    let snapshot = DEMO.snapshot();
    let deletion = Some(Deletion { share: 0.4, seed: 2 });
    let view = GraphView::new(snapshot, GraphSwitches { deletion, ..Default::default() });
    let graph = EntityGraph::new(view, usize::MAX).unwrap();
    let gone: BTreeSet<u32> = (0..graph.node_count() as u32).filter(|&id| !view.has(EntityId(id))).collect();
    assert!(gone.len() * 4 > graph.node_count() && gone.len() * 2 < graph.node_count());
    for node in 0..graph.node_count() as u32 {
        let mut arcs = Vec::new();
        graph.arcs(node, &mut arcs).unwrap();
        assert!(arcs.iter().all(|arc| !gone.contains(&arc.0)) && (arcs.is_empty() || !gone.contains(&node)));
    }
    for chunk in snapshot.base_layer().unwrap().chunks() {
        assert!(view.entities_of_chunk(ChunkId(chunk)).unwrap().iter().all(|entity| !gone.contains(&entity.0.0)));
    }
}

#[test]
fn the_gate_opens_for_the_nearest_document() {
    let snapshot = DEMO.snapshot();
    let documents = snapshot.provenance().unwrap().document_count();
    for question in ["Who designed the Velm Dam?", "the price of fish", "lighthouse"] {
        let vector = DEMO.query_vector(question).unwrap();
        // The demo has fewer sentences than the gate looks at, so that all documents are compared.
        let cosine = |document: u32| {
            let sentences = snapshot.sentences_of_document(a2kb::DocumentId(document)).unwrap();
            let mean = a2kb::internals::retrieval::text::semantic::mean_of_sentences(snapshot, sentences).unwrap();
            mean.iter().zip(vector.values()).map(|(a, b)| a * b).sum::<f32>()
        };
        let best = (0..documents).map(cosine).fold(f32::NEG_INFINITY, f32::max);
        let found = gate(snapshot, &vector, 0.0, None).unwrap();
        assert!(found.open && (found.score - best.clamp(0.0, 1.0)).abs() < 1e-5, "{question}: {found:?} {best}");
        assert!(gate(snapshot, &vector, found.score, None).unwrap().open);
        assert!(!gate(snapshot, &vector, found.score + 0.001, None).unwrap().open);
    }
}
