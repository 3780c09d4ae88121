//! `ots_getInternalOperations`.

use super::recorded_calls::{InnerCall, RecordedCalls};
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::call_tree::Deed;
use rhizome_evm::Deadline;
use rhizome_evm::tracing::CallKind;
use rhizome_primitives::{Address, B256, U256};

const TRANSFER: i64 = 0;
const SELF_DESTRUCT: i64 = 1;
const CREATE: i64 = 2;
const CREATE2: i64 = 3;

/// Returns the transfers of coins, creations and self-destructs inside a transaction that were not undone, in the order of execution;
/// `null` if the transaction is not on the best chain. Payments of the REMASC transaction are transfers.
pub fn answer(node: &Node, hash: &B256, deadline: &Deadline) -> Answer {
    let Some(mined) = node.chain().transaction(hash)? else { return Ok(json::null()) };
    let Some(calls) = RecordedCalls::of(node, &mined, deadline)? else { return Ok(json::null()) };
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    let payer = calls.traced.to.unwrap_or_default();
    for (receiver, amount) in calls.traced.payments() {
        write(&mut json, TRANSFER, &payer, &receiver, &amount);
    }
    for call in calls.inner_calls().iter().filter(|call| call.is_kept) {
        if let Some(kind) = kind(call) {
            write(&mut json, kind, &call.node.from, &call.node.to, &call.node.value);
        }
    }
    json.end_array();
    calls.limit.check(json.len())?;
    Ok(json.finish())
}

fn kind(call: &InnerCall<'_>) -> Option<i64> {
    match call.node.deed {
        Deed::SelfDestruct => Some(SELF_DESTRUCT),
        Deed::Call(CallKind::Create) => Some(CREATE),
        Deed::Call(CallKind::Create2) => Some(CREATE2),
        Deed::Call(CallKind::Call) if !call.node.value.is_zero() => Some(TRANSFER),
        Deed::Call(_) => None,
    }
}

fn write(json: &mut JsonWriter, kind: i64, from: &Address, to: &Address, value: &U256) {
    json.begin_object();
    json.key("type").number(kind);
    json.key("from").data(from.as_slice());
    json.key("to").data(to.as_slice());
    json.key("value").quantity_wide(value);
    json.end_object();
}
