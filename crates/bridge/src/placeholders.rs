//! Inputs of multisig scripts before they are signed (docs/spec/bridge.md, 7.5.4).

use crate::error::{MethodFailure, Result};
use crate::redeem_script::RedeemScript;
use rhizome_bitcoin::push_data;
use rhizome_bitcoin::script::p2wsh_program;

/// Maximum number of signatures that the reference puts into an input script.
pub(crate) const SCRIPT_SIGNATURES: usize = 16;
/// More signatures than a federation can require.
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
    behind_empty_pushes(empty_pushes(script, script.is_erp())?, &script.bytes)
}

/// Returns the input script of a script that requires the signature of one key.
pub(crate) fn single_key_script(script: &[u8]) -> Result<Vec<u8>> {
    behind_empty_pushes(2, script)
}

/// Fails if the script has more bytes than the reference's library can push.
fn behind_empty_pushes(count: usize, script: &[u8]) -> Result<Vec<u8>> {
    if script.len() > usize::from(u16::MAX) {
        return Err(MethodFailure::Rejected);
    }
    let mut input = vec![0; count];
    push_data(&mut input, script);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redeem_scripts_above_65535_bytes_cannot_be_pushed() {
        for (size, fits) in [(65_535, true), (65_536, false)] {
            let (first, second) = (vec![7; 60_000], vec![7; size - 60_000 - 9]);
            let mut bytes = vec![0x51];
            [&first, &second].into_iter().for_each(|key| push_data(&mut bytes, key));
            bytes.extend([0x52, 0xae]);
            assert_eq!(bytes.len(), size);
            let script = RedeemScript::recognize(&bytes).unwrap();
            assert_eq!((legacy_script(&script).is_ok(), segwit_witness(&script).is_ok()), (fits, true));
        }
    }
}
