//! `eth_protocolVersion`, `rsk_protocolVersion`.

use crate::error::Answer;
use crate::json;

/// Highest version of the wire protocol that nodes of this chain speak.
const WIRE_VERSION: u64 = 62;

/// The wire version as a QUANTITY.
pub fn answer() -> Answer {
    Ok(json::quantity(WIRE_VERSION))
}
