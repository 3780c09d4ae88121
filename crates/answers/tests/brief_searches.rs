//! `eth_getLogs` and `eth_getProof` that answer at once or not at all, and proofs whose nodes others have read.

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

/// Long enough for any machine: what ends these searches is the work that they are.
fn brief() -> Deadline {
    Deadline::inline(Duration::from_secs(3600))
}

fn logs(node: &Node, filter: &Value, deadline: &Deadline) -> Answer {
    eth::get_logs::answer(node, &LogQuery::parse(&filter.to_string())?, deadline, deadline)
}

fn is_too_long(answer: &Answer) -> bool {
    matches!(answer, Err(error) if error.code == ErrorCode::ResourceExhausted)
}

#[test]
fn a_brief_search_finds_the_same_logs_or_is_left_to_others() {
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
            let tried = logs(&node, &filter, &brief());
            if is_too_long(&tried) {
                assert!(length > 16, "{filter}");
            } else {
                found += usize::from(full != Ok(b"[]".to_vec()));
                assert_eq!(tried, full, "{filter}");
            }
        }
    }
    assert!(found > 100, "{found}");
    // Without a condition every block of a range is looked at.
    let range = |last: u64| json!({ "fromBlock": "0x1", "toBlock": format!("{last:#x}") });
    assert_eq!(logs(&node, &range(16), &brief()), logs(&node, &range(16), &Deadline::none()));
    assert!(is_too_long(&logs(&node, &range(17), &brief())));
    let many = vec![json!(format!("0x{}", "77".repeat(20))); 9];
    assert!(is_too_long(&logs(&node, &json!({ "address": many }), &brief())));
    assert!(logs(&node, &json!({ "address": many[..8] }), &brief()).is_ok());
}

/// Checks a proof, brief and not, of an account and a cell after a block.
fn check_proof(node: &Node, record: &BlockRecord, address: &Address, cell: U256) -> bool {
    let block = format!("hash:{:#x}", record.hash);
    let ask = |deadline| eth::get_proof::answer(node, address, &[cell], &BlockId::parse(&block).unwrap(), &deadline);
    let answer = ask(Deadline::none()).unwrap();
    assert_eq!(ask(brief()).unwrap(), answer);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let messages = |list: &Value| -> Vec<Bytes> {
        let texts = list.as_array().unwrap().iter().map(|node| node.as_str().unwrap());
        // A byte string of 56 to 255 bytes; shorter ones have one byte less before them.
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
    let cell_key = keys::storage_key(address.as_slice(), &cell.into());
    let bits = key.len() * 8 + 1;
    let proven = verify(storage, &cell_key, bits, &messages(&answer["storageProof"][0]["proof"])).unwrap();
    let stored = state.get(&cell_key).unwrap();
    assert_eq!(proven, committed(stored.as_ref()), "{address} {}", record.number());
    value.is_some() && stored.is_some()
}

/// What a node says about its value.
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
fn proofs_hold_at_every_block_whatever_was_read_before() {
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
fn proofs_follow_a_reorganisation_and_a_change_by_hand() {
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
        let answer = eth::get_proof::answer(&node, &address, &[], &BlockId::LATEST, &brief());
        answer.map(|text| serde_json::from_slice::<Value>(&text).unwrap()["balance"].clone())
    };
    assert_eq!(balance().unwrap(), "0x0");
    hardhat::set_balance::answer(&node, &address, &U256::from(5)).unwrap();
    // The header of the head does not commit to this state.
    assert_eq!(balance().unwrap_err().code, ErrorCode::ServerError);
}
