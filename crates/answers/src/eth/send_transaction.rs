//! `eth_sendTransaction`.

use crate::call_object::CallObject;
use crate::delivery;
use crate::error::{Answer, RpcError};
use crate::gas_price;
use crate::node::Node;
use crate::state;
use rhizome_primitives::{Transaction, U256, UnsignedTransaction};

/// Gas of a transaction whose object names none.
const DEFAULT_GAS: u64 = 90_000;

/// Signs with an unlocked account and hands the transaction to the pool; its hash.
pub fn answer(node: &Node, object: &CallObject) -> Answer {
    delivery::deliver(node, sign(node, object)?)
}

fn sign(node: &Node, object: &CallObject) -> Result<Transaction, RpcError> {
    let from = object.from.ok_or_else(|| RpcError::invalid_params("from is null"))?;
    let key = node.accounts().key(&from, || format!("Could not find account for address: {}", written(&from)))?;
    let chain_id = node.chain().spec().chain_id;
    if let Some((sent, text)) = &object.chain_id
        && !sent.is_zero()
        && *sent != U256::from(chain_id)
    {
        return Err(RpcError::invalid_params(format!("Invalid chainId: {text}")));
    }
    let gas = object.gas.or(object.gas_limit).unwrap_or(U256::from(DEFAULT_GAS));
    let price = object.gas_price.or(node.options().default_gas_price);
    let nonce = object.nonce.map_or_else(|| state::next_nonce(node, &from), Ok)?;
    let unsigned = UnsignedTransaction {
        nonce,
        gas_price: price.unwrap_or_else(|| gas_price::suggested(node)),
        gas_limit: gas.saturating_to(),
        to: object.to,
        value: object.value.unwrap_or_default(),
        data: object.data.clone(),
    };
    Transaction::sign(unsigned, chain_id, &key).map_err(RpcError::internal)
}

/// Lower case: checksums are the client's.
fn written(address: &rhizome_primitives::Address) -> String {
    rhizome_primitives::hex::encode_prefixed(address)
}
