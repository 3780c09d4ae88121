//! The few scalar calculations modulo the group order and the field prime.

use alloy_primitives::{U256, uint};

/// An odd modulus with the constants of Montgomery multiplication.
pub(super) struct Modulus {
    value: U256,
    /// −1/value modulo 2⁶⁴.
    minus_inverse: u64,
    /// 2⁵¹² modulo the value.
    square: U256,
}

/// The order of the group.
pub(super) const ORDER: Modulus = Modulus {
    value: crate::transaction::ecdsa::ORDER,
    minus_inverse: 0x4b0d_ff66_5588_b13f,
    square: uint!(0x9d671cd581c69bc5e697f5e45bcd07c6741496c20e7cf878896cf21467d7d140_U256),
};
/// The prime of the field.
pub(super) const PRIME: Modulus = Modulus {
    value: crate::transaction::ecdsa::FIELD,
    minus_inverse: 0xd838_091d_d225_3531,
    square: uint!(0x1000007a2000e90a1_U256),
};

impl Modulus {
    /// Returns a · b / 2²⁵⁶ for a and b below the modulus.
    pub(super) fn product(&self, a: U256, b: U256) -> U256 {
        a.mul_redc(b, self.value, self.minus_inverse)
    }

    /// Returns 2²⁵⁶/number for each number, with one inversion (Montgomery's trick). The numbers are below the modulus
    /// and coprime to it.
    pub(super) fn inverses(&self, numbers: &[U256]) -> Vec<U256> {
        let mut product = U256::ONE;
        let mut inverses = Vec::with_capacity(numbers.len());
        for number in numbers {
            inverses.push(product);
            product = self.product(product, *number);
        }
        // The inverse is always 2²⁵⁶ over the product so far; no number shares a divisor with the modulus.
        let mut inverse = self.product(product.inv_mod(self.value).unwrap_or_default(), self.square);
        for (before, number) in inverses.iter_mut().zip(numbers).rev() {
            *before = self.product(*before, inverse);
            inverse = self.product(inverse, *number);
        }
        inverses
    }

    /// Reduces a number of 256 bits to its least representative.
    pub(super) fn reduced(&self, number: U256) -> U256 {
        // Both moduli are above 2²⁵⁵.
        if number < self.value { number } else { number.wrapping_sub(self.value) }
    }

    /// Returns a − b for numbers below the modulus.
    pub(super) fn difference(&self, a: U256, b: U256) -> U256 {
        let difference = a.wrapping_sub(b);
        if a < b { difference.wrapping_add(self.value) } else { difference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;

    #[test]
    fn results_agree_with_division() {
        for modulus in [ORDER, PRIME] {
            let value = modulus.value;
            let radix = U256::MAX.reduce_mod(value).add_mod(U256::ONE, value);
            assert_eq!(modulus.square, radix.mul_mod(radix, value));
            assert_eq!(modulus.minus_inverse.wrapping_mul(value.as_limbs()[0]), u64::MAX);
            let mut numbers = vec![U256::ONE, U256::from(2), value - U256::ONE, value >> 1, U256::ONE << 255];
            numbers.extend((0..40u8).map(|seed| modulus.reduced(keccak256([seed]).into())));
            for count in 0..numbers.len() {
                let numbers = &numbers[..count];
                let inverses = modulus.inverses(numbers);
                assert_eq!(inverses.len(), count);
                for (number, inverse) in numbers.iter().zip(inverses) {
                    assert_eq!(modulus.product(*number, inverse), U256::ONE);
                    assert!(inverse < value);
                }
            }
            for a in &numbers {
                for b in &numbers {
                    assert_eq!(modulus.product(*a, *b).mul_mod(radix, value), a.mul_mod(*b, value));
                    assert_eq!(modulus.difference(*a, *b), a.add_mod(value - b, value));
                }
            }
            for (number, least) in
                [(value, U256::ZERO), (value - U256::ONE, value - U256::ONE), (U256::MAX, U256::MAX - value)]
            {
                assert_eq!(modulus.reduced(number), least);
            }
        }
    }
}
