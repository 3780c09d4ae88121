//! `anvil_autoImpersonateAccount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Whether `eth_sendTransaction` sends as any address without its key from now on; null.
pub fn answer(node: &Node, is_on: bool) -> Answer {
    node.require_no_fleet("anvil_autoImpersonateAccount")?;
    node.require_development()?;
    node.accounts().impersonate_all(is_on);
    Ok(json::null())
}
