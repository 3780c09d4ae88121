//! `eth_netHashrate`.

use super::hashrate::recent_rate;
use crate::error::Answer;
use crate::node::Node;

/// Difficulty of the main chain's blocks of the last hour, divided by its seconds: a JSON number.
pub fn answer(node: &Node) -> Answer {
    Ok(recent_rate(node, |_any| true)?.to_string().into_bytes())
}
