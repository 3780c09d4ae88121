//! Transactions that were left out of a block, for the log.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use parking_lot::Mutex;
use rhizome_chain::SkippedTransaction;
use std::collections::VecDeque;

/// Transactions that are remembered until the log asks; the oldest go first.
const MEMORY: usize = 1_000;

/// Entries that were not read yet.
#[derive(Debug, Default)]
pub(crate) struct WaitingFeed(Mutex<VecDeque<SkippedTransaction>>);

impl WaitingFeed {
    /// Adds a transaction.
    pub(crate) fn push(&self, left: &SkippedTransaction) {
        let mut waiting = self.0.lock();
        if waiting.len() == MEMORY {
            waiting.pop_front();
        }
        waiting.push_back(left.clone());
    }
}

/// Returns `[{"hash","from","nonce","reason","isDropped"}]`: the changes since the last poll.
pub fn answer(node: &Node) -> Answer {
    let waiting = std::mem::take(&mut *node.waiting_feed().0.lock());
    let mut json = JsonWriter::new();
    json.begin_array();
    for left in waiting {
        json.begin_object();
        json.key("hash").hash(&left.hash);
        json.key("from").data(left.sender.as_slice());
        json.key("nonce").raw(left.nonce.to_string().as_bytes());
        json.key("reason").text(&left.reason.to_string());
        json.key("isDropped").raw(if left.reason.is_final() { b"true" } else { b"false" });
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}
