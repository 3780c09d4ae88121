//! `eth_sendTransaction`.

use crate::accounts::{Signer, written};
use crate::call_object::CallObject;
use crate::delivery;
use crate::error::{Answer, RpcError};
use crate::gas_price;
use crate::node::Node;
use crate::state;
use rhizome_primitives::{Address, Transaction, U256, UnsignedTransaction};

/// Gas of a transaction whose object names none.
const DEFAULT_GAS: u64 = 90_000;

/// Signs with an unlocked account and hands the transaction to the pool; its hash.
pub fn answer(node: &Node, object: &CallObject) -> Answer {
    let accounts = node.accounts();
    if object.from.is_none() {
        // A node without accounts says so first. Nobody has the zero address.
        accounts.key(&Address::ZERO, || "from is null".into())?;
    }
    let signer =
        |from: &Address| accounts.signer(from, || format!("Could not find account for address: {}", written(from)));
    delivery::deliver(node, sign(node, object, signer)?)
}

/// The transaction that an object describes, with the defaults of this node.
pub(crate) fn sign(
    node: &Node,
    object: &CallObject,
    signer: impl FnOnce(&Address) -> Result<Signer, RpcError>,
) -> Result<Transaction, RpcError> {
    let from = object.from.ok_or_else(|| RpcError::invalid_params("from is null"))?;
    let signer = signer(&from)?;
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
    let signed = match signer {
        Signer::Key(key) => Transaction::sign(unsigned, chain_id, &key),
        Signer::Impersonated => Transaction::impersonate(unsigned, chain_id, &from),
    };
    signed.map_err(RpcError::internal)
}
