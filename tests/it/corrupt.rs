//! Any bytes whatever give a typed error or an answer: never a panic, a hang, or wrong text.

use super::{demo_bytes, dump::dump, root};
use a2kb::{ChecksumPolicy, Corruption, Error, KnowledgeBase, Mode};

/// Uses everything a reader can use; what fails must fail with an error.
fn exercise(bytes: Vec<u8>, policy: ChecksumPolicy) -> Result<Vec<String>, Error> {
    let kb = KnowledgeBase::from_bytes(bytes, policy)?;
    let mut seen = Vec::new();
    let mut note = |result: Result<String, Error>| seen.push(result.unwrap_or_else(|error| format!("error: {error}")));
    note(kb.ask("Where was the designer of the Velm Dam born?").run().map(|answer| answer.text));
    for (query, mode) in [
        ("velm \"river osk\" da* hlacyon~2", Mode::Keyword),
        ("the velm", Mode::Exact),
        ("Who designed the Velm Dam?", Mode::Graph),
        ("the dam", Mode::Semantic),
        ("the dam", Mode::Hybrid),
    ] {
        note(kb.search(query).mode(mode).k(5).run().map(|hits| format!("{hits:?}")));
    }
    note(kb.chunk(a2kb::ChunkId(0)).map(|chunk| chunk.text));
    note(kb.chunk(a2kb::ChunkId(20)).map(|chunk| chunk.text));
    note(kb.info().map(|info| format!("{info:?}")));
    Ok(seen)
}

fn is_error(text: &str) -> bool {
    text.starts_with("error: ")
}

#[test]
fn every_flip_and_cut_of_the_smallest_file() {
    flip_and_cut("smallest");
}

#[test]
fn every_flip_and_cut_of_a_file_with_vectors() {
    flip_and_cut("vectors");
}

fn flip_and_cut(name: &str) {
    let good = std::fs::read(root().join("tests/golden/v1").join(name).with_extension("a2kb")).unwrap();
    let expected = dump(&KnowledgeBase::from_bytes(good.clone(), ChecksumPolicy::Eager).unwrap()).unwrap();
    let calm = exercise(good.clone(), ChecksumPolicy::FirstTouch).unwrap();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        // With checksums: the same answer or an error, never another answer.
        if let Ok(kb) = KnowledgeBase::from_bytes(bytes.clone(), ChecksumPolicy::FirstTouch)
            && let Ok(got) = dump(&kb)
        {
            assert!(got == expected, "a flip at {at} gives another answer");
        }
        // Without: any answer or error.
        if let Ok(seen) = exercise(bytes, ChecksumPolicy::Never) {
            assert_eq!(seen.len(), calm.len());
        }
    }
    for length in 0..good.len() {
        assert!(exercise(good[..length].to_vec(), ChecksumPolicy::Never).is_err(), "a cut at {length} must be seen");
    }
}

#[test]
fn ten_thousand_random_mutations_of_the_demo() {
    let good = demo_bytes();
    let calm = exercise(good.clone(), ChecksumPolicy::FirstTouch).unwrap();
    let mut state = 0x5EED_u64;
    let mut random = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    for round in 0..10_000 {
        let mut bytes = good.clone();
        for _ in 0..=random(4) {
            // The header is mostly refused at once: mutate what lies behind it.
            let at = if random(20) == 0 { random(4096) } else { 4096 + random(good.len() - 4096) };
            bytes[at] = if random(2) == 0 { random(256) as u8 } else { [0, 1, 0x7F, 0x80, 0xFF][random(5)] };
        }
        let policy = if round % 10 == 0 { ChecksumPolicy::FirstTouch } else { ChecksumPolicy::Never };
        let Ok(seen) = exercise(bytes, policy) else { continue };
        if policy == ChecksumPolicy::FirstTouch {
            for (got, expected) in seen.iter().zip(&calm) {
                assert!(is_error(got) || got == expected, "round {round} gives another answer");
            }
        }
    }
}

/// Files in tests/corrupt are refused with the reason they are named after.
#[test]
fn named_malformations_are_refused() {
    let good = std::fs::read(root().join("tests/golden/v1/smallest.a2kb")).unwrap();
    for (name, change) in malformations() {
        let path = root().join("tests/corrupt").join(format!("{name}.a2kb"));
        if std::env::var_os("A2KB_MAKE_GOLDEN").is_some() && !path.exists() {
            let mut bytes = good.clone();
            change(&mut bytes);
            std::fs::write(&path, bytes).unwrap();
        }
        let error = KnowledgeBase::open(&path).and_then(|kb| kb.verify()).expect_err(name);
        let found = match error {
            Error::NotA2kb { .. } => "not-a2kb".to_owned(),
            Error::Truncated { .. } => "truncated".to_owned(),
            Error::Unsupported { what } if what.contains("version") => "unsupported-major".to_owned(),
            Error::Unsupported { what } if what.contains("features") => "unsupported-feature".to_owned(),
            Error::Unsupported { what } if what.contains("kind") => "unsupported-kind".to_owned(),
            Error::Unsupported { what } if what.contains("live region") => "live-region".to_owned(),
            Error::Corrupt(Corruption { section, .. }) => format!("corrupt-{}", section.to_lowercase()),
            other => panic!("{name}: {other}"),
        };
        assert_eq!(found, name);
    }
}

type Change = fn(&mut Vec<u8>);

fn malformations() -> Vec<(&'static str, Change)> {
    fn reseal(bytes: &mut [u8]) {
        let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let table = a2kb::internals::format::checksum::checksum(&bytes[64..64 + count * 32]);
        bytes[40..44].copy_from_slice(&table.to_le_bytes());
        let header = a2kb::internals::format::checksum::checksum(&bytes[..60]);
        bytes[60..64].copy_from_slice(&header.to_le_bytes());
    }
    vec![
        ("not-a2kb", |bytes| bytes[0] = b'P'),
        ("truncated", |bytes| bytes.truncate(5000)),
        ("live-region", |bytes| bytes.extend_from_slice(b"more")),
        ("unsupported-major", |bytes| {
            bytes[8] = 2;
            reseal(bytes);
        }),
        ("unsupported-feature", |bytes| {
            bytes[16] = 1;
            reseal(bytes);
        }),
        ("unsupported-kind", |bytes| {
            let last = 64 + 24 * 32;
            bytes[last..last + 2].copy_from_slice(&999u16.to_le_bytes());
            reseal(bytes);
        }),
        ("corrupt-header", |bytes| bytes[20] = 9),
        ("corrupt-strings", |bytes| {
            let offset = u64::from_le_bytes(bytes[64 + 32 + 8..64 + 32 + 16].try_into().unwrap()) as usize;
            bytes[offset] ^= 0xFF;
        }),
    ]
}
