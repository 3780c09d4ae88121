//! `txpool_inspect`.

use super::tree;
use crate::error::Answer;
use crate::node::Node;
use rhizome_primitives::hex;

/// The pool in words: `<to without 0x>: <value> wei + <gas> x <gas price> gas`, nothing before the colon for a creation.
/// Fails with -32011 above `max_bytes`.
pub fn answer(node: &Node, max_bytes: usize) -> Answer {
    tree(node, max_bytes, |json, pooled| {
        let transaction = &pooled.transaction;
        let to = transaction.to().map_or_else(String::new, hex::encode);
        let (value, gas, price) = (transaction.value(), transaction.gas_limit(), transaction.gas_price());
        json.text(&format!("{to}: {value} wei + {gas} x {price} gas"));
    })
}
