//! `hardhat_setNonce`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// Gives an account a nonce; true.
pub fn answer(node: &Node, address: &Address, nonce: u64) -> Answer {
    node.require_no_fleet("hardhat_setNonce")?;
    let address = *address;
    node.require_development()?.change_state(move |state| state.set_nonce(address, U256::from(nonce)))?;
    Ok(json::boolean(true))
}
