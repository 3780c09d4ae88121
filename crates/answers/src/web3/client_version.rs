//! `web3_clientVersion`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Product, version, platform and runtime.
pub fn answer(node: &Node) -> Answer {
    Ok(json::text(&node.options().client_version))
}
