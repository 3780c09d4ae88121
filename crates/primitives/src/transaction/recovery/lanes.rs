//! Recovery of public keys in `N` times eight lanes.

mod curve;
mod field;
mod fields;
mod generator;
mod modular;
mod scalar;

use self::field::{Field, LANES, Limbs, Words, limbs, words};
use crate::keccak::keccak256_all;
use crate::transaction::ecdsa::RecoveryInput;
use alloy_primitives::{Address, B256, U256};
use archmage::intrinsics::x86_64::__mmask8;
use archmage::{SimdToken, X64V4xToken, arcane};
use curve::{Addend, Multiples, ONE, Point};
use fields::{Fields, Masks};
use generator::GENERATOR;
use modular::PRIME;
use scalar::{Digits, WINDOW, WINDOWS, digits};
use std::array;

const SEVEN: Limbs = [7, 0, 0, 0, 0];

/// u₁·G + u₂·R of eight signatures in Jacobian coordinates.
struct Sum {
    x: Field,
    y: Field,
    /// Set to 1 in lanes without a key.
    z: Field,
    is_key: __mmask8,
}

/// Returns the addresses of the signers; `None` if the processor has no 52-bit multiplication. An input without an
/// address must be recovered one by one: it has no key, or the incomplete additions of this module do not cover it.
pub(super) fn recover(inputs: &[RecoveryInput]) -> Option<Vec<Option<Address>>> {
    X64V4xToken::summon().map(|token| recover_all(token, inputs))
}

#[arcane]
fn recover_all(_token: X64V4xToken, inputs: &[RecoveryInput]) -> Vec<Option<Address>> {
    let digits = digits(inputs, &GENERATOR.offset);
    let mut sums = Vec::with_capacity(inputs.len().div_ceil(LANES));
    for (inputs, digits) in inputs.chunks(2 * LANES).zip(digits.chunks(2 * LANES)) {
        if inputs.len() > LANES {
            sums.extend(sums_of::<2>(inputs, digits));
        } else {
            sums.extend(sums_of::<1>(inputs, digits));
        }
    }
    addresses(&sums, inputs.len())
}

/// Returns the inverses of eight tight elements that are not zero.
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverted(a: &Field) -> Field {
    let lanes = Field::canonical(a).store();
    let numbers: [U256; LANES] = array::from_fn(|lane| number(&lanes, lane));
    let mut inverses = Words::default();
    for (lane, inverse) in PRIME.inverses(&numbers).into_iter().enumerate() {
        let inverse = PRIME.product(inverse, U256::ONE);
        for (word, limb) in inverses.iter_mut().zip(limbs(inverse.as_limbs())) {
            word[lane] = limb;
        }
    }
    Field::load(&inverses)
}

/// Returns x and y as bytes.
fn key(x: &Words, y: &Words, lane: usize) -> [u8; 64] {
    let mut key = [0; 64];
    let (first, second) = key.split_at_mut(32);
    first.copy_from_slice(&number(x, lane).to_be_bytes::<32>());
    second.copy_from_slice(&number(y, lane).to_be_bytes::<32>());
    key
}

fn number(limbs: &Words, lane: usize) -> U256 {
    U256::from_limbs(words(&array::from_fn(|limb| limbs[limb][lane])))
}

/// Returns the addresses of the first `count` lanes.
#[target_feature(enable = "avx512f,avx512ifma")]
fn addresses(sums: &[Sum], count: usize) -> Vec<Option<Address>> {
    // One inversion for all Zs (Montgomery's trick): first within each lane, then across lanes.
    let mut product = Field::splat(&ONE);
    let mut inverses = Vec::with_capacity(sums.len());
    for sum in sums {
        inverses.push(product);
        product = Field::mul(&product, &sum.z);
    }
    let mut inverse = inverted(&product);
    for (sum, before) in sums.iter().zip(&mut inverses).rev() {
        *before = Field::mul(before, &inverse);
        inverse = Field::mul(&inverse, &sum.z);
    }
    let mut keys = Vec::with_capacity(sums.len() * LANES);
    let mut is_key = Vec::with_capacity(sums.len() * LANES);
    for (sum, inverse) in sums.iter().zip(&inverses) {
        let square = Field::square(inverse);
        let cube = Field::mul(&square, inverse);
        let x = Field::canonical(&Field::mul(&sum.x, &square)).store();
        let y = Field::canonical(&Field::mul(&sum.y, &cube)).store();
        for lane in 0..LANES {
            keys.push(key(&x, &y, lane));
            is_key.push(sum.is_key >> lane & 1 == 1);
        }
    }
    keys.truncate(count);
    let found = |(hash, is_key): (B256, bool)| is_key.then(|| Address::from_word(hash));
    keccak256_all(&keys).into_iter().zip(is_key).map(found).collect()
}

/// Returns the sums of at most N times eight inputs; unused lanes repeat the last input.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn sums_of<const N: usize>(inputs: &[RecoveryInput], digits: &[Digits]) -> [Sum; N] {
    let lanes: [[usize; LANES]; N] =
        array::from_fn(|i| array::from_fn(|lane| (LANES * i + lane).min(inputs.len() - 1)));
    let mut x = [Words::default(); N];
    let mut is_y_odd = [0; N];
    for (i, lanes) in lanes.iter().enumerate() {
        for (lane, &input) in lanes.iter().enumerate() {
            for (word, limb) in x[i].iter_mut().zip(limbs(inputs[input].r.as_limbs())) {
                word[lane] = limb;
            }
            is_y_odd[i] |= __mmask8::from(inputs[input].is_y_odd) << lane;
        }
    }
    let x = Fields::load(&x);
    let (y, is_on_curve) = lifted(&x, &is_y_odd);
    let mut multiples = Multiples::empty();
    multiples.fill(&x, &y);

    let [start_x, start_y] = &GENERATOR.start;
    let z = &multiples.z;
    let zz = Fields::square(z);
    let mut point = Point {
        x: Fields::mul(&Fields::splat(start_x), &zz),
        y: Fields::mul(&Fields::splat(start_y), &Fields::mul(&zz, z)),
        z: Fields::splat(&ONE),
    };
    // Addends are loaded before the doublings, which hide the latency.
    let [mut one, mut other, mut low, mut high] = array::from_fn(|_| Addend::empty());
    for window in (0..WINDOWS).rev() {
        let with_generator = window % 2 == 0;
        multiples.pick(&each(&lanes, |input| digits[input].point[0][window]), &mut one);
        multiples.pick(&each(&lanes, |input| digits[input].point[1][window]), &mut other);
        other.turn();
        if with_generator {
            GENERATOR.pick(&each(&lanes, |input| digits[input].generator[0][window / 2]), false, &mut low);
            GENERATOR.pick(&each(&lanes, |input| digits[input].generator[1][window / 2]), true, &mut high);
        }
        if window != WINDOWS - 1 {
            point.double(WINDOW);
        }
        one.add_to(&mut point, None);
        other.add_to(&mut point, None);
        if with_generator {
            // On the curve of the generator the sum has a different Z.
            let common = Fields::mul(&point.z, z);
            low.add_to(&mut point, Some(&common));
            let common = Fields::mul(&point.z, z);
            high.add_to(&mut point, Some(&common));
        }
    }
    // Maps Z back to the curve of the generator.
    let z = Fields::mul(&point.z, z);
    let is_zero = z.is_zero();
    let z = Fields::select(&is_zero, &z, &Fields::splat(&ONE));
    array::from_fn(|i| Sum { x: point.x.0[i], y: point.y.0[i], z: z.0[i], is_key: is_on_curve[i] & !is_zero[i] })
}

/// Returns one digit for each lane.
#[inline(always)]
fn each<const N: usize>(lanes: &[[usize; LANES]; N], digit: impl Fn(usize) -> i16) -> [[i16; LANES]; N] {
    let mut digits = [[0; LANES]; N];
    for (digits, inputs) in digits.iter_mut().zip(lanes) {
        for (slot, input) in digits.iter_mut().zip(inputs) {
            *slot = digit(*input);
        }
    }
    digits
}

/// Returns the y of a point with this x (canonical) and this parity, and the lanes that have one.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn lifted<const N: usize>(x: &Fields<N>, is_odd: &Masks<N>) -> (Fields<N>, Masks<N>) {
    let one = Fields::splat(&ONE);
    let square = Fields::add(&Fields::mul(&Fields::square(x), x), &Fields::splat(&SEVEN));
    let square = Fields::mul(&square, &one);
    let y = Fields::canonical(&square_root(&square));
    let difference = Fields::mul(&Fields::sub(&Fields::square(&y), &square), &one);
    let other = Fields::mul(&Fields::negated(&y), &one);
    let mut is_other = y.is_odd();
    for (mask, is_odd) in is_other.iter_mut().zip(is_odd) {
        *mask ^= is_odd;
    }
    (Fields::select(&is_other, &y, &other), difference.is_zero())
}

/// Returns a^((prime + 1) / 4): the square root, if there is one. The exponent in bits is 223 ones, a zero, 22 ones,
/// four zeros, two ones and two zeros.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn square_root<const N: usize>(a: &Fields<N>) -> Fields<N> {
    let ones_2 = Fields::mul(&squared(a, 1), a);
    let ones_3 = Fields::mul(&squared(&ones_2, 1), a);
    let ones_6 = Fields::mul(&squared(&ones_3, 3), &ones_3);
    let ones_9 = Fields::mul(&squared(&ones_6, 3), &ones_3);
    let ones_11 = Fields::mul(&squared(&ones_9, 2), &ones_2);
    let ones_22 = Fields::mul(&squared(&ones_11, 11), &ones_11);
    let ones_44 = Fields::mul(&squared(&ones_22, 22), &ones_22);
    let ones_88 = Fields::mul(&squared(&ones_44, 44), &ones_44);
    let ones_176 = Fields::mul(&squared(&ones_88, 88), &ones_88);
    let ones_220 = Fields::mul(&squared(&ones_176, 44), &ones_44);
    let ones_223 = Fields::mul(&squared(&ones_220, 3), &ones_3);
    let power = Fields::mul(&squared(&ones_223, 23), &ones_22);
    squared(&Fields::mul(&squared(&power, 6), &ones_2), 2)
}

/// Returns a^(2^times).
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn squared<const N: usize>(a: &Fields<N>, times: u32) -> Fields<N> {
    let mut power = *a;
    for _ in 0..times {
        power = Fields::square(&power);
    }
    power
}

/// For tests that construct signatures: the offset of u₁, and the highest digit of the first half of u₂.
#[cfg(test)]
pub(super) use generator::START;

#[cfg(test)]
pub(super) fn offset() -> U256 {
    GENERATOR.offset
}

#[cfg(test)]
pub(super) fn highest_digit(second: U256) -> i16 {
    scalar::point_digits(&second)[0][WINDOWS - 1]
}
