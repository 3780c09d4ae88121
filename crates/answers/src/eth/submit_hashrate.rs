//! `eth_submitHashrate`.

use crate::error::Answer;
use crate::json;

/// Always true. What miners say about themselves does not change `eth_hashrate`.
pub fn answer() -> Answer {
    Ok(json::boolean(true))
}
