//! `evm_setNextBlockTimestamp`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;

/// Sets the time of the next block, in seconds since 1970; that time.
pub fn answer(node: &Node, timestamp: u64) -> Answer {
    set(node, timestamp)?;
    Ok(json::quantity(timestamp))
}

/// Refuses a time that is not after the head's.
pub(crate) fn set(node: &Node, timestamp: u64) -> Result<(), RpcError> {
    let chain = node.require_development()?;
    if chain.set_next_timestamp(timestamp) {
        return Ok(());
    }
    let head = chain.head().record.block.header.timestamp;
    Err(RpcError::invalid_params(format!("Invalid timestamp {timestamp}: it must be after the head's, {head}")))
}
