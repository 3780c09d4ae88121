//! `anvil_removePoolTransactions`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, B256};

/// Takes all transactions of a sender out of the pool; null.
pub fn answer(node: &Node, sender: &Address) -> Answer {
    let pool = node.require_development()?.pool();
    let waiting = pool.pending().into_iter().chain(pool.queued());
    let hashes: Vec<B256> = waiting.filter(|entry| entry.sender == *sender).map(|entry| entry.hash).collect();
    pool.remove(&hashes);
    Ok(json::null())
}
