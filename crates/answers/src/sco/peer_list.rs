//! `sco_peerList`.

use crate::error::Answer;

/// An empty array: no peer has been met.
pub fn answer() -> Answer {
    Ok(b"[]".to_vec())
}
