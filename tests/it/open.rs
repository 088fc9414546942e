//! Opening reads one page, writes nothing, and takes no lock.

use super::{demo_bytes, root};
use a2kb::{ChecksumPolicy, Error, KnowledgeBase, Mode};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

#[cfg(unix)]
#[test]
fn a_read_only_file_in_a_read_only_folder_opens_from_many_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    std::fs::write(&path, demo_bytes()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let command = assert_cmd::cargo::cargo_bin("a2kb");
    let children: Vec<_> = (0..16)
        .map(|_| {
            std::process::Command::new(&command)
                .arg("ask")
                .arg(&path)
                .arg("Who designed the Velm Dam?")
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("Tobias Renn"));
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing was created beside the file");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn threads_share_one_reader() {
    let kb = KnowledgeBase::from_bytes(demo_bytes(), ChecksumPolicy::default()).unwrap();
    let expected = kb.search("lighthouse keeper").mode(Mode::Keyword).k(5).run().unwrap().hits;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(kb.search("lighthouse keeper").mode(Mode::Keyword).k(5).run().unwrap().hits, expected);
                }
            });
        }
    });
}

#[test]
fn errors_say_what_and_how_to_mend_it() {
    let missing = KnowledgeBase::open("/nowhere/kb.a2kb").unwrap_err().to_string();
    assert!(missing.contains("/nowhere/kb.a2kb") && missing.contains("No such file"), "{missing}");
    let other = KnowledgeBase::open(root().join("Cargo.toml")).unwrap_err();
    assert!(matches!(other, Error::NotA2kb { .. }) && other.to_string().contains("Builder"));
    let cut = KnowledgeBase::from_bytes(demo_bytes()[..5000].to_vec(), ChecksumPolicy::default()).unwrap_err();
    assert!(matches!(cut, Error::Truncated { .. }) && cut.to_string().contains("fetch it again"));
}

#[test]
fn damage_is_seen_on_first_touch_and_on_opening_if_asked() {
    let mut bytes = demo_bytes();
    let kb = KnowledgeBase::from_bytes(bytes.clone(), ChecksumPolicy::Never).unwrap();
    let section = kb.info().unwrap().sections.into_iter().find(|section| section.name == "POSTINGS").unwrap();
    bytes[section.offset as usize + 3] ^= 1;
    let lazy = KnowledgeBase::from_bytes(bytes.clone(), ChecksumPolicy::FirstTouch).unwrap();
    // What does not need the section still works.
    assert!(lazy.chunk(a2kb::ChunkId(0)).is_ok());
    let damaged = lazy.search("dam").mode(Mode::Keyword).k(3).run();
    assert!(matches!(damaged, Err(Error::Corrupt(corruption)) if corruption.section == "POSTINGS"));
    assert!(matches!(KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager), Err(Error::Corrupt(_))));
}

#[test]
fn a_range_of_a_larger_file_opens_and_answers_alike() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), demo_bytes());
    let (path, start) = (folder.path().join("archive"), 4097);
    let end = start + bytes.len() as u64;
    std::fs::write(&path, [&[0xA2; 4097], &bytes[..], &[0x5A; 333]].concat()).unwrap();
    let question = "Who designed the dam that feeds the river Tamba?";
    let expected = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap().ask(question).run().unwrap();
    let kb = KnowledgeBase::open_range(&path, start..end).unwrap();
    assert_eq!(kb.ask(question).run().unwrap().citations, expected.citations);
    kb.verify().unwrap();
    let open = |range| KnowledgeBase::open_range(&path, range).map(drop);
    assert!(matches!(open(start..end + 334), Err(Error::Invalid { .. })));
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = open(end..start);
    assert!(matches!(reversed, Err(Error::Invalid { what, .. }) if what.contains("archive")));
    assert!(matches!(open(start..end - 1), Err(Error::Truncated { .. })));
    assert!(matches!(open(start..start), Err(Error::NotA2kb { .. })));
    assert!(matches!(open(start - 1..end), Err(Error::NotA2kb { .. })));
    assert!(matches!(open(start..end + 1), Err(Error::Unsupported { .. })));
}

#[test]
fn bytes_of_the_program_open_without_a_copy() {
    let bytes: &'static [u8] = demo_bytes().leak();
    let kb = KnowledgeBase::from_static(bytes).unwrap();
    assert!(kb.ask("Who designed the Velm Dam?").run().unwrap().text.contains("Tobias Renn"));
    let reader = kb.snapshot().reader();
    for entry in reader.table().entries() {
        assert!(bytes.as_ptr_range().contains(&reader.entry_bytes(entry).unwrap().as_ptr()));
    }
    assert!(matches!(KnowledgeBase::from_static(b"PK"), Err(Error::NotA2kb { .. })));
}
