//! `ots_hasCode`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::state;
use rhizome_primitives::Address;

/// Returns whether an account has code.
pub fn answer(node: &Node, address: &Address, at: &BlockId<'_>) -> Answer {
    let state = at.allow_pending(node, "ots_hasCode")?.state(node)?;
    Ok(json::boolean(!state::code(&*state, address)?.is_empty()))
}
