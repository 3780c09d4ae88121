//! `txpool_*`: the transactions that wait for a block.

pub mod content;
pub mod content_from;
pub mod inspect;
pub mod status;

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::response_limit;
use rhizome_chain::{PooledTransaction, SubPool};
use rhizome_primitives::{Address, hex};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `{pending, queued}`, each sender without `0x` -> nonce in decimal -> array of what `write` writes. Fails with -32011 above
/// `max_bytes`.
fn tree(node: &Node, max_bytes: usize, mut write: impl FnMut(&mut JsonWriter, &PooledTransaction)) -> Answer {
    let pool = node.chain().pool();
    let mut json = JsonWriter::new();
    json.begin_object();
    for kind in [SubPool::Pending, SubPool::Queued] {
        let (name, waiting) = match kind {
            SubPool::Pending => ("pending", pool.pending()),
            SubPool::Queued => ("queued", pool.queued()),
        };
        json.key(name).begin_object();
        for (sender, transactions) in by_sender(waiting) {
            json.key(&hex::encode(sender)).begin_object();
            for pooled in transactions {
                json.key(&pooled.nonce.to_string()).begin_array();
                write(&mut json, &pooled);
                json.end_array();
                response_limit::check(&json, max_bytes)?;
            }
            json.end_object();
        }
        json.end_object();
    }
    json.end_object();
    Ok(json.finish())
}

/// Nonces stay in ascending order.
fn by_sender(waiting: Vec<Arc<PooledTransaction>>) -> BTreeMap<Address, Vec<Arc<PooledTransaction>>> {
    let mut senders: BTreeMap<Address, Vec<Arc<PooledTransaction>>> = BTreeMap::new();
    for pooled in waiting {
        senders.entry(pooled.sender).or_default().push(pooled);
    }
    senders
}
