//! `net_peerCount`.

use crate::error::Answer;
use crate::json;

/// Zero.
pub fn answer() -> Answer {
    Ok(json::quantity(0))
}
