//! Identity (0x04): the output is the input.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::pricing::price_by_words;
use rhizome_primitives::Bytes;

pub(super) struct Identity;

impl Precompile for Identity {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(price_by_words(input.len(), 15, 3))
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        Ok(PrecompileOutput::Output(Bytes::copy_from_slice(input)))
    }

    fn inline_work(&self, input_length: u64) -> Option<u64> {
        Some(input_length / 64)
    }
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-identity-", 10);
    }
}
