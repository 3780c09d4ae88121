//! Identity (0x04): the output is the input.

use super::price_by_words;
use super::table::{Contract, ContractContext, ContractFailure, ContractOutput};
use rhizome_primitives::Bytes;

pub(super) struct Identity;

impl Contract for Identity {
    fn required_gas(&self, input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<u64, ContractFailure> {
        Ok(price_by_words(input.len(), 15, 3))
    }

    fn run(&self, input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<ContractOutput, ContractFailure> {
        Ok(ContractOutput::Output(Bytes::copy_from_slice(input)))
    }

    fn brief_work(&self, input_length: u64) -> Option<u64> {
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
