//! `eth_submitWork`.

use crate::error::Answer;
use crate::json;

/// Always false: a nonce and a digest cannot carry a solution of merged mining.
pub fn answer() -> Answer {
    Ok(json::boolean(false))
}
