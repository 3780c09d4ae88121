//! Estimated sizes of peg-outs and their fees (docs/spec/bridge.md, 7.2).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation::{self, Federation};
use crate::fee_per_kb::fee_per_kb;
use crate::storage::Storage;
use crate::transaction_size::{unsigned_size, weighted_size, with_script_sizes};
use rhizome_primitives::Rule;

/// Number of inputs of an estimated peg-out.
const INPUTS: usize = 2;
/// Estimated size of a signature, bytes.
const SIGNATURE_SIZE: usize = 72;
/// Length of the output script of a federation.
const FEDERATION_SCRIPT: usize = 23;

/// Returns the estimated fee of a peg-out of the active federation with two inputs, in satoshis.
pub(crate) fn estimated_fee(storage: &mut Storage<'_>, ctx: &CallContext<'_>, outputs: usize) -> Result<u64> {
    let size = peg_out_size(ctx, &*federation::active(storage, ctx)?, INPUTS, outputs)?;
    let fee = fee_per_kb(storage, ctx)?.checked_mul(size as u64).ok_or(MethodFailure::Rejected)?;
    Ok(fee / 1000)
}

/// Returns the estimated size of a peg-out in bytes, with at least one input and one output.
pub(crate) fn peg_out_size(
    ctx: &CallContext<'_>,
    federation: &Federation,
    inputs: usize,
    outputs: usize,
) -> Result<usize> {
    let redeem_script = federation.redeem_script(ctx)?.len();
    Ok(match federation.is_segwit() {
        _ if !ctx.has(Rule::Rskip271) => old_size(redeem_script, federation.required_signatures(), inputs, outputs),
        true => segwit_size(redeem_script, federation.required_signatures(), inputs, outputs),
        false => legacy_size(redeem_script, federation.required_signatures(), inputs, outputs),
    })
}

fn old_size(redeem_script: usize, required: usize, inputs: usize, outputs: usize) -> usize {
    4 + (SIGNATURE_SIZE * required + redeem_script + 1 + 40) * inputs + (25 + 1 + 9) * outputs
}

fn legacy_size(redeem_script: usize, required: usize, inputs: usize, outputs: usize) -> usize {
    let unsigned = unsigned_size(inputs, std::iter::repeat_n(FEDERATION_SCRIPT, outputs));
    with_script_sizes(unsigned, std::iter::repeat_n(redeem_script, inputs)) + SIGNATURE_SIZE * required * inputs
}

/// The reference measures a transaction without inputs, and adds only the size of their scripts.
fn segwit_size(redeem_script: usize, required: usize, inputs: usize, outputs: usize) -> usize {
    let unsigned = unsigned_size(0, std::iter::repeat_n(FEDERATION_SCRIPT, outputs));
    weighted_size(unsigned, inputs, (SIGNATURE_SIZE * required + redeem_script) * inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_formulas() {
        assert_eq!(old_size(105, 2, 2, 2), 4 + (144 + 105 + 41) * 2 + 70);
        assert_eq!(legacy_size(105, 2, 2, 2), 4 + 1 + 2 * (36 + 1 + 105 + 4) + 1 + 64 + 4 + 288);
        assert_eq!(legacy_size(300, 2, 1, 253), 4 + 1 + (36 + 3 + 300 + 4) + 3 + 32 * 253 + 4 + 144);
        let base = 4 + 1 + 1 + 64 + 4 + 72;
        assert_eq!(segwit_size(201, 2, 2, 2), (base + 144 * 2 + 201 * 2 + 3 * base) / 4);
    }
}
