//! `updateCollections` on a Bridge without coins (docs/spec/bridge.md, 7.3 and 7.5).

use crate::context::CallContext;
use crate::error::Result;
use crate::events;
use crate::federation::{self, require_member};
use crate::fee_per_kb::fee_per_kb;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use rhizome_primitives::{Log, Rule};

/// Maximum number of requests that a call processes, until RSKIP-271.
const REQUESTS_PER_CALL: usize = 30;

/// Without coins no request can be paid, so all requests stay in the queue.
pub(crate) fn update_collections(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
) -> Result<ReturnValue> {
    require_member(storage, ctx)?;
    events::update_collections(logs, ctx);
    federation::active_coins(storage, ctx)?;
    storage.confirmations.get(&mut storage.slots)?;
    fee_per_kb(storage, ctx)?;
    if ctx.has(Rule::Rskip271) {
        let (number, next) = (ctx.call.block_number, next_peg_out_height(storage, ctx)?);
        if storage.queue.get(&mut storage.slots)?.0.is_empty() && number >= next {
            storage.next_peg_out_height.set(number.checked_add(ctx.constants.blocks_between_batches));
        }
    } else {
        let queue = &mut storage.queue.get_mut(&mut storage.slots)?.0;
        let count = queue.len().min(REQUESTS_PER_CALL);
        queue.rotate_left(count);
    }
    storage.signatures.get(&mut storage.slots)?;
    federation::update_creation_heights(storage, ctx)?;
    Ok(ReturnValue::None)
}

/// Returns the RSK height of the next batch of peg-outs; 0 until RSKIP-271. Sets 0 if the height is absent.
pub(crate) fn next_peg_out_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    if !ctx.has(Rule::Rskip271) {
        return Ok(0);
    }
    Ok(*storage.next_peg_out_height.get_mut(&mut storage.slots)?.get_or_insert_default())
}
