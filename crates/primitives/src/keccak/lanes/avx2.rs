//! Four lanes with AVX2.

use archmage::intrinsics::x86_64::{
    __m256i, _mm256_andnot_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
};
use archmage::{X64V3Token, arcane};

use super::{Permutation, ROUND_CONSTANTS, States, WORDS};

impl Permutation<4> for X64V3Token {
    fn permute(self, states: &mut States<4>) {
        permute(self, states);
    }
}

#[arcane]
fn permute(_processor: X64V3Token, states: &mut States<4>) {
    // No `map`: closures would not be compiled for this processor.
    let mut words = [_mm256_setzero_si256(); WORDS];
    for (word, state) in words.iter_mut().zip(&states.0) {
        *word = _mm256_loadu_si256(state);
    }
    for constant in ROUND_CONSTANTS {
        words = round(words, constant);
    }
    for (word, state) in words.iter().zip(&mut states.0) {
        _mm256_storeu_si256(state, *word);
    }
}

/// One round, with the step names of the standard: theta, rho and pi, chi, iota.
#[target_feature(enable = "avx2")]
#[inline]
fn round(a: [__m256i; WORDS], constant: u64) -> [__m256i; WORDS] {
    macro_rules! xor {
        ($first:expr $(, $more:expr)*) => {{
            let sum = $first;
            $(let sum = _mm256_xor_si256(sum, $more);)*
            sum
        }};
    }
    macro_rules! rotate {
        ($a:expr, $bits:literal) => {{
            let word = $a;
            _mm256_or_si256(_mm256_slli_epi64::<$bits>(word), _mm256_srli_epi64::<{ 64 - $bits }>(word))
        }};
    }
    macro_rules! column {
        ($x:literal) => {
            xor!(a[$x], a[$x + 5], a[$x + 10], a[$x + 15], a[$x + 20])
        };
    }
    let columns = [column!(0), column!(1), column!(2), column!(3), column!(4)];
    macro_rules! difference {
        ($x:literal) => {
            xor!(columns[($x + 4) % 5], rotate!(columns[($x + 1) % 5], 1))
        };
    }
    let differences = [difference!(0), difference!(1), difference!(2), difference!(3), difference!(4)];
    // a ^ (!b & c)
    macro_rules! chi {
        ($a:expr, $b:expr, $c:expr) => {
            xor!($a, _mm256_andnot_si256($b, $c))
        };
    }
    macro_rules! row {
        ($($from:literal => $bits:literal),*) => {{
            let [a, b, c, d, e] = [$(rotate!(xor!(a[$from], differences[$from % 5]), $bits)),*];
            [chi!(a, b, c), chi!(b, c, d), chi!(c, d, e), chi!(d, e, a), chi!(e, a, b)]
        }};
    }
    let [[p0, p1, p2, p3, p4], [q0, q1, q2, q3, q4], [r0, r1, r2, r3, r4], [s0, s1, s2, s3, s4], [t0, t1, t2, t3, t4]] =
        rows!(row);
    let p0 = xor!(p0, _mm256_set1_epi64x(constant.cast_signed()));
    [p0, p1, p2, p3, p4, q0, q1, q2, q3, q4, r0, r1, r2, r3, r4, s0, s1, s2, s3, s4, t0, t1, t2, t3, t4]
}
