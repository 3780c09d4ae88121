//! The hash by which registration recognizes peg-outs of the Bridge (docs/spec/bridge.md, 6.2).

use crate::error::{MethodFailure, Result};
use crate::placeholders::{SCRIPT_SIGNATURES, WITNESS_SIGNATURES, legacy_script, segwit_script, segwit_witness};
use crate::redeem_script::{RedeemScript, redeem_script_of_input};
use rhizome_bitcoin::{BitcoinTransaction, Digest};

/// Returns the legacy signature hash of the first input of a transaction whose signatures are removed; `None` if an input
/// has no multisig redeem script, or the script requires more signatures than any peg-out.
///
/// A script can require billions of signatures, so placeholders are made only of plausible numbers.
pub(crate) fn index_hash(transaction: &BitcoinTransaction) -> Result<Option<Digest>> {
    let mut unsigned = transaction.clone();
    let mut first = None;
    let mut is_plausible = true;
    for (position, input) in unsigned.inputs.iter_mut().enumerate() {
        let script = redeem_script_of_input(transaction, position)?.filter(RedeemScript::is_multisig);
        let Some(script) = script else { return Ok(None) };
        let required = script.required_signatures()?;
        if input.witness.is_empty() {
            // The reference stops here: it fails with an error that it takes for another transaction.
            if required > SCRIPT_SIGNATURES {
                return Ok(None);
            }
            input.script = legacy_script(&script)?;
        } else if required > WITNESS_SIGNATURES {
            is_plausible = false;
        } else {
            input.script = segwit_script(&script);
            input.witness = segwit_witness(&script)?;
        }
        first.get_or_insert(script);
    }
    let Some(script) = first.filter(|_| is_plausible) else { return Ok(None) };
    unsigned.legacy_signature_hash(0, &script.bytes).map(Some).map_err(|_no_input| MethodFailure::Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_bitcoin::{OutPoint, TransactionInput, push_data};

    /// A multisig of one key that requires `count` signatures, given as the bytes of a number push.
    fn multisig(count: &[u8]) -> Vec<u8> {
        [count, &[33], &[2; 33], &[0x51, 0xae]].concat()
    }

    fn spend(scripts: &[Vec<u8>], has_witness: bool) -> BitcoinTransaction {
        let input = |(index, script): (u32, &Vec<u8>)| {
            let mut push = Vec::new();
            push_data(&mut push, script);
            let outpoint = OutPoint { txid: [1; 32], index };
            let witness = if has_witness { vec![vec![9], script.clone()] } else { vec![] };
            TransactionInput { outpoint, script: push, sequence: 0, witness }
        };
        BitcoinTransaction {
            version: 2,
            inputs: (0..).zip(scripts).map(input).collect(),
            outputs: vec![],
            lock_time: 0,
        }
    }

    #[test]
    fn signatures_do_not_change_the_hash() {
        for has_witness in [false, true] {
            let mut transaction = spend(&[multisig(&[0x51]), multisig(&[0x52])], has_witness);
            let hash = index_hash(&transaction).unwrap();
            assert!(hash.is_some());
            match has_witness {
                true => transaction.inputs[1].witness[0] = vec![7; 71],
                false => transaction.inputs[1].script.splice(0..0, [1, 7]).for_each(drop),
            }
            assert_eq!(index_hash(&transaction).unwrap(), hash);
        }
    }

    #[test]
    fn scripts_of_too_many_signatures_have_no_hash() {
        let millions = multisig(&[4, 0xff, 0xff, 0xff, 0x7f]);
        for has_witness in [false, true] {
            let transaction = spend(&vec![millions.clone(); 5_000], has_witness);
            assert_eq!(index_hash(&transaction).unwrap(), None);
        }
        assert!(index_hash(&spend(&[multisig(&[1, 16])], false)).unwrap().is_some());
        assert_eq!(index_hash(&spend(&[multisig(&[1, 17])], false)).unwrap(), None);
        // Only the later input is a call error.
        let mut transaction = spend(&[millions.clone(), millions], true);
        transaction.inputs[1].witness = vec![];
        transaction.inputs[1].script = vec![2, 1];
        assert!(index_hash(&transaction).is_err());
    }
}
