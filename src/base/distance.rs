//! Give me vectors of small integers, I give you their products, with the best instructions of the machine. One of
//! the two files with `unsafe`.
//!
//! All variants give the same integers as the scalar ones, bit by bit. Code on f32 is written once in plain Rust and
//! compiled for several instruction sets ([`vectorised`]); without contraction the results are the same too.
#![allow(unsafe_code)]

/// Outputs of one block of a packed matrix.
pub const BLOCK_OUTPUTS: usize = 16;
/// Inputs that lie together for each output of a block.
pub const GROUP_INPUTS: usize = 4;
const GROUP_BYTES: usize = BLOCK_OUTPUTS * GROUP_INPUTS;

/// A set of instructions that this machine was seen to have. Only the detection makes one, because safe functions run
/// what it names: a set that the machine lacks must not be expressible.
///
/// ```
/// use a2kb::internals::base::distance::{Instructions, dot_i8};
/// assert!(Instructions::available().all(|instructions| dot_i8(instructions, &[2, 3], &[5, 255]) == 7));
/// ```
///
/// ```compile_fail
/// let undetected = a2kb::internals::base::distance::Instructions::Avx512Vnni;
/// ```
///
/// ```compile_fail
/// use a2kb::internals::base::distance::Instructions;
/// let undetected = |instructions: Instructions| Instructions(instructions.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Set);

/// What kernels are written for, best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Set {
    /// What every machine has.
    Scalar,
    /// 128-bit integer instructions of ARM.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// 256-bit integer instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit instructions with dot products of bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Instructions {
    /// What every machine has: the reference that the others must equal.
    pub const SCALAR: Self = Instructions(Set::Scalar);

    /// The best of this machine. The standard library remembers what it found.
    #[inline]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::SCALAR)
    }

    /// All that this machine has, best last.
    #[inline]
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [
            (Set::Scalar, true),
            (Set::Avx2, is_x86_feature_detected!("avx2")),
            (
                Set::Avx512Vnni,
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vnni")
                    && is_x86_feature_detected!("avx2"),
            ),
        ];
        #[cfg(target_arch = "aarch64")]
        let found = [(Set::Scalar, true), (Set::Neon, std::arch::is_aarch64_feature_detected!("neon"))];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let found = [(Set::Scalar, true)];
        found.into_iter().filter_map(|(set, there)| there.then_some(Instructions(set)))
    }
}

/// A computation that is compiled for each instruction set.
pub trait Kernel {
    /// What it gives.
    type Output;
    /// Does it. Implementations are marked `#[inline(always)]`, and so is what they call.
    fn run(self) -> Self::Output;
}

/// Runs plain Rust code compiled for the best instructions of the machine.
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if Instructions::best().0 >= Set::Avx2 {
        // SAFETY: the machine was just seen to have the feature.
        return unsafe { with_avx2(kernel) };
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Products of `rows` (`inputs` bytes each, at most 127) with one block of a packed matrix: the 16 outputs of each
/// row.
///
/// `block` holds `inputs` / 4 groups of 16 x 4 weights; `inputs` is a multiple of 4 and at most 65536, so that no sum
/// overflows.
pub fn multiply_block(instructions: Instructions, rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
    assert!(inputs.is_multiple_of(GROUP_INPUTS) && inputs > 0 && inputs <= 65_536, "the row length");
    assert!(rows.len() == inputs * out.len() && block.len() == inputs * BLOCK_OUTPUTS, "the matrix");
    match instructions.0 {
        Set::Scalar => multiply_block_scalar(rows, inputs, block, out),
        // SAFETY: only `Instructions::available` makes this value, having seen the features; lengths were checked
        // above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { x86::multiply_block_avx2(rows, inputs, block, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512Vnni => unsafe { x86::multiply_block_vnni(rows, inputs, block, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        Set::Neon => unsafe { arm::multiply_block_neon(rows, inputs, block, out) },
    }
}

fn multiply_block_scalar(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
    for (row, sums) in rows.chunks_exact(inputs).zip(out) {
        *sums = [0; 16];
        for (values, weights) in row.chunks_exact(GROUP_INPUTS).zip(block.chunks_exact(GROUP_BYTES)) {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks_exact(GROUP_INPUTS)) {
                for (&value, &weight) in values.iter().zip(weights) {
                    *sum += i32::from(value) * i32::from(weight as i8);
                }
            }
        }
    }
}

/// Dot product of two vectors of i8, given as bytes, of the same length up to 65536.
#[inline]
pub fn dot_i8(instructions: Instructions, a: &[u8], b: &[u8]) -> i32 {
    assert!(a.len() == b.len() && a.len() <= 65_536, "vectors of one length");
    match instructions.0 {
        Set::Scalar => dot_i8_scalar(a, b),
        // SAFETY: as in `multiply_block`.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512Vnni => unsafe { x86::dot_i8_avx2(a, b) },
        // SAFETY: as in `multiply_block`.
        #[cfg(target_arch = "aarch64")]
        Set::Neon => unsafe { arm::dot_i8_neon(a, b) },
    }
}

/// Calls `each` with the number of every row of `rows` and its dot product with `query`, whose length is that of a
/// row.
#[inline]
pub fn for_each_dot_i8(instructions: Instructions, rows: &[u8], query: &[u8], each: impl FnMut(usize, i32)) {
    assert!(!query.is_empty() && query.len() <= 65_536, "a vector");
    match instructions.0 {
        // SAFETY: as in `multiply_block`.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512Vnni => unsafe { x86::for_each_dot_i8_avx2(rows, query, each) },
        _ => rows
            .chunks_exact(query.len())
            .map(|row| dot_i8(instructions, row, query))
            .enumerate()
            .for_each(spread(each)),
    }
}

fn spread(mut each: impl FnMut(usize, i32)) -> impl FnMut((usize, i32)) {
    move |(row, product)| each(row, product)
}

/// Dot product of a vector of f32 and one of i8, given as bytes, of the same length.
pub fn dot_f32_i8(a: &[f32], b: &[u8]) -> f32 {
    struct Dot<'a>(&'a [f32], &'a [u8]);
    impl Kernel for Dot<'_> {
        type Output = f32;
        #[inline(always)]
        fn run(self) -> f32 {
            let (a, a_rest) = self.0.as_chunks::<8>();
            let (b, b_rest) = self.1.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for (a, b) in a.iter().zip(b) {
                for lane in 0..8 {
                    sums[lane] += a[lane] * f32::from(b[lane] as i8);
                }
            }
            a_rest.iter().zip(b_rest).fold(add_lanes(sums), |sum, (a, &b)| sum + a * f32::from(b as i8))
        }
    }
    vectorised(Dot(a, b))
}

fn dot_i8_scalar(a: &[u8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a as i8) * i32::from(b as i8)).sum()
}

/// Dot product of two vectors of f32 of the same length: eight sums, each in order, then added in pairs.
pub fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    struct Dot<'a>(&'a [f32], &'a [f32]);
    impl Kernel for Dot<'_> {
        type Output = f32;
        #[inline(always)]
        fn run(self) -> f32 {
            let (a, a_rest) = self.0.as_chunks::<8>();
            let (b, b_rest) = self.1.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for (a, b) in a.iter().zip(b) {
                for lane in 0..8 {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            a_rest.iter().zip(b_rest).fold(add_lanes(sums), |sum, (a, b)| sum + a * b)
        }
    }
    vectorised(Dot(a, b))
}

/// The sum of eight lanes, in pairs.
#[inline(always)]
pub fn add_lanes(sums: [f32; 8]) -> f32 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK_OUTPUTS, GROUP_BYTES, GROUP_INPUTS};
    use std::arch::x86_64::*;

    /// Rows that are multiplied together: their sums fill the registers.
    const TILE_AVX2: usize = 6;
    const TILE_VNNI: usize = 12;

    #[target_feature(enable = "avx2")]
    pub(super) fn multiply_block_avx2(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
        for (rows, out) in rows.chunks(inputs * TILE_AVX2).zip(out.chunks_mut(TILE_AVX2)) {
            match out.len() {
                6 => tile_avx2::<6>(rows, inputs, block, out),
                5 => tile_avx2::<5>(rows, inputs, block, out),
                4 => tile_avx2::<4>(rows, inputs, block, out),
                3 => tile_avx2::<3>(rows, inputs, block, out),
                2 => tile_avx2::<2>(rows, inputs, block, out),
                _ => tile_avx2::<1>(rows, inputs, block, out),
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn tile_avx2<const R: usize>(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
        assert!(rows.len() == R * inputs && out.len() == R && block.len() == inputs * BLOCK_OUTPUTS);
        let ones = _mm256_set1_epi16(1);
        let mut sums = [[_mm256_setzero_si256(); 2]; R];
        for group in 0..inputs / GROUP_INPUTS {
            // SAFETY: a group has 64 bytes and `block` has inputs / 4 groups; loads need no alignment.
            let weights = unsafe {
                let at = block.as_ptr().add(group * GROUP_BYTES);
                [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(32).cast())]
            };
            for (row, sums) in sums.iter_mut().enumerate() {
                // SAFETY: row < R and group < inputs / 4, so the four bytes lie in `rows`.
                let values =
                    unsafe { rows.as_ptr().add(row * inputs + group * GROUP_INPUTS).cast::<i32>().read_unaligned() };
                let values = _mm256_set1_epi32(values);
                for half in 0..2 {
                    // Values of 7 bits and weights above -128: two products fit 16 bits.
                    let pairs = _mm256_maddubs_epi16(values, weights[half]);
                    sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (sums, out) in sums.iter().zip(out) {
            // SAFETY: `out` is sixteen i32, two times 32 bytes.
            unsafe {
                _mm256_storeu_si256(out.as_mut_ptr().cast(), sums[0]);
                _mm256_storeu_si256(out.as_mut_ptr().add(8).cast(), sums[1]);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
    pub(super) fn multiply_block_vnni(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
        for (rows, out) in rows.chunks(inputs * TILE_VNNI).zip(out.chunks_mut(TILE_VNNI)) {
            if out.len() == TILE_VNNI {
                tile_vnni::<TILE_VNNI>(rows, inputs, block, out);
                continue;
            }
            for (rows, out) in rows.chunks(inputs * 4).zip(out.chunks_mut(4)) {
                match out.len() {
                    4 => tile_vnni::<4>(rows, inputs, block, out),
                    3 => tile_vnni::<3>(rows, inputs, block, out),
                    2 => tile_vnni::<2>(rows, inputs, block, out),
                    _ => tile_vnni::<1>(rows, inputs, block, out),
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
    fn tile_vnni<const R: usize>(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
        assert!(rows.len() == R * inputs && out.len() == R && block.len() == inputs * BLOCK_OUTPUTS);
        let mut sums = [_mm512_setzero_si512(); R];
        for group in 0..inputs / GROUP_INPUTS {
            // SAFETY: a group has 64 bytes and `block` has inputs / 4 groups; loads need no alignment.
            let weights = unsafe { _mm512_loadu_si512(block.as_ptr().add(group * GROUP_BYTES).cast()) };
            for (row, sum) in sums.iter_mut().enumerate() {
                // SAFETY: row < R and group < inputs / 4, so the four bytes lie in `rows`.
                let values =
                    unsafe { rows.as_ptr().add(row * inputs + group * GROUP_INPUTS).cast::<i32>().read_unaligned() };
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(values), weights);
            }
        }
        for (sum, out) in sums.iter().zip(out) {
            // SAFETY: `out` is sixteen i32, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), *sum) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn for_each_dot_i8_avx2(rows: &[u8], query: &[u8], mut each: impl FnMut(usize, i32)) {
        for (number, row) in rows.chunks_exact(query.len()).enumerate() {
            each(number, dot_i8_avx2(row, query));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn dot_i8_avx2(a: &[u8], b: &[u8]) -> i32 {
        assert!(a.len() == b.len());
        let mut sums = [_mm256_setzero_si256(); 2];
        let (pieces, rest) = a.as_chunks::<32>();
        for (index, piece) in pieces.iter().enumerate() {
            // Two sums, so that additions do not wait for one another.
            for (half, sum) in sums.iter_mut().enumerate() {
                // SAFETY: both vectors have at least (index + 1) * 32 bytes.
                let (a, b) = unsafe {
                    (
                        _mm_loadu_si128(piece.as_ptr().add(half * 16).cast()),
                        _mm_loadu_si128(b.as_ptr().add(index * 32 + half * 16).cast()),
                    )
                };
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(a), _mm256_cvtepi8_epi16(b));
                *sum = _mm256_add_epi32(*sum, products);
            }
        }
        let mut lanes = [0i32; 8];
        // SAFETY: eight i32 are 32 bytes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), _mm256_add_epi32(sums[0], sums[1])) };
        lanes.iter().sum::<i32>() + super::dot_i8_scalar(rest, &b[b.len() - rest.len()..])
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{BLOCK_OUTPUTS, GROUP_BYTES, GROUP_INPUTS};
    use std::arch::aarch64::*;

    #[target_feature(enable = "neon")]
    pub(super) fn multiply_block_neon(rows: &[u8], inputs: usize, block: &[u8], out: &mut [[i32; 16]]) {
        assert!(rows.len() == inputs * out.len() && block.len() == inputs * BLOCK_OUTPUTS);
        for (row, out) in rows.chunks_exact(inputs).zip(out) {
            // Sums of the outputs in order, two lanes for each pair of inputs.
            let mut sums = [vdupq_n_s32(0); 8];
            for group in 0..inputs / GROUP_INPUTS {
                // SAFETY: the four bytes lie in `row`. Values are at most 127, so they are i8 as well.
                let values = unsafe { row.as_ptr().add(group * GROUP_INPUTS).cast::<u32>().read_unaligned() };
                let values = vreinterpret_s8_u32(vdup_n_u32(values));
                for (pair, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: a group has 64 bytes, eight for each pair of outputs, and `block` has inputs / 4 groups.
                    let weights = unsafe { vld1_s8(block.as_ptr().add(group * GROUP_BYTES + pair * 8).cast()) };
                    *sum = vpadalq_s16(*sum, vmull_s8(values, weights));
                }
            }
            for (pair, sum) in sums.iter().enumerate() {
                let both = vpadd_s32(vget_low_s32(*sum), vget_high_s32(*sum));
                out[pair * 2] = vget_lane_s32::<0>(both);
                out[pair * 2 + 1] = vget_lane_s32::<1>(both);
            }
        }
    }

    #[target_feature(enable = "neon")]
    pub(super) fn dot_i8_neon(a: &[u8], b: &[u8]) -> i32 {
        let mut sums = vdupq_n_s32(0);
        let (pieces, rest) = a.as_chunks::<8>();
        for (index, piece) in pieces.iter().enumerate() {
            // SAFETY: both vectors have at least (index + 1) * 8 bytes.
            let (a, b) = unsafe { (vld1_s8(piece.as_ptr().cast()), vld1_s8(b.as_ptr().add(index * 8).cast())) };
            sums = vpadalq_s16(sums, vmull_s8(a, b));
        }
        vaddvq_s32(sums) + super::dot_i8_scalar(rest, &b[b.len() - rest.len()..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_variant_equals_the_scalar_product(
            groups in 1usize..40,
            count in 1usize..30,
            seed in any::<u64>(),
            extreme in any::<bool>(),
        ) {
            let mut state = seed;
            let mut random = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as u8
            };
            let inputs = groups * GROUP_INPUTS;
            let rows: Vec<u8> = (0..inputs * count).map(|_| if extreme { 127 } else { random() & 127 }).collect();
            let weight = |value: u8| if extreme || value == 128 { 127 } else { value };
            let block: Vec<u8> = (0..inputs * BLOCK_OUTPUTS).map(|_| weight(random())).collect();
            let mut expected = vec![[0; 16]; count];
            multiply_block_scalar(&rows, inputs, &block, &mut expected);
            for instructions in Instructions::available() {
                let mut out = vec![[1; 16]; count];
                multiply_block(instructions, &rows, inputs, &block, &mut out);
                assert_eq!(out, expected, "{instructions:?}");
            }
        }

        #[test]
        fn every_dot_product_equals_the_scalar_one(pairs in prop::collection::vec(any::<(u8, u8)>(), 0..200)) {
            let (a, b): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            for instructions in Instructions::available() {
                assert_eq!(dot_i8(instructions, &a, &b), dot_i8_scalar(&a, &b), "{instructions:?}");
                if !b.is_empty() {
                    let (twice, mut seen) = ([a.clone(), b.clone()].concat(), Vec::new());
                    for_each_dot_i8(instructions, &twice, &b, |row, product| seen.push((row, product)));
                    assert_eq!(seen, [(0, dot_i8_scalar(&a, &b)), (1, dot_i8_scalar(&b, &b))]);
                }
            }
            let floats: Vec<f32> = a.iter().map(|&a| f32::from(a as i8)).collect();
            assert_eq!(dot_f32_i8(&floats, &b), dot_i8_scalar(&a, &b) as f32);
        }

        #[test]
        fn f32_products_are_close_to_f64(pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 0..500)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let exact: f64 = pairs.iter().map(|&(a, b)| f64::from(a) * f64::from(b)).sum();
            assert!((f64::from(dot_f32(&a, &b)) - exact).abs() < 1e-4);
        }
    }
}
