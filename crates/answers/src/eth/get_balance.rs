//! `eth_getBalance`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::Selector;
use crate::state;
use rhizome_primitives::Address;

/// Balance in wei; zero for an unknown account.
pub fn answer(node: &Node, address: &Address, at: &Selector<'_>) -> Answer {
    let account = state::account_at(node, at, address)?;
    Ok(json::quantity_wide(&account.balance.unsigned_abs()))
}
