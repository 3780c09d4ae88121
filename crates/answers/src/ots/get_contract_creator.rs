//! `ots_getContractCreator`.

use super::recorded_calls::RecordedCalls;
use crate::error::{Answer, RpcError};
use crate::first_block::first_block;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::state;
use crate::tracing::subject::BlockSubject;
use rhizome_chain::BlockRecord;
use rhizome_evm::{Deadline, End};
use rhizome_primitives::{Address, B256};
use rhizome_trie::StateReader;
use std::sync::Arc;

/// Returns the transaction that created a contract, and its creator: the sender, or the contract that created it; `null` if the account
/// has no code, or has it since genesis. The block is found by its place in the history of the code: fails with -32000 if it is below
/// the oldest kept state. Of a contract that was destroyed and created again, it is one of the creations.
pub fn answer(node: &Node, address: &Address, deadline: &Deadline) -> Answer {
    let has_code = |state: &dyn StateReader| Ok(!state::code(state, address)?.is_empty());
    let Some(number) = first_block(node, "creation", deadline, has_code)? else { return Ok(json::null()) };
    let Some(record) = node.chain().main_block(number)? else { return Ok(json::null()) };
    let Some((hash, creator)) = creation(node, &record, address, deadline)? else { return Ok(json::null()) };
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("hash").hash(&hash);
    json.key("creator").data(creator.as_slice());
    json.end_object();
    Ok(json.finish())
}

/// Executes a block again until a contract is created.
fn creation(
    node: &Node,
    record: &Arc<BlockRecord>,
    address: &Address,
    deadline: &Deadline,
) -> Result<Option<(B256, Address)>, RpcError> {
    let Some(subject) = BlockSubject::of_block(node, record)? else { return Ok(None) };
    let mut replay = subject.replay(node, deadline)?;
    for index in 0..record.block.transactions.len() {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let Some(calls) = RecordedCalls::next(node, &subject, &mut replay, index)? else { return Ok(None) };
        let traced = &calls.traced;
        if traced.created == Some(*address) && traced.end == End::Success {
            return Ok(Some((traced.hash, traced.sender)));
        }
        let inner = calls.inner_calls();
        let is_creation = |node: &crate::tracing::call_tree::CallNode| node.is_creation() && node.to == *address;
        if let Some(call) = inner.iter().find(|call| call.is_kept && is_creation(call.node)) {
            return Ok(Some((traced.hash, call.node.from)));
        }
    }
    Ok(None)
}
