//! `txpool_content`.

use super::tree;
use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::Pooled;
use rhizome_primitives::{B256, U256};

/// The pool with whole transactions. `gasPrice` and `value` are DATA of the shortest bytes, zero is `0x00`.
pub fn answer(node: &Node) -> Answer {
    tree(node, write)
}

fn write(json: &mut JsonWriter, pooled: &Pooled) {
    let transaction = &pooled.transaction;
    json.begin_object();
    json.key("blockHash").hash(&B256::ZERO);
    json.key("blockNumber").null();
    json.key("transactionIndex").null();
    json.key("from").data(pooled.sender.as_slice());
    json.key("gas").quantity_bytes(transaction.gas_limit_bytes());
    write_amount(json.key("gasPrice"), &transaction.gas_price());
    json.key("hash").hash(&pooled.hash);
    json.key("input").data(transaction.data());
    json.key("nonce").quantity(pooled.nonce);
    match transaction.to() {
        Some(to) => json.key("to").data(to.as_slice()),
        None => json.key("to").data(&[0]),
    }
    write_amount(json.key("value"), &transaction.value());
    json.end_object();
}

fn write_amount(json: &mut JsonWriter, amount: &U256) {
    if amount.is_zero() {
        json.data(&[0]);
    } else {
        json.data(&amount.to_be_bytes_trimmed_vec());
    }
}
