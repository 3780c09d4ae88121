//! The part of a node in a fleet: transactions of other nodes, and the block of the tag `latest`.

use crate::error::RpcError;
use crate::node::Node;
use rhizome_primitives::Transaction;

/// Takes a transaction of another node into the pool; with instant mining, a block is mined for it. Returns whether the pool took it.
pub fn take_transaction(node: &Node, transaction: Transaction) -> bool {
    let chain = node.chain();
    if !node.mines_on_submission() {
        return chain.submit_from_fleet(transaction).is_ok();
    }
    let submit =
        move |chain: &rhizome_chain::Chain| -> Result<_, RpcError> { Ok(chain.submit_from_fleet(transaction)?) };
    chain.submit_and_mine(node.now(), submit).is_ok()
}

/// Returns number and hash of the block of the tag `latest`, separated by a space.
pub fn latest_text(node: &Node) -> Result<String, RpcError> {
    let record = node.latest()?;
    Ok(format!("{} {}", record.number(), record.hash))
}
