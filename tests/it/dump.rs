//! The contents of a file as JSON, in the same shape as `tools/read_a2kb.py` prints them.

use a2kb::internals::base::ids::{
    ChunkId, DocumentId, EntityId, FactId, RelationId, SentenceId, StringId, TermOrdinal,
};
use a2kb::internals::corpus::snapshot::{Namespace, Snapshot};
use a2kb::internals::format::kind::Kind;
use a2kb::internals::format::list_table::ListTable;
use a2kb::internals::format::transducer::Transducer;
use a2kb::{KnowledgeBase, Result};
use serde_json::{Value, json};

pub(crate) fn dump(kb: &KnowledgeBase) -> Result<Value> {
    let snapshot = kb.snapshot();
    let (manifest, provenance, strings) = (snapshot.manifest()?, snapshot.provenance()?, snapshot.strings()?);
    let string = |id: StringId| snapshot.string(id).map(|string| json!(string));
    let optional = |id: u32| if id == a2kb::internals::base::ids::NONE { Value::Null } else { json!(id) };
    let keys = |kind| -> Result<Value> {
        let mut pairs = Vec::new();
        Transducer::new(&snapshot.reader().section(kind, "the dump")?)?.walk(
            b"",
            |_| true,
            |key, value| {
                pairs.push(json!([std::str::from_utf8(key).unwrap(), value]));
                true
            },
        )?;
        Ok(json!(pairs))
    };
    let lists = |kind| -> Result<Vec<Vec<u32>>> {
        let table = ListTable::new(&snapshot.reader().section(kind, "the dump")?)?;
        Ok((0..table.len()).map(|index| table.list(index)?.collect()).collect::<Result<_, a2kb::Corruption>>()?)
    };
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
            "source": string(row.source)?, "id": string(row.external_id)?, "title": string(row.title)?, "media": row.media, "metadata": metadata,
            "content_hash": a2kb::internals::corpus::verify::hex(&row.content_hash), "first_sentence": row.first_sentence, "text": text, "sentences": sentences,
        }));
    }
    let tokens = (0..provenance.sentence_count())
        .map(|id| Ok(provenance.sentence(SentenceId(id))?.token_count))
        .collect::<Result<Vec<_>>>()?;
    let layers = snapshot.layers()?.iter().map(|layer| {
        Ok(json!([
            string(layer.name)?,
            layer.target_tokens,
            layer.overlap_tokens,
            layer.first_chunk,
            layer.chunk_count
        ]))
    });
    let (mut chunks, mut headings) = (Vec::new(), Vec::new());
    for id in 0..provenance.chunk_count() {
        let row = provenance.chunk(ChunkId(id))?;
        chunks.push(json!([row.document, row.first_sentence, row.sentence_count, optional(row.heading.0)]));
    }
    let heading_count = headings_in(snapshot)?;
    for id in 0..heading_count {
        let path = provenance.heading_path(a2kb::internals::base::ids::HeadingId(id))?;
        headings.push(json!(path.iter().map(|&title| strings.get(title)).collect::<Result<Vec<_>, _>>()?));
    }
    let postings = snapshot.postings()?;
    let lengths = (0..postings.chunk_count()).map(|chunk| postings.length(chunk)).collect::<Result<Vec<_>, _>>()?;
    let mut posting_lists = Vec::new();
    for ordinal in 0..postings.term_count() {
        let (mut cursor, mut list) = (postings.cursor(TermOrdinal(ordinal))?, Vec::new());
        while let Some(chunk) = cursor.chunk() {
            let mut positions = Vec::new();
            cursor.positions(&mut positions)?;
            list.push(json!([chunk, positions]));
            cursor.advance()?;
        }
        posting_lists.push(json!(list));
    }
    let round = |value: f32| (f64::from(value) * 1e6).round() / 1e6;
    let (entities, facts) = (snapshot.entities()?, snapshot.facts()?);
    let (mut entity_rows, mut aliases, mut fact_rows) = (Vec::new(), Vec::new(), Vec::new());
    for id in (0..entities.len() as u32).map(EntityId) {
        let row = entities.row(id)?;
        entity_rows.push(json!([string(row.name)?, row.kind, row.confidence, row.origins]));
        aliases.push(json!(kb.entity_names(id)?[1..]));
    }
    for id in (0..facts.len() as u32).map(FactId) {
        let row = facts.row(id)?;
        let relation = string(facts.relation(RelationId(row.relation))?)?;
        fact_rows.push(json!([
            row.subject,
            relation,
            row.object,
            row.count,
            row.confidence,
            row.method,
            facts.sources(id)?
        ]));
    }
    let duplicates =
        provenance.duplicates().map(|row| Ok(json!([row.document, string(row.source)?, string(row.external_id)?])));
    let mut contents = json!({
        "format": [1, snapshot.reader().header().minor],
        "manifest": {
            "generator": manifest.generator, "title": manifest.title, "analyzer": manifest.analyzer, "corpus_hash": manifest.corpus_hash,
            "settings": manifest.settings.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(), "warnings": manifest.warnings,
        },
        "documents": documents, "token_counts": tokens, "duplicates": duplicates.collect::<Result<Vec<_>>>()?, "heading_paths": headings,
        "layers": layers.collect::<Result<Vec<_>>>()?, "chunks": chunks, "terms": keys(Kind::Terms)?,
        "postings": { "k1": round(postings.baked().k1), "b": round(postings.baked().b), "lengths": lengths, "lists": posting_lists },
        "entities": entity_rows, "entity_names": keys(Kind::EntityNames)?, "entity_name_sets": lists(Kind::EntityNameSets)?, "entity_aliases": aliases,
        "facts": fact_rows, "object_facts": lists(Kind::ObjectFacts)?, "sentence_entities": lists(Kind::SentenceEntities)?,
        "entity_sentences": lists(Kind::EntitySentences)?, "chunk_about": lists(Kind::ChunkAbout)?, "entity_about": lists(Kind::EntityAbout)?,
    });
    // Files of version 1.0 have none of these.
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
            .collect::<Result<_, a2kb::Corruption>>()?)
    };
    let rows = (0..graph.len() as u32).map(lists).collect::<Result<Vec<_>>>()?;
    Ok(json!([entry, top, rows]))
}

fn headings_in(snapshot: &a2kb::internals::corpus::snapshot::Snapshot) -> Result<u32> {
    let section = snapshot.reader().section(Kind::Headings, "the dump")?;
    Ok(u32::from_le_bytes(section.bytes()[..4].try_into().unwrap()))
}
