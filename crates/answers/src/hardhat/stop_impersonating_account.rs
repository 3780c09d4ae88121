//! `hardhat_stopImpersonatingAccount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// Ends an impersonation; false when there was none.
pub fn answer(node: &Node, address: &Address) -> Answer {
    node.require_development()?;
    Ok(json::boolean(node.accounts().stop_impersonating(address)))
}
