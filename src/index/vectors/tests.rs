use super::*;
use crate::base::distance::Instructions;
use crate::format::section::SectionBytes;
use proptest::prelude::*;

fn build(encoding: Encoding, rows: &[Vec<f32>], dimension: usize) -> Vec<u8> {
    let mut writer = VectorsWriter::new(encoding, dimension, tempfile::tempfile().unwrap());
    for row in rows {
        writer.push(&encode_vector(encoding, row)).unwrap();
    }
    let mut bytes = Vec::new();
    let mut seen = 0;
    writer
        .finish(
            |part| {
                bytes.extend_from_slice(part);
                Ok(())
            },
            |_| seen += 1,
        )
        .unwrap();
    assert_eq!(seen, rows.len());
    bytes
}

fn open(bytes: Vec<u8>) -> Result<Vectors, crate::base::error::ReadError> {
    Vectors::new(&SectionBytes::new("VECTORS", bytes.into()))
}

fn unit(row: &[f32]) -> Vec<f32> {
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-9);
    row.iter().map(|value| value / length).collect()
}

proptest! {
    #[test]
    fn rows_come_back_and_scans_equal_brute_force(
        rows in prop::collection::vec(prop::collection::vec(-1f32..1.0, 24), 1..60),
        query in prop::collection::vec(-1f32..1.0, 24),
    ) {
        for (encoding, error) in [(Encoding::I8, 0.005), (Encoding::F16, 0.001), (Encoding::F32, 1e-6)] {
            let vectors = open(build(encoding, &rows, 24)).unwrap();
            vectors.check_all(rows.len()).unwrap();
            for (index, row) in rows.iter().enumerate() {
                let stored = vectors.row(index).unwrap();
                prop_assert!(unit(row).iter().zip(&stored).all(|(a, b)| (a - b).abs() <= error));
            }
            let query = QueryVector::new(&unit(&query));
            let asked = (0..rows.len()).filter(|row| row % 3 != 1);
            let mut slow: Vec<(f32, usize)> =
                asked.map(|row| (vectors.product(&query, row).unwrap(), row)).collect();
            slow.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let fast = vectors.scan(&query, 5, Some(&|row| row % 3 != 1)).unwrap();
            let expected: Vec<u32> = slow.iter().take(5).map(|hit| hit.1 as u32).collect();
            prop_assert_eq!(fast.iter().map(|hit| hit.id).collect::<Vec<_>>(), expected);
            prop_assert_eq!(vectors.scan(&query, 9, None).unwrap(), vectors.scan(&query, 9, Some(&|_| true)).unwrap());
        }
    }

    #[test]
    fn damage_gives_errors_or_numbers(at in 0usize..400, value in any::<u8>(), cut in 0usize..400) {
        let mut bytes = build(Encoding::I8, &vec![vec![0.5; 16]; 12], 16);
        let place = at % bytes.len();
        bytes[place] = value;
        let cut_short = bytes[..cut.min(bytes.len())].to_vec();
        for bytes in [bytes, cut_short] {
            if let Ok(vectors) = open(bytes) {
                let _ = vectors.check_all(12);
                let _ = vectors.scan(&QueryVector::new(&[1.0; 16]), 3, None);
                let _ = vectors.quick_product(Instructions::best(), &QueryVector::new(&[1.0; 16]), 11);
                prop_assert!(vectors.row(1 << 30).is_err());
            }
        }
    }
}

#[test]
fn zeros_and_infinities_are_no_vector() {
    let rows = vec![vec![0.0; 8], vec![f32::INFINITY; 8], vec![f32::NAN; 8]];
    let vectors = open(build(Encoding::I8, &rows, 8)).unwrap();
    assert!((0..3).all(|row| vectors.row(row).unwrap().iter().all(|value| *value == 0.0)));
}
