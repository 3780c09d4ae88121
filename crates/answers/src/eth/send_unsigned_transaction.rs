//! `eth_sendUnsignedTransaction`.

use crate::call_object::CallObject;
use crate::delivery;
use crate::error::Answer;
use crate::eth::send_transaction::pending;
use crate::node::Node;

/// Sends as any address, without its key where this node does not have it; the hash.
pub fn answer(node: &Node, object: &CallObject) -> Answer {
    node.require_development()?;
    let signer = |from: &_| Ok(node.accounts().signer_or_impersonator(from));
    let pending = pending(node, object, signer)?;
    delivery::deliver(node, move |chain| pending.submit(chain))
}
