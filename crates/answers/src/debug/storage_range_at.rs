//! `debug_storageRangeAt`.

use crate::block_id::BlockId;
use crate::error::{Answer, RpcError};
use crate::fork;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::tracing::Limit;
use crate::tracing::subject::BlockSubject;
use rhizome_evm::{Deadline, ListedSlot, State};
use rhizome_primitives::{Address, B256};

/// Most slots of an answer.
const MOST_SLOTS: usize = 10_000;

/// The storage slots of a contract before the transaction at an index.
pub struct StorageRange {
    /// The contract.
    pub address: Address,
    /// Number of the executed transactions of the block.
    pub index: usize,
    /// Keccak hash of the first slot, or a value below it.
    pub start: B256,
    /// Number of slots.
    pub most: usize,
}

/// Returns storage slots in the order of their Keccak hashes, as `{storage: {hash: {key, value}}, nextKey}`. Values longer than
/// a word, which the Bridge has, are complete.
pub fn answer(node: &Node, at: &BlockId<'_>, range: &StorageRange, deadline: &Deadline) -> Answer {
    fork::refuse(node, "debug_storageRangeAt", "the storage slots of the other chain cannot be listed")?;
    let block = at.locate(node)?;
    let Some(subject) = BlockSubject::at(node, &block)? else {
        return Err(RpcError::invalid_params("the genesis block has no transactions"));
    };
    if range.index > subject.block().transactions.len() {
        return Err(RpcError::invalid_params(format!("transaction index {} out of range", range.index)));
    }
    let mut replay = subject.replay_from(node, range.index, deadline)?;
    let limit = Limit::new(node.options().trace_limits.bytes);
    write(replay.state(), range, &limit, deadline)
}

fn write(state: &mut State, range: &StorageRange, limit: &Limit, deadline: &Deadline) -> Answer {
    let most = range.most.min(MOST_SLOTS);
    // One more: the next key.
    let mut slots = state.slots_from(range.address, range.start, most + 1, &|| deadline.has_passed())?;
    if deadline.has_passed() {
        return Err(RpcError::timed_out());
    }
    let next = slots.get(most).map(|slot| slot.hash);
    slots.truncate(most);
    let mut json = JsonWriter::with_capacity(256 * (1 + slots.len()));
    json.begin_object();
    json.key("storage").begin_object();
    for ListedSlot { hash, slot, value } in &slots {
        json.data_key(hash.as_slice()).begin_object();
        json.key("key").word(slot);
        json.key("value");
        match value.len() {
            0..=32 => json.hash(&B256::left_padding_from(value)),
            _ => json.data(value),
        }
        json.end_object();
        limit.check(json.len())?;
    }
    json.end_object();
    match next {
        Some(next) => json.key("nextKey").hash(&next),
        None => json.key("nextKey").null(),
    }
    json.end_object();
    Ok(json.finish())
}
