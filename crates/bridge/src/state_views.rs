//! Views of the state for federation clients and for debugging (docs/spec/bridge.md, 2.4 and 11.2).

use crate::coins::read_active_coins;
use crate::context::CallContext;
use crate::error::Result;
use crate::headers::store::best_header;
use crate::return_value::ReturnValue;
use crate::slots::keys::SVP_SPEND_WAITING;
use crate::storage::Storage;
use crate::update_collections::next_peg_out_height;
use rhizome_primitives::{Rule, rlp};

/// The encoding of an empty list of transactions that wait for signatures: a list in a list.
const NO_TRANSACTIONS: [u8; 2] = [0xc1, 0xc0];

pub(crate) fn release_state(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    storage.signatures.get(&mut storage.slots)?;
    Ok(ReturnValue::Bytes(NO_TRANSACTIONS.to_vec()))
}

pub(crate) fn svp_state(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    storage.slots.require_absent(&SVP_SPEND_WAITING)?;
    Ok(ReturnValue::Bytes(NO_TRANSACTIONS.to_vec()))
}

/// Returns the state for debugging as an RLP list.
pub(crate) fn whole_state(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    let best = best_header(storage, ctx)?.height;
    read_active_coins(storage)?;
    storage.signatures.get(&mut storage.slots)?;
    // Only the requests in the format of the current rules.
    let queue = storage.queue.get(&mut storage.slots)?.encode(ctx.has(Rule::Rskip146));
    storage.read_confirmations()?;
    let next = next_peg_out_height(storage, ctx)?;
    let mut next_height = Vec::new();
    rlp::put_u64(&mut next_height, next);
    let mut items = Vec::new();
    rlp::put_u64(&mut items, u64::try_from(best).unwrap_or_default());
    for part in [&[0xc0][..], &[0xc0], &queue, &[0xc0], &next_height] {
        rlp::put_bytes(&mut items, part);
    }
    Ok(ReturnValue::Bytes(rlp::list(&items)))
}
