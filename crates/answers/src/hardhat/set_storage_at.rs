//! `hardhat_setStorageAt`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json;
use crate::node::{ForkedChain, Node};
use rhizome_fork::ForkError;
use rhizome_primitives::{Address, BRIDGE, U256};

/// Writes a storage slot. Returns true. Fails with -32000 for the Bridge of a fork whose answers come from the remote node: they would
/// not follow.
pub fn answer(node: &Node, address: &Address, position: &U256, word: &U256) -> Answer {
    if *address == BRIDGE && node.fork().is_some_and(ForkedChain::has_bridge_answers) {
        return Err(RpcError::new(
            ErrorCode::ServerError,
            format!("hardhat_setStorageAt of the Bridge: {}", ForkError::BridgeStorage),
        ));
    }
    node.require_no_fleet("hardhat_setStorageAt")?;
    let (address, position, word) = (*address, *position, *word);
    node.require_development()?.change_state(move |state| state.set_storage_word(address, position, word))?;
    Ok(json::boolean(true))
}
