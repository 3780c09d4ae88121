//! `debug_wireProtocolQueueSize`.

use crate::error::Answer;
use crate::json;

/// Zero: messages of peers wait nowhere, for there are no peers.
pub fn answer() -> Answer {
    Ok(json::quantity(0))
}
