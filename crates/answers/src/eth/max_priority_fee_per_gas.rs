//! `eth_maxPriorityFeePerGas`.

use crate::error::Answer;
use crate::json;

/// Returns zero: the gas price is the only fee, and the minimum gas price is accepted.
pub fn answer() -> Answer {
    Ok(json::quantity(0))
}
