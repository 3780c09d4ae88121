//! `hardhat_dropTransaction`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::B256;

/// Takes a transaction out of the pool; false when it is not there.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let pool = node.require_development()?.pool();
    let is_there = pool.get(hash).is_some();
    pool.remove(&[*hash]);
    Ok(json::boolean(is_there))
}
