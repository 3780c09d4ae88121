//! `eth_getBalance`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// Balance in wei; zero for an unknown account.
pub fn answer(node: &Node, address: &Address, at: &BlockId<'_>) -> Answer {
    let account = at.account(node, address)?;
    Ok(json::quantity_wide(&account.balance.unsigned_abs()))
}
