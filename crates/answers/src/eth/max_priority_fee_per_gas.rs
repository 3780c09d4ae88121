//! `eth_maxPriorityFeePerGas`.

use crate::error::Answer;
use crate::json;

/// Zero: what a sender pays is the gas price alone, and the minimum gets in.
pub fn answer() -> Answer {
    Ok(json::quantity(0))
}
