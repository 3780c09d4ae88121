//! Receipts and blooms. The trie crate tests the roots of receipt lists.

use crate::vectors::{bytes, cases, load, text};
use rhizome_primitives::{Address, B256, Bloom, Log, Receipt, hex};
use serde_json::Value;

fn log(value: &Value) -> Log {
    let topics = value["topics"].as_array().unwrap();
    Log {
        address: Address::from_slice(&bytes(value, "address")),
        topics: topics.iter().map(|topic| topic.as_str().unwrap().parse::<B256>().unwrap()).collect(),
        data: bytes(value, "data"),
    }
}

fn receipt(case: &Value) -> Receipt {
    let logs: Vec<Log> = case["logs"].as_array().unwrap().iter().map(log).collect();
    Receipt {
        success: case["success"].as_bool().unwrap(),
        cumulative_gas: case["cumulativeGas"].as_u64().unwrap(),
        bloom: Bloom::of_logs(&logs),
        logs,
        gas_used: case["gasUsed"].as_u64().unwrap(),
    }
}

#[test]
fn golden_receipts() {
    let cases = cases("blocks/receipts.json");
    for case in &cases {
        let receipt = receipt(case);
        assert_eq!(hex::encode(receipt.bloom.as_bytes()), text(case, "bloom"));
        assert_eq!(hex::encode(receipt.encode()), text(case, "encoded"));
        assert_eq!(Receipt::decode(&bytes(case, "encoded")), Ok(receipt));
    }
    assert_eq!(cases.len(), 40);
}

#[test]
fn golden_block_blooms() {
    let file = load("blocks/receipts.json");
    for block in file["blocks"].as_array().unwrap() {
        let mut bloom = Bloom::ZERO;
        for index in block["receipts"].as_array().unwrap() {
            bloom.accrue(&receipt(&file["cases"][index.as_u64().unwrap() as usize]).bloom);
        }
        assert_eq!(hex::encode(bloom.as_bytes()), text(block, "bloom"));
    }
}
