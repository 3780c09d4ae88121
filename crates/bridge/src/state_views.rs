//! Views of the state for federation clients and for debugging (docs/spec/bridge.md, 2.4 and 11.2).

use crate::batches::next_peg_out_height;
use crate::context::CallContext;
use crate::error::Result;
use crate::headers::store::best_header;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use rhizome_primitives::{Rule, rlp};

/// The encoding of no transactions: a list in a list.
const NO_TRANSACTIONS: [u8; 2] = [0xc1, 0xc0];

/// Returns the transactions that wait for signatures.
pub(crate) fn release_state(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    let waiting = storage.signatures.get(&mut storage.slots)?.encode();
    Ok(ReturnValue::Bytes(rlp::list(&waiting)))
}

/// Returns the spend transaction of a proposed federation, while it waits for signatures.
pub(crate) fn svp_state(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    let spend = storage.svp.spend_waiting.get(&mut storage.slots)?.encode();
    Ok(ReturnValue::Bytes(spend.map_or_else(|| NO_TRANSACTIONS.to_vec(), |spend| rlp::list(&spend))))
}

/// Returns the state for debugging as an RLP list.
pub(crate) fn whole_state(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    let has_hashes = ctx.has(Rule::Rskip146);
    let best = best_header(storage, ctx)?.height;
    let coins = storage.new_coins.get(&mut storage.slots)?.encode();
    let signatures = storage.signatures.get(&mut storage.slots)?.encode();
    // Only the requests and transactions in the format of the current rules.
    let queue = storage.queue.get(&mut storage.slots)?.encode(has_hashes);
    let confirmations = storage.confirmations.get(&mut storage.slots)?.encode(has_hashes);
    let mut next_height = Vec::new();
    rlp::put_u64(&mut next_height, next_peg_out_height(storage, ctx)?);
    let mut items = Vec::new();
    rlp::put_u64(&mut items, u64::try_from(best).unwrap_or_default());
    for part in [&coins, &signatures, &queue, &confirmations, &next_height] {
        rlp::put_bytes(&mut items, part);
    }
    Ok(ReturnValue::Bytes(rlp::list(&items)))
}
