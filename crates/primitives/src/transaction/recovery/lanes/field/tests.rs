use super::*;
use crate::transaction::ecdsa::FIELD;
use alloy_primitives::{U256, keccak256};
use archmage::{SimdToken, X64V4xToken, arcane};

/// Numbers of 260 bits in eight lanes, with limbs at their extremes and random ones.
fn lanes(seed: u64) -> Words {
    let mut words = Words::default();
    for lane in 0..LANES {
        let bytes = keccak256([seed.to_be_bytes(), (lane as u64).to_be_bytes()].concat());
        for limb in 0..5 {
            let random = U256::from_be_bytes(bytes.0).as_limbs()[limb % 4].rotate_left(7 * limb as u32) & LIMB;
            words[limb][lane] = match bytes[limb] % 6 {
                0 => 0,
                1 => LIMB,
                2 => 1,
                3 => LIMB - FOLD,
                _ => random,
            };
        }
    }
    words
}

/// The same numbers reduced to tight ones; some are the prime, one more or one less, and the largest.
fn tight_lanes(seed: u64) -> Words {
    let mut words = lanes(seed);
    for lane in 0..LANES {
        words[4][lane] &= TOP;
    }
    let prime = limbs(FIELD.as_limbs());
    for limb in 0..5 {
        words[limb][(seed % 8) as usize] = prime[limb];
        words[limb][(seed / 8 % 8) as usize] = limbs((FIELD + U256::from(seed % 3) - U256::ONE).as_limbs())[limb];
        words[limb][(seed / 64 % 8) as usize] = [LIMB, LIMB, LIMB, LIMB, TOP][limb];
        words[limb][(seed / 512 % 8) as usize] = [LIMB, LIMB, LIMB, (1 << 9) - 1, 1 << 48][limb];
    }
    words
}

/// Returns the number of a lane modulo the prime.
fn value(words: &Words, lane: usize) -> U256 {
    let shifted = |sum: U256, limb: &[u64; LANES]| {
        assert!(limb[lane] <= LIMB);
        sum.mul_mod(U256::from(1u64 << 52), FIELD).add_mod(U256::from(limb[lane]), FIELD)
    };
    words.iter().rev().fold(U256::ZERO, shifted)
}

fn times(a: U256, b: U256) -> U256 {
    a.mul_mod(b, FIELD)
}

fn plus(a: U256, b: U256) -> U256 {
    a.add_mod(b, FIELD)
}

fn minus(a: U256, b: U256) -> U256 {
    a.add_mod(FIELD - b, FIELD)
}

/// Checks a result lane by lane; a tight result is below 2²⁵⁶ + 2²¹⁷.
#[target_feature(enable = "avx512f")]
fn check(name: &str, found: &Field, is_tight: bool, expected: impl Fn(usize) -> U256) {
    let found = found.store();
    for lane in 0..LANES {
        assert_eq!(value(&found, lane), expected(lane), "{name}");
        assert!(!is_tight || found[4][lane] < (1 << 48) + (1 << 9), "{name} is not tight");
    }
}

#[arcane]
fn check_all(_token: X64V4xToken, seed: u64) {
    let [a, b] = [lanes(4 * seed), lanes(4 * seed + 1)];
    let [c, d] = [tight_lanes(4 * seed + 2), tight_lanes(4 * seed + 3)];
    let [la, lb, tc, td] = [Field::load(&a), Field::load(&b), Field::load(&c), Field::load(&d)];
    let of = |words: &Words| -> [U256; LANES] { std::array::from_fn(|lane| value(words, lane)) };
    let [a, b, c, d] = [of(&a), of(&b), of(&c), of(&d)];
    let eight = U256::from(8);

    check("mul", &Field::mul(&la, &lb), true, |i| times(a[i], b[i]));
    check("square", &Field::square(&la), true, |i| times(a[i], a[i]));
    check("mul_sub", &Field::mul_sub::<0>(&la, &lb, &tc), true, |i| minus(times(a[i], b[i]), c[i]));
    check("mul_sub 8", &Field::mul_sub::<3>(&la, &lb, &tc), true, |i| minus(times(a[i], b[i]), times(eight, c[i])));
    check("square_sub 8", &Field::square_sub::<3>(&la, &tc), true, |i| minus(times(a[i], a[i]), times(eight, c[i])));
    let both = |i: usize| minus(minus(times(a[i], a[i]), c[i]), plus(d[i], d[i]));
    check("square_sub_both", &Field::square_sub_both(&la, &tc, &td), true, both);

    // Sizes of curve.rs: 3 and 3, 2 and 1.
    let three = Field::triple(&tc);
    check("triple", &three, false, |i| times(U256::from(3), c[i]));
    let difference = Field::sub(&tc, &td);
    check("sub", &difference, false, |i| minus(c[i], d[i]));
    let negated = Field::negated(&td);
    check("negated", &negated, false, |i| minus(U256::ZERO, d[i]));
    check("quadruple_sub", &Field::quadruple_sub(&tc, &td), false, |i| minus(times(U256::from(4), c[i]), d[i]));
    check("add", &Field::add(&tc, &td), false, |i| plus(c[i], d[i]));
    let sum =
        |i: usize| plus(times(times(U256::from(3), c[i]), minus(c[i], d[i])), times(minus(U256::ZERO, d[i]), d[i]));
    check("mul_sum", &Field::mul_sum(&three, &difference, &negated, &td), true, sum);

    let least = Field::canonical(&tc);
    let is_zero = Field::is_zero(&tc);
    let is_odd = Field::is_odd(&least);
    for (lane, word) in least.store().iter().fold([0; LANES], |_, limb| *limb).iter().enumerate() {
        assert!(*word <= TOP);
        let number = U256::from_limbs(words(&least.store().map(|limb| limb[lane])));
        assert_eq!(number, c[lane], "canonical");
        assert_eq!(is_zero >> lane & 1 == 1, number.is_zero(), "is_zero");
        assert_eq!(is_odd >> lane & 1 == 1, number.bit(0), "is_odd");
    }
    let mask = (seed % 256) as __mmask8;
    let chosen = |i: usize| if mask >> i & 1 == 1 { d[i] } else { c[i] };
    check("select", &Field::select(mask, &tc, &td), true, chosen);
}

#[test]
fn operations_agree_with_big_integers() {
    let Some(token) = X64V4xToken::summon() else { return };
    for seed in 0..3000 {
        check_all(token, seed);
    }
}

#[arcane]
fn check_extremes(_token: X64V4xToken) {
    let largest = Field::splat(&[LIMB; 5]);
    let number = value(&largest.store(), 0);
    check("largest product", &Field::mul(&largest, &largest), true, |_| times(number, number));
    check("largest square", &Field::square(&largest), true, |_| times(number, number));
    // The largest tight number, and zero, are subtracted from the smallest product.
    let tight = Field::splat(&[LIMB, LIMB, LIMB, LIMB, (1 << 48) + (1 << 9) - 1]);
    let taken = value(&tight.store(), 0);
    let zero = Field::zero();
    let eight = times(U256::from(8), taken);
    check("0 - 8", &Field::mul_sub::<3>(&zero, &largest, &tight), true, |_| minus(U256::ZERO, eight));
    check("0 - 8", &Field::square_sub::<3>(&zero, &tight), true, |_| minus(U256::ZERO, eight));
    let three = times(U256::from(3), taken);
    check("0 - 1 - 2", &Field::square_sub_both(&zero, &tight, &tight), true, |_| minus(U256::ZERO, three));
    check("0 - 1", &Field::sub(&zero, &tight), false, |_| minus(U256::ZERO, taken));
    check("0 - 1", &Field::quadruple_sub(&zero, &tight), false, |_| minus(U256::ZERO, taken));
    check("0 - 1", &Field::negated(&tight), false, |_| minus(U256::ZERO, taken));
}

#[test]
fn carries_are_exact_for_the_largest_numbers() {
    if let Some(token) = X64V4xToken::summon() {
        check_extremes(token);
    }
}

#[test]
fn limbs_and_words_round_trip() {
    for number in [U256::ZERO, U256::MAX, FIELD, U256::from_be_bytes(keccak256("limbs").0)] {
        let limbs = limbs(number.as_limbs());
        assert!(limbs.iter().all(|limb| *limb <= LIMB));
        assert_eq!(U256::from_limbs(words(&limbs)), number);
    }
}
