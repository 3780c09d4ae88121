//! `personal_sendTransaction`.

use crate::accounts::{Signer, read_key};
use crate::call_object::CallObject;
use crate::error::Answer;
use crate::eth::send_transaction::pending;
use crate::json;
use crate::node::Node;

/// Returns the sender as JSON: an address or null.
pub fn sender(object: &CallObject) -> Vec<u8> {
    object.from.map_or_else(|| b"null".to_vec(), |from| json::data(from.as_slice()))
}

/// Signs with a key and hands the transaction to the pool; its hash. Does not mine with instant mining (reference).
pub fn answer(node: &Node, object: &CallObject, key: &[u8]) -> Answer {
    let key = read_key(key)?;
    // The error for a foreign chain has its number here, not the sent text (reference).
    let chain_id = object.chain_id.as_ref().map(|(number, _text)| (*number, number.to_string()));
    let object = CallObject { chain_id, ..object.clone() };
    let pending = pending(node, &object, |_from| Ok(Signer::Key(key)))?;
    Ok(json::data(pending.submit(node.chain())?.hash.as_slice()))
}
