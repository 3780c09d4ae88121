//! `eth_getCode`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::state;
use rhizome_primitives::Address;

/// Returns the code of a contract; `0x` if the account has no code.
pub fn answer(node: &Node, address: &Address, at: &BlockId<'_>) -> Answer {
    let state = at.allow_pending(node, "eth_getCode")?.state(node)?;
    Ok(json::data(&state::code(&*state, address)?))
}
