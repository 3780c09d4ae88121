//! Environment precompile (0x01000011; RSKIP-203): depth of the caller.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use rhizome_primitives::U256;
use rhizome_primitives::abi::{self, selector};

/// `getCallStackDepth() returns (uint32)`
const GET_CALL_STACK_DEPTH: u32 = 0xe8ce_2274;

pub(super) struct Environment;

impl Precompile for Environment {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(0)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        match selector(input) {
            Some((GET_CALL_STACK_DEPTH, _)) => {
                // A direct call by a transaction is the first level.
                let depth = if ctx.is_direct { 1 } else { u64::from(ctx.call_depth) + 1 };
                Ok(PrecompileOutput::Output(abi::encode_word(U256::from(depth))))
            }
            _ => Err(PrecompileFailure::Failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-env-", 9);
    }
}
