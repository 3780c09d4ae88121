//! Eight elements of the field of secp256k1 in lanes, with the 52-bit multiplications of AVX-512 IFMA.
//!
//! An element has five limbs of 52 bits, least significant first; limb i of all eight lanes is one vector. The
//! multiplier reads the lowest 52 bits of each limb, so every function returns limbs below 2⁵². The fifth limb has
//! bits 208 to 259: values can grow to 2²⁶⁰, sixteen times the prime. Each function states the size of its result in
//! units of 2²⁵⁶; a product is "tight": below 1 + 2⁻³⁹ units. Only `canonical` returns the least representative.

#![allow(clippy::needless_range_loop, reason = "limbs of several numbers share one index")]

use archmage::intrinsics::x86_64::{
    __m512i, __mmask8, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_loadu_si512,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_or_si512, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi64,
    _mm512_test_epi64_mask, _mm512_xor_si512,
};

/// Number of elements in a vector.
pub(super) const LANES: usize = 8;
/// 2²⁵⁶ modulo the prime.
const FOLD: u64 = 0x1_0000_03d1;
const LIMB: u64 = (1 << 52) - 1;
/// The highest limb of a number of 256 bits.
const TOP: u64 = (1 << 48) - 1;

/// The limbs of one number.
pub(super) type Limbs = [u64; 5];
/// The limbs of eight numbers.
pub(super) type Words = [[u64; LANES]; 5];

/// Eight field elements.
#[derive(Clone, Copy)]
pub(super) struct Field([__m512i; 5]);

/// Four words of 64 bits as limbs.
pub(super) const fn limbs(words: &[u64; 4]) -> Limbs {
    let [a, b, c, d] = *words;
    [a & LIMB, (a >> 52 | b << 12) & LIMB, (b >> 40 | c << 24) & LIMB, (c >> 28 | d << 36) & LIMB, d >> 16]
}

/// Returns the number below 2²⁵⁶ with these limbs, as words of 64 bits.
pub(super) const fn words(limbs: &Limbs) -> [u64; 4] {
    let [a, b, c, d, e] = *limbs;
    [a | b << 52, b >> 12 | c << 40, c >> 24 | d << 28, d >> 36 | e << 16]
}

/// Returns a multiple of the prime whose lower limbs are at least 2^spare, so that limbs of `spare` bits can be
/// subtracted without a borrow. The highest limb is about 2⁴⁸ times the multiple.
const fn multiple_of_prime(multiple: u64, spare: u32) -> Limbs {
    let (low, up) = (1 << spare, 1 << (spare - 52));
    // multiple · 2²⁵⁶ − multiple · FOLD, with 2^spare moved into each limb from the next.
    [low - multiple * FOLD, low - up, low - up, low - up, (multiple << 48) - up]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

/// Propagates the carries; the number is below 2²⁶⁰.
#[target_feature(enable = "avx512f")]
#[inline]
fn carried(mut limbs: [__m512i; 5]) -> Field {
    for i in 0..4 {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srli_epi64::<52>(limbs[i]));
        limbs[i] = _mm512_and_si512(limbs[i], splat(LIMB));
    }
    Field(limbs)
}

/// Reduces ten columns of weight 2^52i to a tight element. The upper five represent less than 2²⁶⁰, and each column is
/// below 2⁶⁰.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduced(mut t: [__m512i; 10]) -> Field {
    // Carries within the upper half; the multiplier ignores bits above 52.
    for i in 5..9 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
    }
    // 2²⁶⁰ is 16 · FOLD.
    let factor = splat(FOLD << 4);
    let mut over = _mm512_setzero_si512();
    for i in 0..5 {
        t[i] = _mm512_madd52lo_epu64(t[i], t[i + 5], factor);
        if i < 4 {
            t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], t[i + 5], factor);
        } else {
            over = _mm512_madd52hi_epu64(over, t[i + 5], factor);
        }
    }
    // Bits from 256 on represent less than 2⁴² (`over` is below 2³⁷): they are folded before the carries, which then
    // add less than 2⁹ to the highest limb.
    let over = _mm512_add_epi64(_mm512_slli_epi64::<4>(over), _mm512_srli_epi64::<48>(t[4]));
    let fold = splat(FOLD);
    t[4] = _mm512_and_si512(t[4], splat(TOP));
    t[0] = _mm512_madd52lo_epu64(t[0], over, fold);
    t[1] = _mm512_madd52hi_epu64(t[1], over, fold);
    carried([t[0], t[1], t[2], t[3], t[4]])
}

/// Adds the columns of a product.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate(t: &mut [__m512i; 10], a: &Field, b: &Field) {
    for i in 0..5 {
        for j in 0..5 {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a.0[i], b.0[j]);
        }
        for j in 0..5 {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a.0[i], b.0[j]);
        }
    }
}

impl Field {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn zero() -> Field {
        Field([_mm512_setzero_si512(); 5])
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn splat(limbs: &Limbs) -> Field {
        Field([splat(limbs[0]), splat(limbs[1]), splat(limbs[2]), splat(limbs[3]), splat(limbs[4])])
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn load(words: &Words) -> Field {
        let [a, b, c, d, e] = words;
        Field([
            _mm512_loadu_si512(a),
            _mm512_loadu_si512(b),
            _mm512_loadu_si512(c),
            _mm512_loadu_si512(d),
            _mm512_loadu_si512(e),
        ])
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn store(&self) -> Words {
        let mut words = Words::default();
        for i in 0..5 {
            _mm512_storeu_si512(&mut words[i], self.0[i]);
        }
        words
    }

    /// Returns a · b, tight; the product of the sizes must be below 2⁸.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn mul(a: &Field, b: &Field) -> Field {
        let mut t = [_mm512_setzero_si512(); 10];
        accumulate(&mut t, a, b);
        reduced(t)
    }

    /// Returns a · b + c · d, tight; the sum of the products of the sizes must be below 2⁸.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn mul_sum(a: &Field, b: &Field, c: &Field, d: &Field) -> Field {
        let mut t = [_mm512_setzero_si512(); 10];
        accumulate(&mut t, a, b);
        accumulate(&mut t, c, d);
        reduced(t)
    }

    /// Returns a · b − c · 2^SHIFT, tight, for a tight c and a shift of at most 3.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn mul_sub<const SHIFT: u32>(a: &Field, b: &Field, c: &Field) -> Field {
        let mut t = [_mm512_setzero_si512(); 10];
        take_away::<SHIFT>(&mut t, c);
        accumulate(&mut t, a, b);
        reduced(t)
    }

    /// Returns a², tight, for sizes below 2⁴.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn square(a: &Field) -> Field {
        let mut t = [_mm512_setzero_si512(); 10];
        accumulate_square(&mut t, a);
        reduced(t)
    }

    /// Returns a² − c · 2^SHIFT, tight, for a tight c and a shift of at most 3.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn square_sub<const SHIFT: u32>(a: &Field, c: &Field) -> Field {
        let mut t = [_mm512_setzero_si512(); 10];
        accumulate_square(&mut t, a);
        take_away::<SHIFT>(&mut t, c);
        reduced(t)
    }

    /// Returns a² − b − 2 · c, tight, for tight b and c.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn square_sub_both(a: &Field, b: &Field, c: &Field) -> Field {
        const LARGE: Limbs = multiple_of_prime(4, 54);
        let mut t = [_mm512_setzero_si512(); 10];
        accumulate_square(&mut t, a);
        for i in 0..5 {
            let taken = _mm512_add_epi64(b.0[i], _mm512_add_epi64(c.0[i], c.0[i]));
            t[i] = _mm512_add_epi64(t[i], _mm512_sub_epi64(splat(LARGE[i]), taken));
        }
        reduced(t)
    }

    /// Returns a + b; the sizes add up.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn add(a: &Field, b: &Field) -> Field {
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            limbs[i] = _mm512_add_epi64(a.0[i], b.0[i]);
        }
        carried(limbs)
    }

    /// Returns 3 · a.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn triple(a: &Field) -> Field {
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            limbs[i] = _mm512_add_epi64(a.0[i], _mm512_add_epi64(a.0[i], a.0[i]));
        }
        carried(limbs)
    }

    /// Returns a − b for a tight b; 2 units larger than a.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn sub(a: &Field, b: &Field) -> Field {
        const LARGE: Limbs = multiple_of_prime(2, 53);
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            limbs[i] = _mm512_add_epi64(a.0[i], _mm512_sub_epi64(splat(LARGE[i]), b.0[i]));
        }
        carried(limbs)
    }

    /// Returns 4 · a − b for tight a and b: 6 units.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn quadruple_sub(a: &Field, b: &Field) -> Field {
        const LARGE: Limbs = multiple_of_prime(2, 53);
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            let four = _mm512_slli_epi64::<2>(a.0[i]);
            limbs[i] = _mm512_add_epi64(four, _mm512_sub_epi64(splat(LARGE[i]), b.0[i]));
        }
        carried(limbs)
    }

    /// Returns −a for a tight a: 2 units.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn negated(a: &Field) -> Field {
        const LARGE: Limbs = multiple_of_prime(2, 53);
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            limbs[i] = _mm512_sub_epi64(splat(LARGE[i]), a.0[i]);
        }
        carried(limbs)
    }

    /// Selects by lane: b if the mask is set, otherwise a.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn select(mask: __mmask8, a: &Field, b: &Field) -> Field {
        let mut limbs = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            limbs[i] = _mm512_mask_blend_epi64(mask, a.0[i], b.0[i]);
        }
        Field(limbs)
    }

    /// Returns the least representative of a tight element.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn canonical(a: &Field) -> Field {
        // a ≥ prime if and only if a + FOLD ≥ 2²⁵⁶, and the remainder is then a − prime.
        let mut limbs = a.0;
        limbs[0] = _mm512_add_epi64(limbs[0], splat(FOLD));
        let mut less = carried(limbs);
        let is_larger = _mm512_test_epi64_mask(less.0[4], splat(!TOP));
        less.0[4] = _mm512_and_si512(less.0[4], splat(TOP));
        Field::select(is_larger, a, &less)
    }

    /// Returns the lanes in which a tight element is zero.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn is_zero(a: &Field) -> __mmask8 {
        const PRIME: Limbs = [LIMB + 1 - FOLD, LIMB, LIMB, LIMB, TOP];
        let mut from_zero = a.0[0];
        let mut from_prime = _mm512_xor_si512(a.0[0], splat(PRIME[0]));
        for i in 1..5 {
            from_zero = _mm512_or_si512(from_zero, a.0[i]);
            from_prime = _mm512_or_si512(from_prime, _mm512_xor_si512(a.0[i], splat(PRIME[i])));
        }
        let zero = _mm512_setzero_si512();
        _mm512_cmpeq_epi64_mask(from_zero, zero) | _mm512_cmpeq_epi64_mask(from_prime, zero)
    }

    /// Returns the lanes in which a canonical element is odd.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn is_odd(a: &Field) -> __mmask8 {
        _mm512_test_epi64_mask(a.0[0], splat(1))
    }
}

/// Subtracts c · 2^SHIFT from the columns.
#[target_feature(enable = "avx512f")]
#[inline]
fn take_away<const SHIFT: u32>(t: &mut [__m512i; 10], c: &Field) {
    const LARGE: Limbs = multiple_of_prime(9, 56);
    for i in 0..5 {
        let taken = _mm512_slli_epi64::<SHIFT>(c.0[i]);
        t[i] = _mm512_add_epi64(t[i], _mm512_sub_epi64(splat(LARGE[i]), taken));
    }
}

/// Adds the columns of a square: each mixed product once and doubled, then the squares of the limbs. The columns must
/// be zero.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_square(t: &mut [__m512i; 10], a: &Field) {
    for i in 0..4 {
        for j in i + 1..5 {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a.0[i], a.0[j]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a.0[i], a.0[j]);
        }
    }
    for column in &mut t[1..9] {
        *column = _mm512_add_epi64(*column, *column);
    }
    for i in 0..5 {
        t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a.0[i], a.0[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a.0[i], a.0[i]);
    }
}

#[cfg(test)]
mod tests;
