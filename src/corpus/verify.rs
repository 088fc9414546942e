//! Give me a snapshot, I tell you whether every checksum, every index and every id across indexes holds.

use crate::base::error::Result;
use crate::base::ids::{DocumentId, SentenceId};
use crate::corpus::snapshot::{Namespace, Snapshot};
use crate::format::kind::Kind;
use sha2::{Digest, Sha256};

/// What was checked.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Sections held against their checksums.
    pub sections: usize,
    /// Documents whose text was held against its hash.
    pub documents: u32,
    /// Sentences checked to be text.
    pub sentences: u32,
    /// Bytes of text inflated.
    pub text_bytes: u64,
}

/// Checks everything; the first thing that does not hold is the error.
pub fn verify(snapshot: &Snapshot) -> Result<VerifyReport> {
    snapshot.reader().verify_all()?;
    snapshot.manifest()?;
    let strings = snapshot.strings()?;
    strings.check()?;
    let string_count = strings.len() as u64;
    let (text, provenance) = (snapshot.text()?, snapshot.provenance()?);
    text.check()?;
    provenance.check(text.text_length(), string_count)?;
    let sentence_count = provenance.sentence_count();
    let postings = snapshot.postings()?;
    postings.check()?;
    snapshot.terms()?.check(postings.term_count())?;
    let entities = snapshot.entities()?;
    entities.check(string_count)?;
    snapshot.facts()?.check(entities.len(), u64::from(sentence_count), string_count)?;
    snapshot.mentions()?.check(sentence_count as usize, entities.len())?;
    snapshot.about()?.check(snapshot.base_layer()?.chunk_count as usize, entities.len())?;
    check_vectors(snapshot)?;
    for kind in Kind::ALL.iter().filter(|kind| !kind.is_optional()) {
        snapshot.reader().section(*kind, "a complete file")?;
    }
    check_texts(snapshot)?;
    Ok(VerifyReport {
        sections: snapshot.reader().table().entries().len(),
        documents: provenance.document_count(),
        sentences: sentence_count,
        text_bytes: text.text_length(),
    })
}

/// Vectors of every namespace and the graph over them.
fn check_vectors(snapshot: &Snapshot) -> Result<()> {
    snapshot.embedder()?;
    for namespace in Namespace::ALL {
        if let Some(vectors) = snapshot.vectors(namespace)? {
            vectors.check_all(vectors.len())?;
        }
    }
    if let Some(graph) = snapshot.neighbours()? {
        graph.check(snapshot.provenance()?.sentence_count() as usize)?;
    }
    if let Some(synonyms) = snapshot.synonyms()? {
        synonyms.check()?;
    }
    Ok(())
}

/// Every document is UTF-8 and has its hash, every sentence lies on character borders, and the corpus has its hash.
fn check_texts(snapshot: &Snapshot) -> Result<()> {
    let (text, provenance) = (snapshot.text()?, snapshot.provenance()?);
    let corrupt = |at: u64, reason| crate::base::error::Corruption::new(Kind::TextBlocks.name(), at, reason);
    let (mut corpus, mut block) = (Sha256::new(), None);
    for id in 0..provenance.document_count() {
        let row = provenance.document(DocumentId(id))?;
        let mut bytes = Vec::new();
        text.read(&mut block, row.text_start..row.text_start + u64::from(row.text_length), &mut bytes)?;
        if Sha256::digest(&bytes).as_slice() != row.content_hash {
            return Err(corrupt(row.text_start, "a document's text has not the hash of its row").into());
        }
        corpus.update(row.content_hash);
        let document =
            std::str::from_utf8(&bytes).map_err(|_| corrupt(row.text_start, "a document's text is not UTF-8"))?;
        for sentence in row.first_sentence.0..row.first_sentence.0 + row.sentence_count {
            let row = provenance.sentence(SentenceId(sentence))?;
            if document.get(row.start as usize..row.start as usize + usize::from(row.byte_length)).is_none() {
                return Err(crate::base::error::Corruption::new(
                    Kind::Sentences.name(),
                    u64::from(sentence),
                    "a sentence cuts a character",
                )
                .into());
            }
        }
    }
    if hex(&corpus.finalize()) != snapshot.manifest()?.corpus_hash {
        return Err(crate::base::error::Corruption::new(
            Kind::Manifest.name(),
            0,
            "the corpus hash is not that of the documents",
        )
        .into());
    }
    Ok(())
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
