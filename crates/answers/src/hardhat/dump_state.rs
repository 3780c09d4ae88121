//! `anvil_dumpState`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use crate::saved_state;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The state of the head in the format of anvil, compressed by gzip. Fails if it is longer than `max_bytes`.
pub fn answer(node: &Node, max_bytes: usize) -> Answer {
    let text = saved_state::dump(node, max_bytes)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&text).map_err(RpcError::internal)?;
    Ok(json::data(&encoder.finish().map_err(RpcError::internal)?))
}
