//! `eth_signTypedData_v4`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, B256};

/// Signature by an unlocked account of the hash that EIP-712 gives to the data: r, s, v.
pub fn answer(node: &Node, address: &Address, hash: &B256) -> Answer {
    Ok(json::data(&node.accounts().sign_hash(address, hash)?))
}
