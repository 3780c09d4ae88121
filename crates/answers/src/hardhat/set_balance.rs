//! `hardhat_setBalance`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, I256, U256};

/// Gives an account a balance in wei; true.
pub fn answer(node: &Node, address: &Address, balance: &U256) -> Answer {
    node.require_no_fleet("hardhat_setBalance")?;
    let chain = node.require_development()?;
    let balance =
        I256::try_from(*balance).map_err(|_sign| RpcError::invalid_params("Invalid balance: 2^255 or more"))?;
    let address = *address;
    chain.change_state(move |state| state.set_balance(address, balance))?;
    Ok(json::boolean(true))
}
