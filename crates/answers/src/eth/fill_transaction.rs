//! `eth_fillTransaction`.

use super::estimate_gas;
use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::gas_price;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::objects::transaction;
use crate::overrides::Overrides;
use rhizome_evm::Deadline;
use rhizome_primitives::{Transaction, U256, rlp};

/// Returns a transaction with the members that its object lacks, as `{raw, tx}`: the next nonce of the sender, an estimate of the
/// gas and the price of `eth_gasPrice`. It is not signed.
pub fn answer(node: &Node, object: &CallObject, deadline: &Deadline) -> Answer {
    let from = object.from.ok_or_else(|| RpcError::invalid_params("from is null"))?;
    let chain_id = node.chain().spec().chain_id;
    if let Some((sent, text)) = &object.chain_id
        && *sent != U256::from(chain_id)
    {
        return Err(RpcError::invalid_params(format!("Invalid chainId: {text}")));
    }
    let nonce = match object.nonce {
        Some(nonce) => nonce,
        None => U256::from(node.chain().pool().next_nonce(&from)?),
    };
    let gas_price = object.gas_price.unwrap_or_else(|| gas_price::suggested(node));
    let gas = match object.gas {
        Some(gas) => gas,
        None => U256::from(estimate_gas::gas(node, object, &BlockId::LATEST, &Overrides::default(), deadline)?),
    };
    let mut elements = Vec::with_capacity(128 + object.data.len());
    for number in [nonce, gas_price, gas] {
        rlp::put_unsigned(&mut elements, &number.to_be_bytes::<32>());
    }
    rlp::put_bytes(&mut elements, object.to.as_ref().map_or(&[], |to| to.as_slice()));
    rlp::put_unsigned(&mut elements, &object.value.unwrap_or_default().to_be_bytes::<32>());
    rlp::put_bytes(&mut elements, &object.data);
    // The place of the signature.
    (0..3).for_each(|_| rlp::put_bytes(&mut elements, &[]));
    let unsigned = Transaction::decode(&rlp::list(&elements)).map_err(RpcError::internal)?;
    let mut json = JsonWriter::with_capacity(1024 + 4 * object.data.len());
    json.begin_object();
    json.key("raw").data(unsigned.encoded());
    json.key("tx");
    transaction::write(&mut json, &unsigned, &from, None, node.options().transaction_form);
    json.end_object();
    Ok(json.finish())
}
