//! RIPEMD-160 (0x03): the digest, left padded to a word.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::pricing::price_by_words;
use revm::precompile::{Crypto, DefaultCrypto};
use rhizome_primitives::Bytes;

pub(super) struct Ripemd160;

impl Precompile for Ripemd160 {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(price_by_words(input.len(), 600, 120))
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        Ok(PrecompileOutput::Output(Bytes::copy_from_slice(&DefaultCrypto.ripemd160(input))))
    }

    fn inline_work(&self, input_length: u64) -> Option<u64> {
        Some(input_length)
    }
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-ripemd160-", 11);
    }
}
