//! Eight lanes with AVX-512.

use archmage::intrinsics::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_rol_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_epi64,
};
use archmage::{X64V4Token, arcane};

use super::{Permutation, ROUND_CONSTANTS, States, WORDS};

impl Permutation<8> for X64V4Token {
    fn permute(self, states: &mut States<8>) {
        permute(self, states);
    }
}

#[arcane]
fn permute(_processor: X64V4Token, states: &mut States<8>) {
    // No `map`: closures would not be compiled for this processor.
    let mut words = [_mm512_setzero_si512(); WORDS];
    for (word, state) in words.iter_mut().zip(&states.0) {
        *word = _mm512_loadu_si512(state);
    }
    for constant in ROUND_CONSTANTS {
        words = round(words, constant);
    }
    for (word, state) in words.iter().zip(&mut states.0) {
        _mm512_storeu_si512(state, *word);
    }
}

/// One round, with the step names of the standard: theta, rho and pi, chi, iota.
#[target_feature(enable = "avx512f")]
#[inline]
fn round(a: [__m512i; WORDS], constant: u64) -> [__m512i; WORDS] {
    macro_rules! xor3 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0x96>($a, $b, $c)
        };
    }
    macro_rules! column {
        ($x:literal) => {
            xor3!(xor3!(a[$x], a[$x + 5], a[$x + 10]), a[$x + 15], a[$x + 20])
        };
    }
    let columns = [column!(0), column!(1), column!(2), column!(3), column!(4)];
    macro_rules! moved {
        ($from:literal, $bits:literal) => {
            _mm512_rol_epi64::<$bits>(xor3!(
                a[$from],
                columns[($from + 4) % 5],
                _mm512_rol_epi64::<1>(columns[($from + 1) % 5])
            ))
        };
    }
    // a ^ (!b & c)
    macro_rules! chi {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0xd2>($a, $b, $c)
        };
    }
    macro_rules! row {
        ($($from:literal => $bits:literal),*) => {{
            let [a, b, c, d, e] = [$(moved!($from, $bits)),*];
            [chi!(a, b, c), chi!(b, c, d), chi!(c, d, e), chi!(d, e, a), chi!(e, a, b)]
        }};
    }
    let [[p0, p1, p2, p3, p4], [q0, q1, q2, q3, q4], [r0, r1, r2, r3, r4], [s0, s1, s2, s3, s4], [t0, t1, t2, t3, t4]] =
        rows!(row);
    let p0 = _mm512_xor_epi64(p0, _mm512_set1_epi64(constant.cast_signed()));
    [p0, p1, p2, p3, p4, q0, q1, q2, q3, q4, r0, r1, r2, r3, r4, s0, s1, s2, s3, s4, t0, t1, t2, t3, t4]
}
