//! Crash tests go through the backend: every operation fails or tears in turn.

use super::backend::{Fault, FaultyPlace};
use super::sealed_reader::{ChecksumPolicy, SealedReader};
use super::sealed_writer::SealedWriter;
use crate::base::error::Error;
use crate::format::kind::Kind;
use bytes::Bytes;

fn write(place: &FaultyPlace, byte: u8) -> std::io::Result<u64> {
    let mut writer = SealedWriter::create(place.clone())?;
    writer.section(Kind::TextBlocks, &vec![byte; 3_000_000])?;
    writer.begin(Kind::Strings)?;
    for _ in 0..200 {
        writer.write(&[byte; 20_001])?;
    }
    writer.section(Kind::Manifest, &[])?;
    writer.finish()
}

fn content(bytes: Vec<u8>) -> (u8, usize) {
    let reader = SealedReader::from_bytes(Bytes::from(bytes), ChecksumPolicy::Eager).unwrap();
    let section = reader.section(Kind::Strings, "the test").unwrap();
    (section.bytes()[0], section.len())
}

#[test]
fn a_failed_or_torn_write_leaves_the_old_file_or_the_new_one() {
    let place = FaultyPlace::new(None, None);
    write(&place, 1).unwrap();
    let old = place.published().unwrap();
    assert_eq!(content(old.clone()), (1, 200 * 20_001));
    let operations = {
        let place = FaultyPlace::new(None, None);
        write(&place, 2).unwrap();
        place.operations()
    };
    assert!(operations > 8, "the test should see several writes, not {operations}");
    for at in 0..operations {
        for fault in [Fault::Fail, Fault::Tear] {
            let place = FaultyPlace::new(Some(old.clone()), Some((at, fault)));
            assert!(write(&place, 2).is_err(), "operation {at} must report {fault:?}");
            let found = content(place.published().unwrap()).0;
            // Only the very last operation, the flush of the folder, comes after the new name is visible.
            assert_eq!(found, if at == operations - 1 { 2 } else { 1 });
        }
    }
}

#[test]
fn damaged_headers_are_refused_by_name() {
    let place = FaultyPlace::new(None, None);
    write(&place, 1).unwrap();
    let good = place.published().unwrap();
    let open = |bytes: Vec<u8>| SealedReader::from_bytes(Bytes::from(bytes), ChecksumPolicy::FirstTouch).map(drop);
    assert!(matches!(open(good[..4095].to_vec()), Err(Error::Truncated { .. })));
    assert!(matches!(open(good[..good.len() - 1].to_vec()), Err(Error::Truncated { .. })));
    assert!(matches!(open([&good[..], b"x"].concat()), Err(Error::Unsupported { .. })));
    assert!(matches!(open(b"PK".to_vec()), Err(Error::NotA2kb { .. })));
    assert!(matches!(open(Vec::new()), Err(Error::NotA2kb { .. })));
    for at in 0..64 + 3 * 32 {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        assert!(open(bytes).is_err(), "a flip at {at} must be seen");
    }
}
