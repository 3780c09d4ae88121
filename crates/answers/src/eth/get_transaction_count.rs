//! `eth_getTransactionCount`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// The account's nonce; at `pending` the next free one.
pub fn answer(node: &Node, address: &Address, at: &BlockId<'_>) -> Answer {
    if at.is_pending() {
        return Ok(json::quantity(node.chain().pool().next_nonce(address)?));
    }
    Ok(json::quantity_wide(&at.account(node, address)?.nonce))
}
