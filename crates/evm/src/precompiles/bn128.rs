//! alt_bn128 addition, multiplication and pairing check (0x06, 0x07, 0x08; RSKIP-137).
//!
//! An invalid point is a success without output before RSKIP-197, and a failure from then on.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use revm::precompile::{Crypto, DefaultCrypto, PrecompileHalt};
use rhizome_primitives::{Bytes, Rule, Rules, U256};

const POINT_LENGTH: usize = 64;
/// A point of each group.
const PAIR_LENGTH: usize = 192;

pub(super) struct Bn128Add;
pub(super) struct Bn128Mul;
pub(super) struct Bn128Pairing;

impl Precompile for Bn128Add {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(150)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let left: [u8; POINT_LENGTH] = padded(input, 0);
        let right: [u8; POINT_LENGTH] = padded(input, POINT_LENGTH);
        settle(DefaultCrypto.bn254_g1_add(&left, &right), &ctx.rules)
    }
}

impl Precompile for Bn128Mul {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(6000)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let point: [u8; POINT_LENGTH] = padded(input, 0);
        let scalar: [u8; 32] = padded(input, POINT_LENGTH);
        settle(DefaultCrypto.bn254_g1_mul(&point, &scalar), &ctx.rules)
    }
}

impl Precompile for Bn128Pairing {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(45_000 + 34_000 * (input.len() / PAIR_LENGTH) as u64)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let (pairs, rest) = input.as_chunks::<PAIR_LENGTH>();
        if !rest.is_empty() {
            return settle::<32>(Err(PrecompileHalt::Bn254PairLength), &ctx.rules);
        }
        let points: Vec<_> = pairs.iter().map(|pair| pair.split_at(POINT_LENGTH)).collect();
        let holds = DefaultCrypto.bn254_pairing_check(&points);
        settle(holds.map(|holds| U256::from(holds).to_be_bytes::<32>()), &ctx.rules)
    }
}

fn settle<const N: usize>(
    result: Result<[u8; N], PrecompileHalt>,
    rules: &Rules,
) -> Result<PrecompileOutput, PrecompileFailure> {
    match result {
        Ok(output) => Ok(PrecompileOutput::Output(Bytes::copy_from_slice(&output))),
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
