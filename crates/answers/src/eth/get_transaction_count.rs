//! `eth_getTransactionCount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::Selector;
use crate::state;
use rhizome_primitives::Address;

/// The account's nonce; at `pending` the next free one.
pub fn answer(node: &Node, address: &Address, at: &Selector<'_>) -> Answer {
    if at.is_pending() {
        return Ok(json::quantity(node.chain().pool().next_nonce(address)?));
    }
    Ok(json::quantity_wide(&state::account_at(node, at, address)?.nonce))
}
