use super::*;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn encoder() -> Encoder {
    Encoder::open(&root().join("assets/encoder/all-MiniLM-L6-v2.a2enc")).unwrap()
}

#[derive(serde::Deserialize)]
struct Probe {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

/// Texts, word pieces and vectors of the original weights, by `tools/quantise_encoder.py --probes`.
fn probes() -> Vec<Probe> {
    serde_json::from_str(&std::fs::read_to_string(root().join("tests/encoder/probes.json")).unwrap()).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn agrees_with_the_original_weights() {
    let (encoder, probes) = (encoder(), probes());
    let texts: Vec<&str> = probes.iter().map(|probe| probe.text.as_str()).collect();
    let vectors = encoder.encode(&texts, 1).unwrap();
    let mut sum = 0.0;
    for (probe, vector) in probes.iter().zip(vectors.chunks(encoder.dimension())) {
        assert_eq!(encoder.pieces(&probe.text).unwrap(), probe.ids, "{}", probe.text);
        let cosine = cosine(vector, &probe.vector);
        assert!(cosine > 0.98, "{cosine}: {}", probe.text);
        assert!((vector.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-5);
        sum += cosine;
    }
    let mean = sum / probes.len() as f32;
    println!("mean cosine to the original {mean}");
    assert!(mean > 0.99, "mean cosine {mean}");
}

#[test]
fn vectors_do_not_depend_on_threads_and_batches() {
    let encoder = encoder();
    let texts: Vec<String> = (0..40).map(|i| format!("Text {i} {}", "about the mill ".repeat(i * 7 % 23))).collect();
    let together = encoder.encode(&texts, 1).unwrap();
    for threads in [2, 5] {
        assert!(encoder.encode(&texts, threads).unwrap() == together, "{threads} threads");
    }
    let alone: Vec<f32> = texts.iter().flat_map(|text| encoder.encode(&[text], 1).unwrap()).collect();
    assert!(alone == together, "one by one");
    assert!(encoder.encode::<&str>(&[], 2).unwrap().is_empty());
}

#[test]
fn instruction_sets_agree_to_the_last_bit() {
    let encoder = encoder();
    let pieces = vec![encoder.pieces("The lighthouse was built in 1842.").unwrap(), encoder.pieces("x").unwrap()];
    let vectors = |instructions| {
        forward::forward_with(instructions, &encoder.weights, &pieces, &mut forward::Scratch::default()).unwrap()
    };
    let scalar = vectors(crate::base::distance::Instructions::SCALAR);
    for instructions in crate::base::distance::Instructions::available() {
        assert!(vectors(instructions) == scalar, "{instructions:?}");
    }
}

#[test]
fn long_and_odd_texts_are_cut() {
    let encoder = encoder();
    let long = encoder.pieces(&"word ".repeat(5000)).unwrap();
    assert_eq!((long.len(), long[0], long[255]), (256, 101, 102));
    assert_eq!(encoder.pieces("").unwrap(), [101, 102]);
    assert_eq!(encoder.pieces(&"x".repeat(101)).unwrap(), [101, 100, 102]);
    assert_eq!(encoder.encode(&["", "\u{0}\u{FFFD}"], 1).unwrap().len(), 2 * 384);
}

#[test]
fn damaged_encoders_give_errors_or_vectors() {
    let good = std::fs::read(root().join("assets/encoder/all-MiniLM-L6-v2.a2enc")).unwrap();
    for length in [0, 7, 8, 60, 4000, 1 << 20, good.len() - 1] {
        assert!(Encoder::from_bytes(good[..length].to_vec().into()).is_err(), "{length}");
    }
    for at in (0..4096).chain((0..good.len()).step_by(1 << 19)) {
        let mut bad = if at < 4096 { good[..200_000.min(good.len())].to_vec() } else { good.clone() };
        bad[at] ^= 0xFF;
        if let Ok(encoder) = Encoder::from_bytes(bad.into()) {
            let _ = encoder.encode(&["a lighthouse"], 1);
        }
    }
}
