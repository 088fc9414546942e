//! Give me rows of f32, I give you the functions between the products: layer norm, GELU, softmax, quantising.
//!
//! Everything works on lanes of fixed width in a fixed order, so that all instruction sets give the same bits.

use crate::base::distance::add_lanes;

/// Adding it to a small f32 leaves the nearest integer in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// A row as values of 7 bits: value = least + scale * quantised.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowScale {
    pub(super) least: f32,
    pub(super) scale: f32,
}

/// Quantises a row, whose length is a multiple of 8.
#[inline(always)]
pub(super) fn quantise(row: &[f32], out: &mut [u8]) -> RowScale {
    let (mut least, mut greatest) = ([f32::MAX; 8], [f32::MIN; 8]);
    for values in row.as_chunks::<8>().0 {
        for lane in 0..8 {
            least[lane] = if values[lane] < least[lane] { values[lane] } else { least[lane] };
            greatest[lane] = if values[lane] > greatest[lane] { values[lane] } else { greatest[lane] };
        }
    }
    let least = least.into_iter().fold(f32::MAX, f32::min);
    let greatest = greatest.into_iter().fold(f32::MIN, f32::max);
    let scale = (greatest - least) / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    for (values, out) in row.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<8>().0) {
        for lane in 0..8 {
            out[lane] = (((values[lane] - least) * inverse + ROUNDER).to_bits() & 127) as u8;
        }
    }
    RowScale { least, scale }
}

/// Brings a row to mean 0 and variance 1, then scales by gamma and adds beta.
#[inline(always)]
pub(super) fn layer_norm(row: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) {
    let count = row.len() as f32;
    let mut sums = [0.0f32; 8];
    for values in row.as_chunks::<8>().0 {
        for lane in 0..8 {
            sums[lane] += values[lane];
        }
    }
    let mean = add_lanes(sums) / count;
    let mut squares = [0.0f32; 8];
    for values in row.as_chunks::<8>().0 {
        for lane in 0..8 {
            let distance = values[lane] - mean;
            squares[lane] += distance * distance;
        }
    }
    let factor = 1.0 / (add_lanes(squares) / count + epsilon).sqrt();
    for ((value, gamma), beta) in row.iter_mut().zip(gamma).zip(beta) {
        *value = (*value - mean) * factor * gamma + beta;
    }
}

/// The Gaussian error linear unit, x * (1 + erf(x / sqrt 2)) / 2, with erf as a quotient of polynomials that is
/// within 3e-7 of it.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let z = if z < -4.0 { -4.0 } else { z };
    let z = if z > 4.0 { 4.0 } else { z };
    let square = z * z;
    let over = [2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906e-4, -2.954_6e-3, -1.609_603_3e-2f32];
    let under = [-2.133_740_5e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2f32];
    let over = over.iter().fold(-2.726_142_3e-10, |sum, term| sum * square + term);
    let under = under.iter().fold(-1.456_607_2e-5, |sum, term| sum * square + term);
    0.5 * x * (1.0 + z * over / under)
}

/// e to the x for x of at most 0.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    // ln 2 in two parts, so that the rest is exact.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let terms = [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5f32];
    let series = terms.iter().fold(1.987_569_1e-4, |sum, term| sum * rest + term) * rest * rest + rest + 1.0;
    let power = f32::from_bits((shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127)) << 23);
    series * power
}

/// Turns scores into shares that sum to 1.
#[inline(always)]
pub(super) fn softmax(scores: &mut [f32]) {
    let greatest = scores.iter().fold(f32::MIN, |most, &score| if score > most { score } else { most });
    scores.iter_mut().for_each(|score| *score = exp(*score - greatest));
    let (lanes, rest) = scores.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for values in lanes {
        for lane in 0..8 {
            sums[lane] += values[lane];
        }
    }
    let total = rest.iter().fold(add_lanes(sums), |sum, value| sum + value);
    let inverse = 1.0 / total;
    scores.iter_mut().for_each(|score| *score *= inverse);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_and_exp_are_close() {
        // erf by its series in f64.
        let erf = |x: f64| {
            let (mut sum, mut term) = (x, x);
            for n in 1..200 {
                term *= -x * x / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            sum * 2.0 / std::f64::consts::PI.sqrt()
        };
        for step in -500i32..=500 {
            let x = step as f32 / 100.0;
            let exact = 0.5 * f64::from(x) * (1.0 + erf(f64::from(x) / 2f64.sqrt()));
            assert!((f64::from(gelu(x)) - exact).abs() < 4e-6, "gelu {x}: {} {exact}", gelu(x));
            let x = -(step.unsigned_abs() as f32) / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-6, "exp {x}");
        }
    }

    #[test]
    fn quantising_stays_within_half_a_step() {
        let row: Vec<f32> = (0..64).map(|i| ((i * 37 % 64) as f32 - 20.0) / 7.0).collect();
        let mut out = vec![0; 64];
        let scale = quantise(&row, &mut out);
        for (value, &quantised) in row.iter().zip(&out) {
            assert!((scale.least + scale.scale * f32::from(quantised) - value).abs() <= scale.scale * 0.501);
        }
        assert_eq!((out.iter().min(), out.iter().max()), (Some(&0), Some(&127)));
        assert_eq!(quantise(&[2.0; 8], &mut [9; 8]).scale, 0.0);
    }

    #[test]
    fn softmax_and_norm_are_what_they_say() {
        let mut shares = vec![1.0, 2.0, 3.0, -100.0, 0.0, 0.5, 0.25, 0.125, 9.0];
        softmax(&mut shares);
        assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-6 && shares[8] > 0.99 && shares[3] >= 0.0);
        let mut row: Vec<f32> = (0..16).map(|i| i as f32).collect();
        layer_norm(&mut row, &[1.0; 16], &[0.5; 16], 1e-12);
        assert!((row.iter().sum::<f32>() / 16.0 - 0.5).abs() < 1e-6);
        assert!((row[15] - 0.5 - 7.5 / 21.25f32.sqrt()).abs() < 1e-5);
    }
}
