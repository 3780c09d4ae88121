//! Signed digits of the two factors of a recovery, key = u₁·G + u₂·R.

use super::modular::ORDER;
use crate::transaction::ecdsa::RecoveryInput;
use alloy_primitives::{U256, uint};
use std::array;

/// Windows of five bits in 128 bits and a carry.
pub(super) const WINDOWS: usize = 26;
/// Bits of a window of u₂.
pub(super) const WINDOW: u32 = 5;
/// Bits of a window of u₁: two windows of u₂.
pub(super) const WIDE_WINDOW: u32 = 2 * WINDOW;

/// Digits of u₁ + offset and of u₂, least significant first.
pub(super) struct Digits {
    /// u₁ is the first half plus 2¹²⁸ times the second, in digits from −511 to 512.
    pub(super) generator: [[i16; WINDOWS / 2]; 2],
    /// u₂ is the first half plus λ times the second, in digits from −16 to 16.
    pub(super) point: [[i16; WINDOWS]; 2],
}

/// Returns the digits of each input. `offset` is added to u₁.
pub(super) fn digits(inputs: &[RecoveryInput], offset: &U256) -> Vec<Digits> {
    let divisors: Vec<U256> = inputs.iter().map(|input| input.r).collect();
    let factors = |(input, inverse): (&RecoveryInput, U256)| {
        let message = ORDER.reduced(U256::from_be_bytes(input.message.0));
        let first = ORDER.difference(*offset, ORDER.product(message, inverse));
        let second = ORDER.product(input.s, inverse);
        Digits {
            generator: [first, first >> 128].map(|half| signed_digits::<WIDE_WINDOW, _>(low_half(&half), false)),
            point: point_digits(&second),
        }
    };
    inputs.iter().zip(ORDER.inverses(&divisors)).map(factors).collect()
}

/// Returns the digits of u₂.
pub(super) fn point_digits(second: &U256) -> [[i16; WINDOWS]; 2] {
    split(second).map(|(half, is_negative)| signed_digits::<WINDOW, _>(half, is_negative))
}

fn low_half(number: &U256) -> u128 {
    let [low, high, ..] = *number.as_limbs();
    u128::from(low) | u128::from(high) << 64
}

/// Returns two numbers below 2¹²⁸ with their signs (true for negative); the first plus λ times the second is the
/// scalar, where λ·(x, y) is (β·x, y). Gallant, Lambert, Vanstone: "Faster point multiplication on elliptic curves
/// with efficient endomorphisms"; (A1, B1), (A2, B2) is the short basis of the pairs that represent 0.
fn split(scalar: &U256) -> [(u128, bool); 2] {
    const A1: U256 = uint!(0x3086d221a7d46bcde86c90e49284eb15_U256);
    const MINUS_B1: U256 = uint!(0xe4437ed6010e88286f547fa90abfe4c3_U256);
    const A2: U256 = uint!(0x114ca50f7a8e2f3f657c1108d9d44cfd8_U256);
    const B2: U256 = A1;
    // B2 and −B1 times 2³⁸⁴ over the order, rounded.
    const G1: U256 = uint!(0x3086d221a7d46bcde86c90e49284eb153daa8a1471e8ca7fe893209a45dbb031_U256);
    const G2: U256 = uint!(0xe4437ed6010e88286f547fa90abfe4c4221208ac9df506c61571b4ae8ac47f71_U256);
    let rounded = |factor: U256| {
        let product: alloy_primitives::U512 = scalar.widening_mul(factor);
        let [.., below, low, high] = *product.as_limbs();
        U256::from_limbs([low, high, 0, 0]) + U256::from(below >> 63)
    };
    let (first, second) = (rounded(G1), rounded(G2));
    // Modulo 2²⁵⁶; both results are between −2¹²⁸ and 2¹²⁸.
    let one = scalar.wrapping_sub(first.wrapping_mul(A1)).wrapping_sub(second.wrapping_mul(A2));
    let other = first.wrapping_mul(MINUS_B1).wrapping_sub(second.wrapping_mul(B2));
    [one, other].map(|number| match number.bit(255) {
        true => (low_half(&number.wrapping_neg()), true),
        false => (low_half(&number), false),
    })
}

/// Returns digits of `BITS` bits from 1 − 2^(BITS − 1) to 2^(BITS − 1), least significant first. They must have room
/// for 129 bits.
fn signed_digits<const BITS: u32, const N: usize>(number: u128, is_negative: bool) -> [i16; N] {
    let (mut rest, mut carry) = (number, 0);
    array::from_fn(|_| {
        let digit = (rest & ((1 << BITS) - 1)) as i16 + carry;
        rest >>= BITS;
        carry = i16::from(digit > 1 << (BITS - 1));
        let digit = digit - (carry << BITS);
        if is_negative { -digit } else { digit }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::ecdsa::ORDER;
    use alloy_primitives::keccak256;

    const LAMBDA: U256 = uint!(0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72_U256);

    /// Returns the number with these signed digits, modulo the order.
    fn sum(digits: &[i16], bits: u32) -> U256 {
        digits.iter().rev().fold(U256::ZERO, |sum, digit| {
            let magnitude = U256::from(digit.unsigned_abs());
            let sum = sum.mul_mod(U256::ONE << bits, ORDER);
            sum.add_mod(if *digit < 0 { ORDER - magnitude } else { magnitude }, ORDER)
        })
    }

    fn scalars() -> Vec<U256> {
        let near = |middle: U256| {
            (0..3u64).flat_map(move |step| [middle.wrapping_add(U256::from(step)), middle - U256::from(step)])
        };
        let middles = [ORDER, ORDER >> 1, LAMBDA, ORDER - LAMBDA, U256::ONE << 128, U256::ONE << 255, U256::from(2)];
        let random = (0..2000u64).map(|seed| U256::from_be_bytes(keccak256(seed.to_be_bytes()).0));
        middles.into_iter().flat_map(near).chain(random).filter(|scalar| *scalar < ORDER).collect()
    }

    #[test]
    fn digits_represent_the_factors() {
        for second in scalars() {
            let [one, other] = point_digits(&second);
            assert!(one.iter().chain(&other).all(|digit| (-16..=16).contains(digit)));
            let turned = LAMBDA.mul_mod(sum(&other, WINDOW), ORDER);
            assert_eq!(sum(&one, WINDOW).add_mod(turned, ORDER), second);
        }
        for half in [0, 1, 511, 512, 513, u128::MAX, u128::MAX - 1, 1 << 127, 0x5555 << 100, u128::MAX / 3] {
            let digits = signed_digits::<WIDE_WINDOW, { WINDOWS / 2 }>(half, false);
            assert!(digits.iter().all(|digit| (-511..=512).contains(digit)));
            assert_eq!(sum(&digits, WIDE_WINDOW), U256::from(half));
            let negative = signed_digits::<WINDOW, WINDOWS>(half, true);
            assert_eq!(sum(&negative, WINDOW).add_mod(U256::from(half), ORDER), U256::ZERO);
        }
    }

    #[test]
    fn factors_satisfy_the_signature_equation() {
        let numbers = scalars();
        let inputs: Vec<RecoveryInput> = numbers
            .iter()
            .zip(numbers.iter().rev())
            .filter(|(r, s)| !r.is_zero() && !s.is_zero())
            .map(|(r, s)| RecoveryInput { message: keccak256(r.to_be_bytes::<32>()), r: *r, s: *s, is_y_odd: false })
            .collect();
        let offset = ORDER - U256::from(77);
        for (input, digits) in inputs.iter().zip(digits(&inputs, &offset)) {
            let [low, high] = digits.generator.map(|half| sum(&half, WIDE_WINDOW));
            let first = low.add_mod(high.mul_mod(U256::ONE << 128, ORDER), ORDER).add_mod(U256::from(77), ORDER);
            // u₁·r + z = 0 and u₂·r = s.
            let message = U256::from_be_bytes(input.message.0);
            assert_eq!(first.mul_mod(input.r, ORDER).add_mod(message, ORDER), U256::ZERO);
            let [one, other] = digits.point.map(|half| sum(&half, WINDOW));
            assert_eq!(one.add_mod(LAMBDA.mul_mod(other, ORDER), ORDER).mul_mod(input.r, ORDER), input.s);
        }
    }
}
