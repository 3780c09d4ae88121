//! Witness roots of Bitcoin blocks (docs/spec/bridge.md, 6.4).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::headers::store::{self, best_header};
use crate::return_value::ReturnValue;
use crate::slots::access::decode_elements;
use crate::slots::keys::coinbase_word;
use crate::storage::Storage;
use crate::submission::{proven_root, verified_transaction};
use rhizome_bitcoin::{BitcoinTransaction, Digest, display, parse_script, sha256d};
use rhizome_primitives::{B256, Rule, hex};

/// Start of an output script with a commitment to the witnesses of a block; the commitment follows (BIP-141).
const COMMITMENT_PREFIX: [u8; 6] = hex!("6a24aa21a9ed");

/// Returns the witness root that is registered for a Bitcoin block.
pub(crate) fn witness_root(storage: &mut Storage<'_>, block: &B256) -> Result<Option<[u8; 32]>> {
    storage.slots.decoded(&coinbase_word(block), |bytes| match decode_elements(bytes)?.as_slice() {
        [root] => root.bytes().try_into().ok(),
        _ => None,
    })
}

pub(crate) fn has_witness_root(storage: &mut Storage<'_>, block: &B256) -> Result<ReturnValue> {
    Ok(ReturnValue::flag(witness_root(storage, block)?.is_some()))
}

/// The coinbase of a Bitcoin block and the data that it commits to.
pub(crate) struct CoinbaseSubmission<'a> {
    /// The coinbase without its witness.
    pub(crate) coinbase: &'a [u8],
    /// Hash of the block, display order.
    pub(crate) block: B256,
    /// Partial Merkle tree from the coinbase to the root of the block.
    pub(crate) proof: &'a [u8],
    /// Merkle root of the transactions with their witnesses, display order.
    pub(crate) witness_root: [u8; 32],
    /// The only push of the witness of the coinbase.
    pub(crate) reserved: [u8; 32],
}

/// Stores the witness root of a block, which need not be on the main chain. Opens the header store. A proof of another
/// transaction or block changes nothing.
pub(crate) fn register(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    submission: &CoinbaseSubmission<'_>,
) -> Result<ReturnValue> {
    best_header(storage, ctx)?;
    let Some(root) = proven_root(submission.proof, &sha256d(submission.coinbase))? else {
        return Ok(ReturnValue::None);
    };
    let header = store::header(storage, &submission.block)?.ok_or(MethodFailure::Argument)?;
    if header.header.merkle_root() != root {
        return Ok(ReturnValue::None);
    }
    let coinbase = verified_transaction(submission.coinbase)?;
    if !coinbase.is_coinbase() {
        return Err(MethodFailure::Rejected);
    }
    let committed = [display(submission.witness_root), submission.reserved].concat();
    if commitment(ctx, &coinbase)? != Some(sha256d(&committed)) {
        return Err(MethodFailure::Argument);
    }
    storage.set_witness_root(&submission.block, &submission.witness_root);
    Ok(ReturnValue::None)
}

/// Returns the commitment in the last output that has one. Until RSKIP-460 an output behind it whose script does not parse
/// is a call error.
fn commitment(ctx: &CallContext<'_>, coinbase: &BitcoinTransaction) -> Result<Option<Digest>> {
    for output in coinbase.outputs.iter().rev() {
        if !ctx.has(Rule::Rskip460) {
            parse_script(&output.script)?;
        }
        let rest = output.script.strip_prefix(&COMMITMENT_PREFIX);
        if let Some(commitment) = rest.and_then(<[u8]>::first_chunk) {
            return Ok(Some(*commitment));
        }
    }
    Ok(None)
}
