//! `net_peerList`.

use crate::error::Answer;

/// An empty array.
pub fn answer() -> Answer {
    Ok(b"[]".to_vec())
}
