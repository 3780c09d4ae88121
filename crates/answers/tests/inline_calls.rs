//! Inline `eth_call` and `eth_estimateGas`: within the inline budget, or rejected with `ResourceExhausted`.

use crate::dispatch::dispatch;
use crate::estimates::{deploy, node};
use rhizome_answers::block_id::BlockId;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::options::EstimateSearch;
use rhizome_answers::overrides::Overrides;
use rhizome_answers::{Answer, ErrorCode, Node, eth, evm, hardhat};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, BRIDGE, U256};
use serde_json::{Value, json};
use std::time::Duration;

/// Runs `CALLDATALOAD(0)` iterations of a loop and returns the word 42.
const ROUNDS: &str = "6000355b8015601057600190036003565b602a60005260206000f3";
/// Reverts with the word 42 as data.
const REVERTS: &str = "602a60005260206000fd";

fn rounds(contract: &Value, count: u64) -> Value {
    json!({ "to": contract, "data": format!("0x{count:064x}") })
}

/// A time limit that no machine reaches: these calls end at the budget of inline calls.
fn inline() -> Deadline {
    Deadline::inline(Duration::from_secs(3600))
}

fn call(node: &Node, call: &Value, block: &str, deadline: &Deadline) -> Answer {
    let object = CallObject::parse(&call.to_string())?;
    eth::call::answer(node, &object, &BlockId::parse(block)?, &Overrides::default(), deadline)
}

fn estimate(node: &Node, call: &Value, deadline: &Deadline) -> Answer {
    let object = CallObject::parse(&call.to_string())?;
    eth::estimate_gas::answer(node, &object, &BlockId::LATEST, &Overrides::default(), deadline)
}

fn exceeds_inline_budget(answer: &Answer) -> bool {
    matches!(answer, Err(error) if error.code == ErrorCode::ResourceExhausted)
}

#[test]
fn inline_calls_return_the_same_as_pooled_calls() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    let failing = json!({ "to": deploy(&node, REVERTS) });
    let empty_account = json!({ "to": format!("0x{}", "77".repeat(20)) });
    for request in [rounds(&contract, 0), rounds(&contract, 100), failing, empty_account] {
        let full = call(&node, &request, "latest", &Deadline::none());
        assert_eq!(call(&node, &request, "latest", &inline()), full, "{request}");
        let full = estimate(&node, &request, &Deadline::none());
        assert_eq!(estimate(&node, &request, &inline()), full, "{request}");
    }
    // The head, addressed by number.
    let head: Value = serde_json::from_slice(&dispatch(&node, "eth_blockNumber", &[]).unwrap()).unwrap();
    assert!(call(&node, &rounds(&contract, 1), head.as_str().unwrap(), &inline()).is_ok());
}

#[test]
fn rejects_calls_above_the_inline_budget() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    let long = rounds(&contract, 100_000);
    assert!(exceeds_inline_budget(&call(&node, &long, "latest", &inline())));
    assert_eq!(
        call(&node, &long, "latest", &Deadline::none()).unwrap(),
        call(&node, &rounds(&contract, 1), "latest", &Deadline::none()).unwrap()
    );
    let short = rounds(&deploy(&node, ROUNDS), 1);
    assert!(call(&node, &short, "latest", &inline()).is_ok());
    // Other blocks, creations and precompiles are never run inline.
    for block in ["pending", "earliest", "0x0"] {
        assert!(exceeds_inline_budget(&call(&node, &short, block, &inline())), "{block}");
    }
    assert!(exceeds_inline_budget(&call(&node, &json!({ "data": "0x00" }), "latest", &inline())));
    assert!(exceeds_inline_budget(&call(&node, &json!({ "to": BRIDGE.to_string() }), "latest", &inline())));
}

#[test]
fn retries_a_slow_function_only_at_every_32nd_call() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    assert!(exceeds_inline_budget(&call(&node, &rounds(&contract, 100_000), "latest", &inline())));
    let again = rounds(&contract, 1);
    let first = (1..100).find(|_attempt| !exceeds_inline_budget(&call(&node, &again, "latest", &inline())));
    assert_eq!(first, Some(32));
    assert!(call(&node, &again, "latest", &inline()).is_ok());
}

#[test]
fn reads_state_set_by_hardhat_methods_at_once() {
    let node = node(EstimateSearch::Single);
    // Returns the balance of 0x99.
    let contract = json!({ "to": deploy(&node, "60993160005260206000f3") });
    let holder = format!("0x{}99", "00".repeat(19));
    let balance = || {
        let called = call(&node, &contract, "latest", &inline()).unwrap();
        let direct = dispatch(&node, "eth_getBalance", &[json!(holder), json!("latest")]).unwrap();
        (String::from_utf8(called).unwrap(), String::from_utf8(direct).unwrap())
    };
    let word = |value: u64| format!("\"0x{value:064x}\"");
    assert_eq!(balance(), (word(0), "\"0x0\"".into()));
    let account = Address::with_last_byte(0x99);
    let set = |value: u64| hardhat::set_balance::answer(&node, &account, &U256::from(value)).unwrap();
    let snapshot: String = serde_json::from_slice(&evm::snapshot::answer(&node).unwrap()).unwrap();
    for value in [5, 6] {
        set(value);
        assert_eq!(balance(), (word(value), format!("\"{value:#x}\"")));
    }
    evm::revert::answer(&node, u64::from_str_radix(&snapshot[2..], 16).unwrap()).unwrap();
    assert_eq!(balance(), (word(0), "\"0x0\"".into()));
}
