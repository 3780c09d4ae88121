//! `txpool_content`.

use super::tree;
use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{PooledTransaction, WaitReason, WaitReasons};
use rhizome_primitives::{B256, U256, rlp};
use std::collections::HashMap;

/// The pool with whole transactions. `gasPrice` and `value` are DATA of the shortest signed bytes. With
/// `AnswerOptions::explains_waiting` each has a `reason` for waiting. Fails with -32011 above `max_bytes`.
pub fn answer(node: &Node, max_bytes: usize) -> Answer {
    if !node.options().explains_waiting {
        return tree(node, max_bytes, |json, pooled| write(json, pooled, None));
    }
    let pending = node.chain().pending_block(node.now())?;
    let reasons = WaitReasons::new(&pending.block, &pending.skipped);
    let pool = node.chain().pool();
    let mut next_nonces = HashMap::new();
    tree(node, max_bytes, |json, pooled| {
        // An account that cannot be read has no gap.
        let next =
            next_nonces.entry(pooled.sender).or_insert_with(|| pool.next_nonce(&pooled.sender).unwrap_or(u64::MAX));
        let reason = match *next < pooled.nonce {
            true => Some(WaitReason::NonceGap { nonce: pooled.nonce, next: *next }),
            false => reasons.of(&pooled.hash, &pooled.sender, pooled.nonce),
        };
        let reason = reason.map_or_else(|| "it is in the next block".into(), |reason| reason.to_string());
        write(json, pooled, Some(&reason));
    })
}

fn write(json: &mut JsonWriter, pooled: &PooledTransaction, reason: Option<&str>) {
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
    if let Some(reason) = reason {
        json.key("reason").text(reason);
    }
    json.end_object();
}

fn write_amount(json: &mut JsonWriter, amount: &U256) {
    json.data(&rlp::signed_bytes(amount, false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_sign_bit() {
        let amount = |value: U256| {
            let mut json = JsonWriter::new();
            write_amount(&mut json, &value);
            String::from_utf8(json.finish()).unwrap()
        };
        let amounts = [0, 12, 127, 140, 256].map(|value: u64| amount(U256::from(value)));
        assert_eq!(amounts, ["\"0x00\"", "\"0x0c\"", "\"0x7f\"", "\"0x008c\"", "\"0x0100\""]);
        assert_eq!(amount(U256::MAX >> 1), format!("\"0x7f{}\"", "ff".repeat(31)));
    }
}
