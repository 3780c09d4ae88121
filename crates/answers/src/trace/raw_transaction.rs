//! `trace_rawTransaction`.

use super::call;
use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::eth::send_raw_transaction;
use crate::node::Node;
use crate::tracing::options::ReplayParts;
use rhizome_evm::Deadline;

/// Executes a signed transaction like a call of its sender and returns the requested parts. Nonce, fee and gas price are not
/// checked, and nothing is sent.
pub fn answer(node: &Node, raw: &str, wanted: ReplayParts, at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    let transaction = send_raw_transaction::read_signed(node, raw)?;
    let sender = transaction
        .recover_sender()
        .map_err(|error| RpcError::invalid_params(format!("Invalid input: invalid signature, {error}")))?;
    let object = CallObject {
        from: Some(sender),
        to: transaction.to(),
        gas: Some(transaction.gas_limit()),
        gas_price: Some(transaction.gas_price()),
        value: Some(transaction.value()),
        data: transaction.data().clone(),
        ..CallObject::default()
    };
    call::answer(node, &object, wanted, at, deadline)
}
