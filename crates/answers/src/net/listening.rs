//! `net_listening`.

use crate::error::Answer;
use crate::json;

/// False: no peer port is open.
pub fn answer() -> Answer {
    Ok(json::boolean(false))
}
