//! Inline `eth_getLogs` and `eth_getProof`: within the inline budget, or rejected with `ResourceExhausted`. Proofs from
//! cached trie nodes.

use crate::node::{chain_a, import, reference_options, regtest};
use rhizome_answers::block_id::BlockId;
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::options::MiningMode;
use rhizome_answers::{Answer, ErrorCode, Node, eth, hardhat};
use rhizome_chain::{BlockRecord, Clock};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, Bytes, U256, hex, keccak256};
use rhizome_trie::{ProofOutcome, keys, verify};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A time limit that no machine reaches: these searches end at the budget of inline calls.
fn inline() -> Deadline {
    Deadline::inline(Duration::from_secs(3600))
}

fn logs(node: &Node, filter: &Value, deadline: &Deadline) -> Answer {
    eth::get_logs::answer(node, &LogQuery::parse(&filter.to_string())?, usize::MAX, deadline, deadline)
}

fn exceeds_inline_budget(answer: &Answer) -> bool {
    matches!(answer, Err(error) if error.code == ErrorCode::ResourceExhausted)
}

#[test]
fn inline_searches_find_the_same_logs_or_are_rejected() {
    let node = chain_a(reference_options(MiningMode::Off));
    let head = node.chain().head().number();
    let all = logs(&node, &json!({ "fromBlock": "0x0" }), &Deadline::none()).unwrap();
    let all: Vec<Value> = serde_json::from_slice(&all).unwrap();
    let mut filters = vec![json!({ "address": format!("0x{}", "77".repeat(20)) })];
    for log in &all {
        filters.push(json!({ "address": log["address"] }));
        filters.push(json!({ "topics": log["topics"] }));
        filters.push(json!({ "address": [log["address"]], "topics": [log["topics"][0]] }));
        filters.push(json!({ "blockHash": log["blockHash"] }));
    }
    let mut found = 0;
    for (mut filter, length) in filters.into_iter().zip([1, 16, head + 1].into_iter().cycle()) {
        for first in [0, head / 2, head.saturating_sub(length)] {
            if filter["blockHash"].is_null() {
                filter["fromBlock"] = json!(format!("{first:#x}"));
                filter["toBlock"] = json!(format!("{:#x}", (first + length - 1).min(head)));
                filter.as_object_mut().unwrap().remove("blockHash");
            }
            let full = logs(&node, &filter, &Deadline::none());
            let tried = logs(&node, &filter, &inline());
            if exceeds_inline_budget(&tried) {
                assert!(length > 16, "{filter}");
            } else {
                found += usize::from(full != Ok(b"[]".to_vec()));
                assert_eq!(tried, full, "{filter}");
            }
        }
    }
    assert!(found > 100, "{found}");
    // A filter without conditions reads every block of the range.
    let range = |last: u64| json!({ "fromBlock": "0x1", "toBlock": format!("{last:#x}") });
    assert_eq!(logs(&node, &range(16), &inline()), logs(&node, &range(16), &Deadline::none()));
    assert!(exceeds_inline_budget(&logs(&node, &range(17), &inline())));
    let many = vec![json!(format!("0x{}", "77".repeat(20))); 9];
    assert!(exceeds_inline_budget(&logs(&node, &json!({ "address": many }), &inline())));
    assert!(logs(&node, &json!({ "address": many[..8] }), &inline()).is_ok());
}

/// Checks the proof of an account and of a storage slot after a block, read inline and in the pool. Returns `true` if both
/// exist.
fn check_proof(node: &Node, record: &BlockRecord, address: &Address, slot: U256) -> bool {
    let block = format!("hash:{:#x}", record.hash);
    let ask = |deadline| eth::get_proof::answer(node, address, &[slot], &BlockId::parse(&block).unwrap(), &deadline);
    let answer = ask(Deadline::none()).unwrap();
    assert_eq!(ask(inline()).unwrap(), answer);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let messages = |list: &Value| -> Vec<Bytes> {
        let texts = list.as_array().unwrap().iter().map(|node| node.as_str().unwrap());
        // The header of an RLP string has two bytes for 56 to 255 bytes, one byte for less.
        texts
            .map(|text| hex::decode(text).unwrap())
            .map(|rlp| rlp[usize::from(rlp[0] > 0xb7) + 1..].to_vec().into())
            .collect()
    };
    let key = keys::account_key(address.as_slice());
    let proven = verify(record.state_root, &key, 0, &messages(&answer["accountProof"])).unwrap();
    let state = node.chain().state_at(record).unwrap();
    let value = state.get(&key).unwrap();
    assert_eq!(proven, committed(value.as_ref()), "{address} {}", record.number());
    let storage = answer["storageHash"].as_str().unwrap().parse().unwrap();
    let slot_key = keys::storage_key(address.as_slice(), &slot.into());
    let bits = key.len() * 8 + 1;
    let proven = verify(storage, &slot_key, bits, &messages(&answer["storageProof"][0]["proof"])).unwrap();
    let stored = state.get(&slot_key).unwrap();
    assert_eq!(proven, committed(stored.as_ref()), "{address} {}", record.number());
    value.is_some() && stored.is_some()
}

/// Returns the outcome of a proof for a stored value.
fn committed(value: Option<&Bytes>) -> ProofOutcome {
    match value {
        None => ProofOutcome::Absent,
        Some(value) if value.len() <= 32 => ProofOutcome::Value(value.clone()),
        Some(value) => ProofOutcome::LongValue { hash: keccak256(value), length: value.len() },
    }
}

fn blocks(node: &Node) -> Vec<Arc<BlockRecord>> {
    let chain = node.chain();
    let heights = (0..=chain.highest_number().unwrap()).flat_map(|number| chain.blocks_at(number).unwrap());
    heights.map(|entry| chain.block(&entry.hash).unwrap().unwrap()).collect()
}

#[test]
fn proofs_are_valid_at_every_block_with_any_cached_nodes() {
    let node = chain_a(reference_options(MiningMode::Off));
    let blocks = blocks(&node);
    let records =
        || blocks.iter().filter(|record| record.block.header.state_root.as_ref() == record.state_root.as_slice());
    let receivers = records().flat_map(|record| record.block.transactions.iter().filter_map(|one| one.to()));
    let senders = records().flat_map(|record| record.senders().iter().copied());
    let addresses: BTreeSet<Address> = receivers.chain(senders).chain([Address::repeat_byte(0x77)]).collect();
    let mut with_storage = 0;
    for record in records() {
        for address in addresses.iter().take(12) {
            with_storage += usize::from(check_proof(&node, record, address, U256::ZERO));
        }
    }
    assert!(blocks.len() > 30 && with_storage > 20, "{} {with_storage}", blocks.len());
}

#[test]
fn proofs_follow_a_reorganisation_and_state_set_by_hardhat_methods() {
    let node = regtest(reference_options(MiningMode::Off), Clock::system());
    let mut heads = BTreeSet::new();
    for file in ["deep-reorg.replaced.blocks", "deep-reorg.blocks"] {
        import(&node, file);
        heads.insert(node.chain().head().hash());
        let coinbase = node.chain().head().record.block.header.coinbase.unwrap_or_default();
        for record in blocks(&node) {
            check_proof(&node, &record, &coinbase, U256::ZERO);
        }
    }
    assert_eq!(heads.len(), 2);
    let address = Address::repeat_byte(0x99);
    let balance = || {
        let answer = eth::get_proof::answer(&node, &address, &[], &BlockId::LATEST, &inline());
        answer.map(|text| serde_json::from_slice::<Value>(&text).unwrap()["balance"].clone())
    };
    assert_eq!(balance().unwrap(), "0x0");
    hardhat::set_balance::answer(&node, &address, &U256::from(5)).unwrap();
    // The header of the head does not commit to this state.
    assert_eq!(balance().unwrap_err().code, ErrorCode::ServerError);
}
