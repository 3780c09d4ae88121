//! Mining on demand, block files, events for filters and subscriptions, and choices of the API document.

use crate::dispatch::dispatch;
use crate::node::{chain_a, import, reference_options, regtest};
use rhizome_answers::block_files;
use rhizome_answers::feed::{head, logs_of_blocks, main_hashes_since};
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::options::{AnswerOptions, MiningMode};
use rhizome_chain::Clock;
use rhizome_primitives::B256;
use serde_json::{Value, json};
use std::ops::ControlFlow;

#[test]
fn transactions_wait_in_the_pool_while_mining_is_stopped() {
    let options = AnswerOptions { mining: MiningMode::Auto, has_wallet: true, ..AnswerOptions::document() };
    let node = regtest(options, Clock::system());
    let ask = |method: &str, parameters: &[Value]| -> Value {
        let text = dispatch(&node, method, parameters).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    ask("evm_stopMining", &[]);
    let from = "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826";
    let hash = ask("eth_sendTransaction", &[json!({ "from": from, "to": from, "gasPrice": "0x0" })]);
    assert_eq!(ask("eth_blockNumber", &[]), "0x0");
    assert_eq!(ask("eth_getTransactionByHash", std::slice::from_ref(&hash))["blockHash"], Value::Null);
    assert_eq!(ask("eth_getTransactionCount", &[json!(from), json!("pending")]), "0x1");
    assert_eq!(ask("eth_pendingTransactions", &[])[0]["hash"], hash);
    ask("evm_startMining", &[]);
    assert_eq!(ask("eth_blockNumber", &[]), "0x1");
    assert_eq!(ask("eth_getTransactionReceipt", &[hash])["status"], "0x1");
}

#[test]
fn document_mode_differs_from_the_reference_as_the_api_document_says() {
    let node = chain_a(AnswerOptions::document());
    let ask = |method: &str, parameters: Value| -> Result<Value, i32> {
        let answer = dispatch(&node, method, parameters.as_array().unwrap());
        answer.map(|text| serde_json::from_slice(&text).unwrap()).map_err(|error| error.code.number())
    };
    let lab = "0xda7ce79725418f4f6e13bf5f520c89cec5f6a974";
    assert_eq!(ask("eth_call", json!([{ "to": lab, "data": "0x0cf6c214" }, "latest"])), Err(-32015));
    let bridge = "0x0000000000000000000000000000000001000006";
    assert_eq!(ask("eth_call", json!([{ "to": bridge, "data": "0xdeadbeef" }, "latest"])), Ok(json!("0x")));
    assert_eq!(ask("eth_getCode", json!([lab, "pending"])), Err(-32602));
    assert_eq!(ask("eth_getBlockByNumber", json!(["pending", false])), Err(-32602));
    assert!(ask("eth_getBalance", json!([lab, "pending"])).is_ok());
    let gas = |call: Value| -> u64 {
        let estimate = ask("eth_estimateGas", json!([call])).unwrap();
        u64::from_str_radix(&estimate.as_str().unwrap()[2..], 16).unwrap()
    };
    let reverting = gas(json!({ "to": lab, "data": "0xb0b75436" }));
    assert!((21_000..100_000).contains(&reverting), "{reverting}");
    assert_eq!(gas(json!({ "to": "0x7986b3df570230288501eea3d890bd66948c9b79" })), 21_000);
    assert_eq!(gas(json!({ "to": "0x7986b3df570230288501eea3d890bd66948c9b79", "gas": "0x1" })), 21_000);
    assert!(gas(json!({})) >= 53_000);
    // The upper bound is the limit of the pool on top of the head: its sequential sublist has 6,800,000 gas.
    assert!(gas(json!({ "to": lab, "data": "0x14441821" })) >= 6_800_000);
    // The estimate of a creation by a contract counts the gas used, not the gas passed to the creation.
    let make = "0x516517ab0000000000000000000000000000000000000000000000000000000000000001";
    let maker = "0x271905cc3d21d8d11f3213e4130108295e578434";
    let creation = gas(json!({ "to": maker, "data": make }));
    assert!((100_000..1_000_000).contains(&creation), "{creation}");
    // r and s have 32 bytes.
    let block = ask("eth_getBlockByNumber", json!(["0x4", true])).unwrap();
    let words = block["transactions"].as_array().unwrap().iter().filter(|one| one["v"] != "0x0");
    assert!(words.clone().count() > 0 && words.clone().all(|one| one["s"].as_str().unwrap().len() == 66));
}

#[test]
fn imports_an_exported_file_of_blocks() {
    let node = chain_a(AnswerOptions::document());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.blocks");
    let path = path.to_str().unwrap();
    let head = node.chain().head().number();
    let written = block_files::export(&node, path, 1, 1_000_000, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(written, format!(r#"{{"blocks":{head},"from":1,"to":1000000}}"#).as_bytes());
    let other = regtest(AnswerOptions::document(), Clock::new(|| 0x6553_f484));
    let mut last = String::new();
    let counts = block_files::import(&other, path, |line| {
        last = line;
        ControlFlow::Continue(())
    });
    let expected = format!(r#"{{"blocks":{head},"best":{head},"side":0,"known":0,"head":{head}}}"#);
    assert_eq!(String::from_utf8(counts.unwrap()).unwrap(), expected);
    assert!(last.contains(&format!(r#""hash":"{}""#, node.chain().head().hash())), "{last}");
    assert!(last.ends_with(r#""result":"IMPORTED_BEST"}"#), "{last}");
    assert!(block_files::import(&other, "/nowhere", |_line| ControlFlow::Continue(())).is_err());
}

#[test]
fn polls_continue_at_the_cursor_across_deleted_blocks() {
    let node = regtest(reference_options(MiningMode::Auto), Clock::system());
    let mine = || node.chain().mine(node.chain().config().clock.now()).unwrap().hash;
    let since = |number, hash| -> Value {
        serde_json::from_slice(&main_hashes_since::answer(&node, number, &hash, 100).unwrap()).unwrap()
    };
    let genesis = node.chain().head().hash();
    let (first, second) = (mine(), mine());
    let moved = since(0, genesis);
    assert_eq!(moved["hashes"], json!([first.to_string(), second.to_string()]));
    assert_eq!(moved["cursor"], json!({ "number": 2, "hash": second.to_string() }));
    assert_eq!(since(2, second), json!({ "hashes": [], "removed": [], "cursor": moved["cursor"] }));
    // Deleted blocks are not reported as removed; the blocks that replace them are reported.
    node.chain().rewind(1).unwrap();
    // A different timestamp: otherwise the same block is mined.
    node.chain().increase_time(60);
    let third = mine();
    let cursor = json!({ "number": 2, "hash": third.to_string() });
    assert_eq!(since(2, second), json!({ "hashes": [third.to_string()], "removed": [], "cursor": cursor }));
    node.chain().reset().unwrap();
    node.chain().increase_time(120);
    let fourth = mine();
    assert_eq!(since(2, second)["hashes"], json!([fourth.to_string()]));
    assert_eq!(since(2, third)["hashes"], json!([fourth.to_string()]));
}

/// Blocks of an abandoned branch and their logs are reported from the highest block down.
#[test]
fn reports_removed_blocks_and_logs_in_descending_order() {
    let node = regtest(reference_options(MiningMode::Off), Clock::system());
    import(&node, "deep-reorg.replaced.blocks");
    let abandoned: Vec<B256> = (1..=3).map(|number| node.chain().main_hash(number).unwrap().unwrap()).collect();
    import(&node, "deep-reorg.blocks");
    let moved = main_hashes_since::answer(&node, 3, &abandoned[2], 100).unwrap();
    let moved: Value = serde_json::from_slice(&moved).unwrap();
    let removed: Vec<String> = abandoned.iter().rev().map(B256::to_string).collect();
    assert_eq!(moved["removed"], json!(removed));
    assert_eq!(moved["hashes"].as_array().unwrap().len(), 7);
    // In small steps the first result holds all removed blocks.
    let step = main_hashes_since::answer(&node, 3, &abandoned[2], 2).unwrap();
    let step: Value = serde_json::from_slice(&step).unwrap();
    assert_eq!((&step["removed"], step["cursor"]["number"].as_u64()), (&json!(removed), Some(2)));
    assert_eq!(step["cursor"]["hash"], moved["hashes"][1]);
    let query = LogQuery::parse("{}").unwrap();
    let hashes = [abandoned[2], abandoned[1], abandoned[0]];
    let logs = logs_of_blocks::answer(&node, &hashes, &query, true, usize::MAX).unwrap();
    let logs: Value = serde_json::from_slice(&logs).unwrap();
    assert!(logs[0]["removed"] == true && logs.as_array().unwrap().len() >= 2, "{logs}");
    let heights: Vec<&str> = logs.as_array().unwrap().iter().map(|log| log["blockNumber"].as_str().unwrap()).collect();
    assert!(heights.is_sorted_by(|before, after| before >= after), "{heights:?}");
}

/// A block as subscriptions read it: all its logs, and its head.
#[test]
fn returns_logs_and_head_of_a_block() {
    let node = regtest(reference_options(MiningMode::Off), Clock::system());
    import(&node, "deep-reorg.replaced.blocks");
    let hash = node.chain().main_hash(2).unwrap().unwrap();
    let ask = |hash: B256, text: &str, removed| -> Value {
        let query = LogQuery::parse(text).unwrap();
        let found = logs_of_blocks::answer(&node, &[hash], &query, removed, usize::MAX).unwrap();
        serde_json::from_slice(&found).unwrap()
    };
    let lab = r#"{"address":"0x77045e71a7a2c50903d88e564cd72fab11e82051"}"#;
    let other = r#"{"address":"0x0000000000000000000000000000000000000001"}"#;
    let found = ask(hash, lab, true);
    assert_eq!((&found[0]["blockHash"], &found[0]["removed"]), (&json!(hash.to_string()), &json!(true)));
    assert_eq!(ask(hash, "{}", true)[0], found[0]);
    assert_eq!(ask(hash, "{}", false)[0]["removed"], json!(false));
    assert_eq!(ask(hash, other, false), json!([]));
    assert_eq!(ask(B256::ZERO, "{}", false), json!([]));
    let shown: Value = serde_json::from_slice(&head::answer(&node, &hash).unwrap()).unwrap();
    assert_eq!(
        (&shown["hash"], &shown["number"], &shown["baseEvent"]),
        (&json!(hash.to_string()), &json!("0x2"), &json!("0x00"))
    );
    assert_eq!(head::answer(&node, &B256::ZERO).unwrap(), b"null");
}
