//! `hardhat_setCode`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, Bytes};

/// Gives an account code, or takes it away; true.
pub fn answer(node: &Node, address: &Address, code: &Bytes) -> Answer {
    node.require_no_fleet("hardhat_setCode")?;
    let (address, code) = (*address, code.clone());
    node.require_development()?.change_state(move |state| {
        if !code.is_empty() {
            state.setup_contract(address)?;
        }
        state.save_code(address, code)
    })?;
    Ok(json::boolean(true))
}
