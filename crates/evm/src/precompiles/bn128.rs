//! alt_bn128 addition, multiplication and pairing check (0x06, 0x07, 0x08; RSKIP-137).
//!
//! Invalid points are a success without output before RSKIP-197 and a failure from then on.

use super::table::{Contract, ContractContext, ContractFailure, ContractOutput};
use revm::precompile::EthPrecompileResult;
use revm::precompile::bn254::{run_add, run_mul, run_pair};
use rhizome_primitives::{Bytes, Rule, Rules};

const PAIR_LENGTH: u64 = 192;

pub(super) struct Bn128Add;
pub(super) struct Bn128Mul;
pub(super) struct Bn128Pairing;

impl Contract for Bn128Add {
    fn required_gas(&self, _input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<u64, ContractFailure> {
        Ok(150)
    }

    fn run(&self, input: &[u8], ctx: &mut ContractContext<'_>) -> Result<ContractOutput, ContractFailure> {
        settle(run_add(input, 0, 0), &ctx.rules)
    }
}

impl Contract for Bn128Mul {
    fn required_gas(&self, _input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<u64, ContractFailure> {
        Ok(6000)
    }

    fn run(&self, input: &[u8], ctx: &mut ContractContext<'_>) -> Result<ContractOutput, ContractFailure> {
        settle(run_mul(input, 0, 0), &ctx.rules)
    }
}

impl Contract for Bn128Pairing {
    fn required_gas(&self, input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<u64, ContractFailure> {
        Ok(45_000 + 34_000 * (input.len() as u64 / PAIR_LENGTH))
    }

    fn run(&self, input: &[u8], ctx: &mut ContractContext<'_>) -> Result<ContractOutput, ContractFailure> {
        settle(run_pair(input, 0, 0, 0), &ctx.rules)
    }
}

fn settle(result: EthPrecompileResult, rules: &Rules) -> Result<ContractOutput, ContractFailure> {
    match result {
        Ok(output) => Ok(ContractOutput::Output(output.bytes)),
        Err(_) if rules.is_active(Rule::Rskip197) => Err(ContractFailure::Failed),
        Err(_) => Ok(ContractOutput::Output(Bytes::new())),
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
