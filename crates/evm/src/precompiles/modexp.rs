//! Modular exponentiation (0x05) with the gas rules of EIP-198.
//!
//! Price and power are those of revm (`byzantium_gas_calc`, `aurora-engine-modexp`). Written here is the reading of the
//! operands, because lengths and offsets of the reference are signed 32-bit numbers, and [`reduced_power`]: EIP-198
//! sells a long exponent of a modulus of few bytes so cheaply that the 6.8 million gas of a block buy an exponent of
//! 17 MB. Of an odd modulus of one byte revm needs 2.8 s for that and `reduced_power` 0.11 s; of two bytes (4.25 MB)
//! 0.65 s and 0.014 s, of four bytes (1 MB) 0.19 s and 0.004 s.
//!
//! The price bounds work and memory: callers must compare it with their gas before [`Precompile::run`].

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use super::pricing::limit_unpaid_work;
use revm::precompile::{Crypto, DefaultCrypto, modexp::byzantium_gas_calc};
use rhizome_primitives::U256;

const HEADER_LENGTH: usize = 96;
/// Lengths and offsets are signed 32-bit numbers in the reference.
const LENGTH_LIMIT: usize = i32::MAX as usize;
/// The reference counts gas in signed 64-bit numbers; a larger price saturates.
const PRICE_LIMIT: u64 = i64::MAX as u64;

pub(super) struct ModExp;

impl Precompile for ModExp {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(price(input))
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        limit_unpaid_work(price(input), ctx)?;
        power(input).map(|output| PrecompileOutput::Output(output.into())).ok_or(PrecompileFailure::Failed)
    }
}

/// A big-endian number in the input: the bytes that are present, and the number of zero bytes that follow them.
#[derive(Clone, Copy)]
struct Operand<'a> {
    present: &'a [u8],
    missing: usize,
}

impl<'a> Operand<'a> {
    fn read(input: &'a [u8], offset: usize, length: usize) -> Self {
        let rest = input.get(offset..).unwrap_or_default();
        let present = rest.get(..length).unwrap_or(rest);
        let missing = length - present.len();
        // Leading zeros do not change the number, and without them missing data takes no memory.
        let zeros = present.iter().take_while(|byte| **byte == 0).count();
        Self { present: present.get(zeros..).unwrap_or_default(), missing }
    }

    fn is_zero(&self) -> bool {
        self.present.is_empty()
    }

    /// Length in bytes, without leading zeros.
    fn length(&self) -> usize {
        if self.is_zero() { 0 } else { self.present.len() + self.missing }
    }

    fn to_vec(self) -> Vec<u8> {
        let mut bytes = self.present.to_vec();
        bytes.resize(self.length(), 0);
        bytes
    }

    fn to_u64(self) -> Option<u64> {
        (self.length() <= 8).then(|| self.remainder_steps().fold(0, |value, byte| value << 8 | byte))
    }

    /// Returns the remainder by `modulus`, which must be below 2^32.
    fn remainder(self, modulus: u64) -> u64 {
        self.remainder_steps().fold(0, |value, byte| (value << 8 | byte) % modulus)
    }

    fn remainder_steps(self) -> impl Iterator<Item = u64> {
        let zeros = self.length() - self.present.len();
        self.present.iter().map(|byte| u64::from(*byte)).chain(std::iter::repeat_n(0, zeros))
    }
}

fn length(input: &[u8], index: usize) -> usize {
    let word = U256::from_be_bytes(padded::<32>(input, 32 * index));
    word.saturating_to::<usize>().min(LENGTH_LIMIT)
}

fn price(input: &[u8]) -> u64 {
    let (base_length, exponent_length, modulus_length) = (length(input, 0), length(input, 1), length(input, 2));
    let head_offset = HEADER_LENGTH + base_length;
    let head = match head_offset > LENGTH_LIMIT {
        true => U256::ZERO,
        false => U256::from_be_slice(&Operand::read(input, head_offset, exponent_length.min(32)).to_vec()),
    };
    let price = byzantium_gas_calc(base_length as u64, exponent_length as u64, modulus_length as u64, &head);
    price.min(PRICE_LIMIT)
}

/// Returns the power, padded to the length of the modulus, or `None` if the arithmetic library fails.
fn power(input: &[u8]) -> Option<Vec<u8>> {
    let (base_length, exponent_length, modulus_length) = (length(input, 0), length(input, 1), length(input, 2));
    let exponent_offset = HEADER_LENGTH + base_length;
    let modulus_offset = exponent_offset + exponent_length;
    if base_length == 0 && modulus_length == 0 || modulus_offset > LENGTH_LIMIT {
        return Some(Vec::new());
    }
    let base = Operand::read(input, HEADER_LENGTH, base_length);
    let exponent = Operand::read(input, exponent_offset, exponent_length);
    let modulus = Operand::read(input, modulus_offset, modulus_length);
    if modulus.is_zero() {
        return Some(vec![0; modulus_length]);
    }
    let result = match modulus.to_u64() {
        Some(small) if is_worth_reducing(small, exponent.length()) => {
            reduced_power(base.remainder(small), exponent, small).to_be_bytes().to_vec()
        }
        _ => DefaultCrypto.modexp(&base.to_vec(), &exponent.to_vec(), &modulus.to_vec()).ok()?,
    };
    let zeros = result.iter().take_while(|byte| **byte == 0).count();
    let significant = result.get(zeros..).unwrap_or_default();
    let mut output = vec![0; modulus_length.saturating_sub(significant.len())];
    output.extend_from_slice(significant);
    Some(output)
}

/// Whether [`reduced_power`] is faster than the library, whose cost grows with each bit of the exponent.
fn is_worth_reducing(modulus: u64, exponent_length: usize) -> bool {
    match modulus {
        0..=0xffff => exponent_length > 16,
        0x1_0000..=0xffff_ffff => exponent_length > 1024,
        _ => false,
    }
}

/// Computes the power of a modulus below 2^32 by Euler: `b^e = b^(e mod phi + phi)` modulo m, for every b, if e is at
/// least the bit length of m.
fn reduced_power(base: u64, exponent: Operand<'_>, modulus: u64) -> u64 {
    let phi = totient(modulus);
    let mut exponent = exponent.remainder(phi) + phi;
    let (mut factor, mut result) = (base % modulus, 1 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * factor % modulus;
        }
        factor = factor * factor % modulus;
        exponent >>= 1;
    }
    result
}

/// Returns how many numbers below `number` have no factor in common with it, by trial division.
fn totient(number: u64) -> u64 {
    let (mut rest, mut count) = (number, number);
    let mut candidate = 2;
    while candidate * candidate <= rest {
        if rest.is_multiple_of(candidate) {
            while rest.is_multiple_of(candidate) {
                rest /= candidate;
            }
            count -= count / candidate;
        }
        candidate += if candidate == 2 { 1 } else { 2 };
    }
    if rest > 1 { count - count / rest } else { count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precompiles::golden;

    fn call(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
        let mut input = Vec::new();
        for operand in [base, exponent, modulus] {
            input.extend(U256::from(operand.len()).to_be_bytes::<32>());
        }
        input.extend([base, exponent, modulus].concat());
        input
    }

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-modexp-", 38);
    }

    #[test]
    fn reduced_power_equals_the_library() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        for round in 0..400 {
            let modulus = if round % 2 == 0 { next() % 0xffff + 1 } else { next() % 0xffff_ffff + 1 };
            let base = next();
            let exponent: Vec<u8> = (0..40).map(|_| next() as u8 | 1).collect();
            let operand = Operand::read(&exponent, 0, exponent.len() + (round % 7) as usize);
            let expected = DefaultCrypto
                .modexp(&base.to_be_bytes(), &operand.to_vec(), &modulus.to_be_bytes())
                .unwrap()
                .iter()
                .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
            assert_eq!(reduced_power(base, operand, modulus), expected, "{base}^.. mod {modulus}");
        }
        assert_eq!([1, 2, 9, 10, 97, 65_536].map(totient), [1, 1, 6, 4, 96, 32_768]);
    }

    #[test]
    fn computes_long_exponents_of_small_moduli() {
        // 6.8 million gas buy an exponent of 17 MB, of which one byte is in the data.
        let mut input = call(&[3], &[], &[]);
        input[32..64].copy_from_slice(&U256::from(17_000_000).to_be_bytes::<32>());
        input[64..96].copy_from_slice(&U256::from(1).to_be_bytes::<32>());
        input.push(5);
        assert!((6_700_000..6_900_000).contains(&price(&input)));
        // The modulus is beyond the end of the data, so it is zero.
        assert_eq!(power(&input), Some(vec![0]));
        let mut input = call(&[3], &vec![0xff; 1_000_000], &[251]);
        assert_eq!(power(&input).map(|output| output.len()), Some(1));
        input[95] = 2;
        assert_eq!(power(&input).map(|output| output.len()), Some(2));
    }

    #[test]
    fn accepts_lengths_without_data() {
        let mut input = vec![0xff; 96];
        assert_eq!(price(&input), i64::MAX as u64);
        assert_eq!(power(&input), Some(vec![]));
        input[..32].fill(0);
        input[64..].fill(0);
        assert_eq!((price(&input), power(&input)), (0, Some(vec![])));
        assert_eq!((price(&[]), power(&[])), (0, Some(vec![])));
    }

    #[test]
    fn computes_powers_of_zero_and_one() {
        assert_eq!(power(&call(&[0], &[0], &[7])), Some(vec![1]));
        assert_eq!(power(&call(&[0], &[0], &[1])), Some(vec![0]));
        assert_eq!(power(&call(&[5], &[2], &[0, 0])), Some(vec![0, 0]));
        assert_eq!(power(&call(&[5], &[2], &[0, 23])), Some(vec![0, 2]));
    }
}
