//! alt_bn128 addition, multiplication and pairing check (0x06, 0x07, 0x08; RSKIP-137).
//!
//! An invalid point is a success without output before RSKIP-197, and a failure from then on.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use revm::precompile::EthPrecompileResult;
use revm::precompile::bn254::{run_add, run_mul, run_pair};
use rhizome_primitives::{Bytes, Rule, Rules};

const PAIR_LENGTH: u64 = 192;

pub(super) struct Bn128Add;
pub(super) struct Bn128Mul;
pub(super) struct Bn128Pairing;

impl Precompile for Bn128Add {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(150)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        settle(run_add(input, 0, 0), &ctx.rules)
    }
}

impl Precompile for Bn128Mul {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(6000)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        settle(run_mul(input, 0, 0), &ctx.rules)
    }
}

impl Precompile for Bn128Pairing {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(45_000 + 34_000 * (input.len() as u64 / PAIR_LENGTH))
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        settle(run_pair(input, 0, 0, 0), &ctx.rules)
    }
}

fn settle(result: EthPrecompileResult, rules: &Rules) -> Result<PrecompileOutput, PrecompileFailure> {
    match result {
        Ok(output) => Ok(PrecompileOutput::Output(output.bytes)),
        Err(_) if rules.is_active(Rule::Rskip197) => Err(PrecompileFailure::Failed),
        Err(_) => Ok(PrecompileOutput::Output(Bytes::new())),
    }
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-bn128", 64);
    }
}
