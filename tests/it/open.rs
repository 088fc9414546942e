//! Opening reads one page, writes nothing, and takes no lock.

use super::{demo_bytes, root};
use a2kb::{ChecksumPolicy, Error, KnowledgeBase, Mode};
use std::os::unix::fs::PermissionsExt;

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
    assert!(matches!(other, Error::NotA2kb { .. }) && other.to_string().contains("a2kb build"));
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
    assert!(
        matches!(lazy.search("dam").mode(Mode::Keyword).k(3).run(), Err(Error::Corrupt(corruption)) if corruption.section == "POSTINGS")
    );
    assert!(matches!(KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager), Err(Error::Corrupt(_))));
}
