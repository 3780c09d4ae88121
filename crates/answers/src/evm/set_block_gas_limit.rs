//! `evm_setBlockGasLimit`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_primitives::U256;

/// Sets the gas limit that later blocks move toward, each by a 1024th at most; true. Refuses less than a block may have.
pub fn answer(node: &Node, gas_limit: &U256) -> Answer {
    let chain = node.require_development()?;
    let limit = i64::try_from(*gas_limit).ok().and_then(|limit| u64::try_from(limit).ok());
    if limit.is_some_and(|limit| chain.set_target_gas_limit(limit)) {
        return Ok(json::boolean(true));
    }
    let least = chain.spec().constants.min_gas_limit;
    Err(RpcError::invalid_params(format!("Invalid gas limit {gas_limit}: blocks have {least} to {}", i64::MAX)))
}
