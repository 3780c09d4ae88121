//! `eth_submitHashrate`.

use crate::error::Answer;
use crate::json;

/// Returns true. Reports of miners do not change `eth_hashrate`.
pub fn answer() -> Answer {
    Ok(json::boolean(true))
}
