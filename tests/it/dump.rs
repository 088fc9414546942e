//! The contents of a file as JSON, in the same shape as `tools/read_a2kb.py` prints them.

use a2kb::internals::base::ids::{
    ChunkId, DocumentId, EntityId, FactId, HeadingId, NONE, RelationId, SentenceId, StringId, TermOrdinal,
};
use a2kb::internals::corpus::snapshot::{Namespace, Snapshot};
use a2kb::internals::corpus::verify::hex;
use a2kb::internals::format::kind::Kind;
use a2kb::internals::format::list_table::ListTable;
use a2kb::internals::format::transducer::Transducer;
use a2kb::{KnowledgeBase, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) fn dump(kb: &KnowledgeBase) -> Result<Value> {
    let snapshot = kb.snapshot();
    let manifest = snapshot.manifest()?;
    let settings: BTreeMap<_, _> = manifest.settings.iter().cloned().collect();
    let mut contents = json!({
        "format": [1, snapshot.reader().header().minor],
        "manifest": {
            "generator": manifest.generator, "title": manifest.title, "analyzer": manifest.analyzer,
            "corpus_hash": manifest.corpus_hash, "settings": settings, "warnings": manifest.warnings,
        },
        "documents": documents(kb)?, "terms": keys(snapshot, Kind::Terms)?, "postings": postings(snapshot)?,
    });
    let Value::Object(all) = &mut contents else { unreachable!() };
    for part in [provenance(snapshot)?, graph(kb)?, later(snapshot)?] {
        let Value::Object(part) = part else { unreachable!() };
        all.extend(part);
    }
    Ok(contents)
}

fn string(snapshot: &Snapshot, id: StringId) -> Result<Value> {
    Ok(json!(snapshot.string(id)?))
}

/// The pairs of an automaton.
fn keys(snapshot: &Snapshot, kind: Kind) -> Result<Value> {
    let mut pairs = Vec::new();
    let mut keep = |key: &[u8], value| {
        pairs.push(json!([std::str::from_utf8(key).unwrap(), value]));
        true
    };
    Transducer::new(&snapshot.reader().section(kind, "the dump")?, 4096)?.walk(
        b"",
        |_| true,
        |key, value| keep(key, value),
    )?;
    Ok(json!(pairs))
}

fn lists(snapshot: &Snapshot, kind: Kind) -> Result<Vec<Vec<u32>>> {
    let table = ListTable::new(&snapshot.reader().section(kind, "the dump")?)?;
    Ok((0..table.len())
        .map(|index| table.list(index)?.collect())
        .collect::<Result<_, a2kb::internals::base::error::ReadError>>()?)
}

fn documents(kb: &KnowledgeBase) -> Result<Vec<Value>> {
    let (snapshot, provenance) = (kb.snapshot(), kb.snapshot().provenance()?);
    let mut documents = Vec::new();
    for id in (0..provenance.document_count()).map(DocumentId) {
        let row = provenance.document(id)?;
        let text = kb.document_text(id, None)?;
        let mut sentences = Vec::new();
        for sentence in row.first_sentence.0..row.first_sentence.0 + row.sentence_count {
            let sentence = provenance.sentence(SentenceId(sentence))?;
            sentences.push(text[sentence.start as usize..][..usize::from(sentence.byte_length)].to_owned());
        }
        let metadata: Option<Value> =
            snapshot.string(row.metadata)?.map(|metadata| serde_json::from_str(metadata).unwrap());
        documents.push(json!({
            "source": string(snapshot, row.source)?, "id": string(snapshot, row.external_id)?,
            "title": string(snapshot, row.title)?, "media": row.media, "metadata": metadata,
            "content_hash": hex(&row.content_hash), "first_sentence": row.first_sentence, "text": text,
            "sentences": sentences,
        }));
    }
    Ok(documents)
}

fn provenance(snapshot: &Snapshot) -> Result<Value> {
    let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
    let optional = |id: u32| if id == NONE { Value::Null } else { json!(id) };
    let tokens = (0..provenance.sentence_count())
        .map(|id| Ok(provenance.sentence(SentenceId(id))?.token_count))
        .collect::<Result<Vec<_>>>()?;
    let layers = snapshot.layers()?.iter().map(|layer| {
        let (name, tokens) = (string(snapshot, layer.name)?, layer.target_tokens);
        Ok(json!([name, tokens, layer.overlap_tokens, layer.first_chunk, layer.chunk_count]))
    });
    let (mut chunks, mut headings) = (Vec::new(), Vec::new());
    for id in 0..provenance.chunk_count() {
        let row = provenance.chunk(ChunkId(id))?;
        chunks.push(json!([row.document, row.first_sentence, row.sentence_count, optional(row.heading.0)]));
    }
    for id in 0..headings_in(snapshot)? {
        let path = provenance.heading_path(HeadingId(id))?;
        headings.push(json!(path.iter().map(|&title| strings.get(title)).collect::<Result<Vec<_>, _>>()?));
    }
    let duplicates = provenance
        .duplicates()?
        .map(|row| Ok(json!([row.document, string(snapshot, row.source)?, string(snapshot, row.external_id)?])));
    Ok(json!({
        "token_counts": tokens, "duplicates": duplicates.collect::<Result<Vec<_>>>()?, "heading_paths": headings,
        "layers": layers.collect::<Result<Vec<_>>>()?, "chunks": chunks,
    }))
}

fn postings(snapshot: &Snapshot) -> Result<Value> {
    let postings = snapshot.postings()?;
    let lengths = (0..postings.chunk_count()).map(|chunk| postings.length(chunk)).collect::<Result<Vec<_>, _>>()?;
    let mut lists = Vec::new();
    for ordinal in 0..postings.term_count() {
        let (mut cursor, mut list) = (postings.cursor(TermOrdinal(ordinal))?, Vec::new());
        while let Some(chunk) = cursor.chunk() {
            let mut positions = Vec::new();
            cursor.positions(&mut positions)?;
            list.push(json!([chunk, positions]));
            cursor.advance()?;
        }
        lists.push(json!(list));
    }
    let round = |value: f32| (f64::from(value) * 1e6).round() / 1e6;
    let (k1, b) = (round(postings.baked().k1), round(postings.baked().b));
    Ok(json!({ "k1": k1, "b": b, "lengths": lengths, "lists": lists }))
}

fn graph(kb: &KnowledgeBase) -> Result<Value> {
    let snapshot = kb.snapshot();
    let (entities, facts) = (snapshot.entities()?, snapshot.facts()?);
    let (mut entity_rows, mut aliases, mut fact_rows) = (Vec::new(), Vec::new(), Vec::new());
    for id in (0..entities.len() as u32).map(EntityId) {
        let row = entities.row(id)?;
        entity_rows.push(json!([string(snapshot, row.name)?, row.kind, row.confidence, row.origins]));
        aliases.push(json!(kb.entity_names(id)?[1..]));
    }
    for id in (0..facts.len() as u32).map(FactId) {
        let (row, sources) = (facts.row(id)?, facts.sources(id)?);
        let relation = string(snapshot, facts.relation(RelationId(row.relation))?)?;
        fact_rows.push(json!([row.subject, relation, row.object, row.count, row.confidence, row.method, sources]));
    }
    Ok(json!({
        "entities": entity_rows, "entity_names": keys(snapshot, Kind::EntityNames)?,
        "entity_name_sets": lists(snapshot, Kind::EntityNameSets)?, "entity_aliases": aliases,
        "facts": fact_rows, "object_facts": lists(snapshot, Kind::ObjectFacts)?,
        "sentence_entities": lists(snapshot, Kind::SentenceEntities)?,
        "entity_sentences": lists(snapshot, Kind::EntitySentences)?,
        "chunk_about": lists(snapshot, Kind::ChunkAbout)?, "entity_about": lists(snapshot, Kind::EntityAbout)?,
    }))
}

/// What files of version 1.0 do not have.
fn later(snapshot: &Snapshot) -> Result<Value> {
    let mut contents = json!({});
    if snapshot.reader().instance(Kind::DuplicateMetadata, 0)?.is_some() {
        let metadata = snapshot.provenance()?.duplicates()?.map(|row| {
            let metadata = snapshot.string(row.metadata)?;
            Ok(metadata.map(|metadata| serde_json::from_str::<Value>(metadata).unwrap()))
        });
        contents["duplicate_metadata"] = json!(metadata.collect::<Result<Vec<_>>>()?);
    }
    if let Some(embedder) = snapshot.embedder()? {
        contents["embedder"] = json!([
            embedder.name,
            embedder.hash,
            embedder.dimension,
            embedder.pooling,
            embedder.normalised,
            embedder.query_prefix,
            embedder.passage_prefix,
            embedder.probes,
        ]);
        contents["vectors"] = vectors(snapshot)?;
        contents["neighbours"] = neighbours(snapshot)?;
        contents["encoder"] = json!(snapshot.packed_encoder()?.map(|bytes| bytes.len()));
    }
    if let Some(synonyms) = snapshot.synonyms()? {
        let edges = |entity| -> Result<Vec<(u32, u8)>> {
            let edges = synonyms.of_entity(EntityId(entity))?;
            Ok(edges.into_iter().map(|(other, likeness)| (other.0, (likeness * 255.0).round() as u8)).collect())
        };
        contents["synonyms"] = json!((0..synonyms.len() as u32).map(edges).collect::<Result<Vec<_>>>()?);
    }
    Ok(contents)
}

/// For each namespace its number, the encoding, and the bits of all values as f32.
fn vectors(snapshot: &Snapshot) -> Result<Value> {
    let mut all = Vec::new();
    for namespace in Namespace::ALL {
        if let Some(vectors) = snapshot.vectors(namespace)? {
            let row = |row| Ok(vectors.row(row)?.iter().map(|value| value.to_bits()).collect::<Vec<u32>>());
            let rows = (0..vectors.len()).map(row).collect::<Result<Vec<_>>>()?;
            all.push(json!([namespace as u32, vectors.encoding().number(), rows]));
        }
    }
    Ok(json!(all))
}

/// For each row its lists, level 0 first; levels on which it does not stand are empty.
fn neighbours(snapshot: &Snapshot) -> Result<Value> {
    let Some(graph) = snapshot.neighbours()? else { return Ok(Value::Null) };
    let (entry, top) = graph.entry();
    let lists = |row| -> Result<Vec<Vec<u32>>> {
        Ok((0..=top)
            .map(|level| Ok(graph.neighbours(row, level)?.collect()))
            .collect::<Result<_, a2kb::internals::base::error::ReadError>>()?)
    };
    let rows = (0..graph.len() as u32).map(lists).collect::<Result<Vec<_>>>()?;
    Ok(json!([entry, top, rows]))
}

fn headings_in(snapshot: &Snapshot) -> Result<u32> {
    let section = snapshot.reader().section(Kind::Headings, "the dump")?;
    Ok(u32::from_le_bytes(section.bytes()[..4].try_into().unwrap()))
}
