//! `eth_syncing`.

use crate::error::Answer;
use crate::json;

/// False: blocks come from imports and mining, never from peers.
pub fn answer() -> Answer {
    Ok(json::boolean(false))
}
