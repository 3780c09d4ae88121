//! `ots_getTransactionError`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::replay;
use rhizome_evm::{Deadline, End};
use rhizome_primitives::B256;

/// Returns the data of the REVERT that ended a transaction; `0x` if it ended otherwise, `null` if it is not on the best chain.
pub fn answer(node: &Node, hash: &B256, deadline: &Deadline) -> Answer {
    let Some(mined) = node.chain().transaction(hash)? else { return Ok(json::null()) };
    let outcome = replay::transaction(node, &mined, deadline)?;
    Ok(json::data(if outcome.end == End::Revert { &outcome.output } else { &[] }))
}
