//! Crash tests go through the backend: every operation fails or tears in turn.

use super::faulty_place::{Fault, FaultyPlace};
use a2kb::Error;
use a2kb::internals::format::kind::Kind;
use a2kb::internals::storage::backend::Place;
use a2kb::internals::storage::file::FilePlace;
use a2kb::internals::storage::memory::MemoryPlace;
use a2kb::internals::storage::sealed_reader::{ChecksumPolicy, SealedReader};
use a2kb::internals::storage::sealed_writer::SealedWriter;
use bytes::Bytes;
use std::io;

fn write(place: impl Place, byte: u8) -> io::Result<u64> {
    let mut writer = SealedWriter::create(place)?;
    writer.section(Kind::TextBlocks, &vec![byte; 3_000_000])?;
    writer.begin(Kind::Strings)?;
    for _ in 0..200 {
        writer.write(&[byte; 20_001])?;
    }
    writer.section(Kind::Manifest, &[])?;
    writer.finish()
}

fn in_memory(byte: u8) -> Vec<u8> {
    let place = MemoryPlace::default();
    write(place.clone(), byte).unwrap();
    place.take().unwrap()
}

fn content(bytes: Vec<u8>) -> (u8, usize) {
    let reader = SealedReader::from_bytes(Bytes::from(bytes), ChecksumPolicy::Eager).unwrap();
    let section = reader.section(Kind::Strings, "the test").unwrap();
    (section.bytes()[0], section.len())
}

/// Writes 2 over 1 in a place that breaks at each operation in turn, and asks `found` what the place then holds.
fn break_everywhere<P: Place + Clone>(place_with_one: impl Fn() -> P, found: impl Fn(&P) -> u8) {
    let counting = FaultyPlace::new(place_with_one(), None);
    write(counting.clone(), 2).unwrap();
    let operations = counting.operations();
    assert!(operations > 8, "the test should see several writes, not {operations}");
    for at in 0..operations {
        for fault in [Fault::Fail, Fault::Tear] {
            let place = place_with_one();
            let failed = write(FaultyPlace::new(place.clone(), Some((at, fault))), 2);
            assert!(failed.is_err(), "operation {at} must report {fault:?}");
            // Only the very last operation, the flush of the folder, comes after the new name is visible.
            assert_eq!(found(&place), if at == operations - 1 { 2 } else { 1 });
        }
    }
}

#[test]
fn a_failed_or_torn_write_leaves_the_old_file_or_the_new_one() {
    assert_eq!(content(in_memory(1)), (1, 200 * 20_001));
    let place_with_one = || {
        let place = MemoryPlace::default();
        write(place.clone(), 1).unwrap();
        place
    };
    break_everywhere(place_with_one, |place| content(place.take().unwrap()).0);
}

#[test]
fn a_failed_or_torn_write_on_disk_leaves_the_old_file_or_the_new_one_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    let old = in_memory(1);
    let place_with_one = || {
        std::fs::write(&path, &old).unwrap();
        FilePlace::new(&path)
    };
    break_everywhere(place_with_one, |_| {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        content(std::fs::read(&path).unwrap()).0
    });
}

#[test]
fn a_file_on_disk_has_the_bytes_of_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    write(FilePlace::new(&path), 7).unwrap();
    assert!(std::fs::read(&path).unwrap() == in_memory(7));
}

#[test]
fn damaged_headers_are_refused_by_name() {
    let good = in_memory(1);
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
