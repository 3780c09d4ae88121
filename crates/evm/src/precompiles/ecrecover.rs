//! ecrecover (0x01): address of the signer, or empty output.
//!
//! RSK differs from Ethereum in two points: only the last byte of the `v` word counts, and a recovered point at infinity
//! returns the "address" of the empty string instead of empty output.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use k256::elliptic_curve::point::DecompressPoint;
use k256::elliptic_curve::subtle::Choice;
use k256::{AffinePoint, FieldBytes};
use revm::precompile::{Crypto, DefaultCrypto};
use rhizome_primitives::{Bytes, U256, keccak256};

/// The order of the curve.
const ORDER: U256 = U256::from_limbs([0xbfd2_5e8c_d036_4141, 0xbaae_dce6_af48_a03b, 0xffff_ffff_ffff_fffe, u64::MAX]);

pub(super) struct EcRecover;

impl Precompile for EcRecover {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(3000)
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let output = recover(input).map_or_else(Bytes::new, |word| Bytes::copy_from_slice(&word));
        Ok(PrecompileOutput::Output(output))
    }

    fn inline_work(&self, _input_length: u64) -> Option<u64> {
        Some(8_000)
    }
}

/// Returns the signer as a word. Input: `hash ++ v ++ r ++ s`. Missing bytes of `s` are zeros.
fn recover(input: &[u8]) -> Option<[u8; 32]> {
    if input.len() < 96 {
        return None;
    }
    let hash = padded::<32>(input, 0);
    let parity = match input.get(63)? {
        27 => 0,
        28 => 1,
        _ => return None,
    };
    let r = padded::<32>(input, 64);
    let signature = padded::<64>(input, 64);
    let in_range = |word: &[u8]| (U256::from(1)..ORDER).contains(&U256::from_be_slice(word));
    if !in_range(&r) || !in_range(&padded::<32>(input, 96)) {
        return None;
    }
    if let Ok(word) = DefaultCrypto.secp256k1_ecrecover(&signature, parity, &hash) {
        return Some(word);
    }
    // With r and s in range two reasons remain: r is not an abscissa of the curve, or the key is the point at infinity.
    let point = AffinePoint::decompress(&FieldBytes::from(r), Choice::from(parity));
    bool::from(point.is_some()).then(address_of_infinity)
}

fn address_of_infinity() -> [u8; 32] {
    let mut word = keccak256([]).0;
    word[..12].fill(0);
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precompiles::golden;
    use rhizome_primitives::hex;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-ecrecover-", 34);
    }

    #[test]
    fn recovers_an_address_for_infinity() {
        let word = address_of_infinity();
        assert_eq!(hex::encode(word), "000000000000000000000000dcc703c0e500b653ca82273b7bfad8045d85a470");
    }

    #[test]
    fn the_order_is_that_of_the_curve() {
        let expected = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
        assert_eq!(ORDER.to_be_bytes::<32>().to_vec(), expected);
    }
}
