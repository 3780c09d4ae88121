//! Confirmed peg-outs: from waiting for confirmations to waiting for signatures (docs/spec/bridge.md, 7.6).

use crate::confirmation_order::{confirmation_order, hash_code};
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::slots::waiting_for_confirmations::WaitingPegOut;
use crate::storage::Storage;
use rhizome_primitives::{Log, Rule};

/// Lets the first transaction with enough confirmations wait for signatures.
pub(crate) fn confirm(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<()> {
    storage.signatures.get(&mut storage.slots)?;
    let waiting = storage.confirmations.get(&mut storage.slots)?;
    let code = |entry: &WaitingPegOut| hash_code(&entry.txid, entry.creation_height);
    let codes: Vec<i32> = waiting.entries().iter().map(code).collect();
    let number = ctx.call.block_number;
    let is_confirmed = |position: &usize| {
        let created = waiting.entries().get(*position).map(|entry| entry.creation_height);
        let age = created.and_then(|height| number.checked_sub(height));
        age.is_some_and(|age| age >= ctx.constants.rsk_confirmations)
    };
    let next = confirmation_order(&codes, waiting.stored()).into_iter().find(is_confirmed);
    let Some(position) = next else { return Ok(()) };
    let entry = storage.confirmations.get_mut(&mut storage.slots)?.remove(position);
    let current = ctx.call.transaction_hash;
    let signatures = storage.signatures.get_mut(&mut storage.slots)?;
    let key = if ctx.has(Rule::Rskip375) {
        let key = entry.hash.ok_or(MethodFailure::Rejected)?;
        if signatures.contains(&key) {
            return Err(MethodFailure::Rejected);
        }
        key
    } else if ctx.has(Rule::Rskip146) && !ctx.has(Rule::Rskip176) {
        entry.hash.unwrap_or(current)
    } else {
        current
    };
    signatures.insert(key, entry.transaction);
    if ctx.has(Rule::Rskip326) {
        events::peg_out_confirmed(logs, entry.txid, entry.creation_height);
    }
    Ok(())
}
