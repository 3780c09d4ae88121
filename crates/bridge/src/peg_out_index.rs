//! The hash by which registration recognizes peg-outs of the Bridge (docs/spec/bridge.md, 6.2).

use crate::error::{MethodFailure, Result};
use crate::placeholders;
use crate::redeem_script::redeem_script_of_input;
use rhizome_bitcoin::{Digest, Transaction};

/// Returns the legacy signature hash of the first input of a transaction whose signatures are removed; `None` if an input
/// has no multisig redeem script.
pub(crate) fn index_hash(transaction: &Transaction) -> Result<Option<Digest>> {
    let mut unsigned = transaction.clone();
    let mut first = None;
    for position in 0..transaction.inputs.len() {
        let script = redeem_script_of_input(transaction, position)?.filter(|script| script.is_multisig());
        let Some(script) = script else { return Ok(None) };
        let input = &mut unsigned.inputs[position];
        if input.witness.is_empty() {
            input.script = placeholders::legacy_script(&script)?;
        } else {
            input.script = placeholders::segwit_script(&script);
            input.witness = placeholders::segwit_witness(&script)?;
        }
        first.get_or_insert(script);
    }
    let Some(script) = first else { return Ok(None) };
    unsigned.legacy_signature_hash(0, &script.bytes).map(Some).map_err(|_no_input| MethodFailure::Rejected)
}
