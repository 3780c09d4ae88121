//! Inputs of multisig scripts before they are signed (docs/spec/bridge.md, 7.5.4).

use crate::error::{MethodFailure, Result};
use crate::redeem_script::RedeemScript;
use rhizome_bitcoin::push_data;
use rhizome_bitcoin::script::p2wsh_program;

/// Maximum number of signatures that the reference puts into an input script.
pub(crate) const SCRIPT_SIGNATURES: usize = 16;
/// More signatures than a federation with witnesses can require: its redeem script has at most 3566 bytes.
pub(crate) const WITNESS_SIGNATURES: usize = 100;
/// Maximum number of signatures of a placeholder. A proven spend cannot require more; the reference runs out of memory
/// long before the largest number that a script can hold.
const MAXIMUM_SIGNATURES: usize = 1 << 23;

/// Returns the number of empty pushes before the redeem script: the extra element of CHECKMULTISIG, one for each signature,
/// and the selector of the default branch.
fn empty_pushes(script: &RedeemScript, has_selector: bool) -> Result<usize> {
    match script.required_signatures()? {
        required @ 0..=MAXIMUM_SIGNATURES => Ok(1 + required + usize::from(has_selector)),
        _ => Err(MethodFailure::Rejected),
    }
}

/// Returns the input script without signatures. Fails if the redeem script is no multisig.
pub(crate) fn legacy_script(script: &RedeemScript) -> Result<Vec<u8>> {
    let mut input = vec![0; empty_pushes(script, script.is_erp())?];
    push_data(&mut input, &script.bytes);
    Ok(input)
}

/// Returns the witness without signatures. Fails if the redeem script is no multisig.
pub(crate) fn segwit_witness(script: &RedeemScript) -> Result<Vec<Vec<u8>>> {
    let mut witness = vec![Vec::new(); empty_pushes(script, true)?];
    witness.push(script.bytes.clone());
    Ok(witness)
}

/// Returns the input script beside a witness.
pub(crate) fn segwit_script(script: &RedeemScript) -> Vec<u8> {
    let mut input = Vec::new();
    push_data(&mut input, &p2wsh_program(&script.bytes));
    input
}
