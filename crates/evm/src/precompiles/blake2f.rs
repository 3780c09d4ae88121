//! BLAKE2b compression (0x09; RSKIP-153), as in EIP-152.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use super::pricing::limit_unpaid_work;
use revm::precompile::{Crypto, DefaultCrypto};
use rhizome_primitives::{Bytes, Rule};

const INPUT_LENGTH: usize = 213;

pub(super) struct Blake2f;

impl Precompile for Blake2f {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(price(input))
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        // The reference aborts the execution of the block if a transaction without data calls this precompile.
        if input.is_empty() && ctx.is_direct && !ctx.rules.is_active(Rule::Rskip552) {
            return Err(PrecompileFailure::BlakeWithoutData);
        }
        limit_unpaid_work(price(input), ctx)?;
        let output = compress(input).ok_or(PrecompileFailure::Failed)?;
        Ok(PrecompileOutput::Output(Bytes::copy_from_slice(&output)))
    }
}

fn price(input: &[u8]) -> u64 {
    if input.len() == INPUT_LENGTH { u64::from(rounds(input)) } else { 0 }
}

fn rounds(input: &[u8]) -> u32 {
    u32::from_be_bytes(padded(input, 0))
}

/// `rounds (4, big endian) ++ h (64) ++ m (128) ++ t (16) ++ final flag (1)`; words are little endian.
fn compress(input: &[u8]) -> Option<[u8; 64]> {
    if input.len() != INPUT_LENGTH {
        return None;
    }
    let is_final = match input.last()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let word = |index: usize| u64::from_le_bytes(padded(input, 4 + 8 * index));
    let mut h: [u64; 8] = std::array::from_fn(word);
    let m: [u64; 16] = std::array::from_fn(|i| word(8 + i));
    let t: [u64; 2] = std::array::from_fn(|i| word(24 + i));
    DefaultCrypto.blake2_compress(rounds(input), &mut h, &m, &t, is_final);
    let mut output = [0; 64];
    for (target, word) in output.chunks_exact_mut(8).zip(h) {
        target.copy_from_slice(&word.to_le_bytes());
    }
    Some(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ExecError;
    use crate::precompiles::golden::{self, FixedAncestry};
    use rhizome_primitives::{ChainSpec, Rules};

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-blake2f-", 36);
    }

    #[test]
    fn rejects_invalid_input_and_unpaid_work() {
        let spec = ChainSpec::regtest();
        let env = golden::env(&golden::load("precompiles")["cases"][0]["env"]);
        let ancestry = FixedAncestry::new(None, &spec);
        let (mut state, mut logs) = (golden::state_of(&serde_json::json!({})), Vec::new());
        let mut ctx = golden::context(&spec, Rules::all(), &env, &ancestry, &mut state, &mut logs);
        ctx.is_direct = true;
        assert!(matches!(Blake2f.run(&[], &mut ctx), Err(PrecompileFailure::Failed)));
        ctx.rules = ctx.rules.without(Rule::Rskip552);
        assert!(matches!(Blake2f.run(&[], &mut ctx), Err(PrecompileFailure::BlakeWithoutData)));
        // Four billion rounds without payment.
        ctx.is_local_call = true;
        let result = Blake2f.run(&[0xff; INPUT_LENGTH], &mut ctx);
        assert!(matches!(result, Err(PrecompileFailure::Fatal(ExecError::DeadlineExceeded))));
    }
}
