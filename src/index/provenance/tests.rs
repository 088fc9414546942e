use super::*;
use crate::base::error::ReadError;
use crate::base::ids::{DocumentId, NONE, SentenceId, StringId};
use crate::format::cursor::SectionBuilder;
use crate::format::section::SectionBytes;

/// Three documents without text, and these duplicates: document, id, metadata.
fn sections(duplicates: &[[u32; 3]]) -> ProvenanceSections {
    let mut writer = ProvenanceWriter::default();
    writer.layer(StringId(0), 10, 0);
    for id in 0..3 {
        writer.document(DocumentRow {
            text_start: 0,
            text_length: 0,
            first_sentence: SentenceId(0),
            sentence_count: 0,
            source: StringId(id),
            external_id: StringId(id),
            title: StringId(NONE),
            metadata: StringId(NONE),
            media: 1,
            content_hash: [0; 32],
        });
    }
    for &[document, id, metadata] in duplicates {
        let (document, external_id) = (DocumentId(document), StringId(id));
        writer.duplicate(DuplicateRow { document, source: StringId(0), external_id, metadata: StringId(metadata) });
    }
    writer.finish()
}

fn read(sections: &ProvenanceSections, metadata: Option<Vec<u8>>) -> Result<Provenance, ReadError> {
    let bytes = |name: &'static str, bytes: &[u8]| SectionBytes::new(name, bytes.to_vec().into());
    let provenance = Provenance::new(
        &bytes("DOCUMENTS", &sections.documents),
        &bytes("DUPLICATES", &sections.duplicates),
        &bytes("HEADINGS", &sections.headings),
        &bytes("SENTENCES", &sections.sentences),
        &bytes("CHUNKS", &sections.chunks),
    )?;
    match metadata {
        Some(metadata) => provenance.with_duplicate_metadata(&bytes("DUPLICATE_METADATA", &metadata)),
        None => Ok(provenance),
    }
}

#[test]
fn copies_come_with_their_own_ids_and_metadata() {
    let sections = sections(&[[2, 3, 7], [0, 4, NONE], [2, 5, 8]]);
    let provenance = read(&sections, sections.duplicate_metadata.clone()).unwrap();
    provenance.check(0, 9).unwrap();
    let copies = |id: u32| -> Vec<(u32, u32)> {
        let copies = provenance.copies(DocumentId(id)).unwrap();
        copies.iter().map(|copy| (copy.external_id.0, copy.metadata.0)).collect()
    };
    assert_eq!(copies(0), [(0, NONE), (4, NONE)]);
    assert_eq!(copies(1), [(1, NONE)]);
    assert_eq!(copies(2), [(2, NONE), (3, 7), (5, 8)]);
    assert!(provenance.copies(DocumentId(3)).is_err());
}

#[test]
fn there_is_a_section_only_where_there_is_metadata() {
    assert!(sections(&[]).duplicate_metadata.is_none());
    let plain = sections(&[[0, 1, NONE]]);
    assert!(plain.duplicate_metadata.is_none());
    assert_eq!(read(&plain, None).unwrap().copies(DocumentId(0)).unwrap().len(), 2);
}

#[test]
fn every_number_is_checked() {
    let sections = sections(&[[2, 3, 7], [0, 4, NONE]]);
    let metadata = sections.duplicate_metadata.clone().unwrap();
    let provenance = read(&sections, Some(metadata.clone())).unwrap();
    assert!(provenance.check(0, 7).unwrap_err().to_string().contains("does not exist"), "string 7 of 7");
    provenance.check(0, 8).unwrap();
    let mut short = SectionBuilder::new();
    short.head(1, 0);
    short.u32s([7]);
    assert!(read(&sections, Some(short.finish())).unwrap_err().to_string().contains("another number of duplicates"));
    for length in 0..metadata.len() {
        assert!(read(&sections, Some(metadata[..length].to_vec())).is_err(), "{length} bytes");
    }
}
