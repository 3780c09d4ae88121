//! SHA-256 (0x02).

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::pricing::price_by_words;
use revm::precompile::{Crypto, DefaultCrypto};
use rhizome_primitives::Bytes;

pub(super) struct Sha256;

impl Precompile for Sha256 {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(price_by_words(input.len(), 60, 12))
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        Ok(PrecompileOutput::Output(Bytes::copy_from_slice(&DefaultCrypto.sha256(input))))
    }

    fn inline_work(&self, input_length: u64) -> Option<u64> {
        Some(input_length / 2)
    }
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-sha256-", 11);
    }
}
