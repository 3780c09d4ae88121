//! `debug_accountTransactionQuota`.

use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_primitives::Address;

/// Returns the virtual gas that the rate limiter grants an account; null for an unknown account. Milliseconds, gas.
pub fn answer(node: &Node, address: &Address) -> Answer {
    let Some(quota) = node.chain().pool().quota(address) else { return Ok(json::null()) };
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("timestamp").raw(quota.timestamp_ms.to_string().as_bytes());
    json.key("availableVirtualGas").raw(quota.available_virtual_gas.to_string().as_bytes());
    json.end_object();
    Ok(json.finish())
}
