//! `eth_call` and `eth_estimateGas` that answer at once or not at all.

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

/// `CALLDATALOAD(0)` rounds of a loop, then the word 42.
const ROUNDS: &str = "6000355b8015601057600190036003565b602a60005260206000f3";
/// Reverts with the word 42.
const REVERTS: &str = "602a60005260206000fd";

fn rounds(contract: &Value, count: u64) -> Value {
    json!({ "to": contract, "data": format!("0x{count:064x}") })
}

/// Long enough for any machine: what ends these calls is their budget.
fn brief() -> Deadline {
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

fn is_too_long(answer: &Answer) -> bool {
    matches!(answer, Err(error) if error.code == ErrorCode::ResourceExhausted)
}

#[test]
fn a_brief_answer_is_the_same_answer() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    let failing = json!({ "to": deploy(&node, REVERTS) });
    let nobody = json!({ "to": format!("0x{}", "77".repeat(20)) });
    for asked in [rounds(&contract, 0), rounds(&contract, 100), failing, nobody] {
        let full = call(&node, &asked, "latest", &Deadline::none());
        assert_eq!(call(&node, &asked, "latest", &brief()), full, "{asked}");
        let full = estimate(&node, &asked, &Deadline::none());
        assert_eq!(estimate(&node, &asked, &brief()), full, "{asked}");
    }
    // The head by its number.
    let head: Value = serde_json::from_slice(&dispatch(&node, "eth_blockNumber", &[]).unwrap()).unwrap();
    assert!(call(&node, &rounds(&contract, 1), head.as_str().unwrap(), &brief()).is_ok());
}

#[test]
fn what_is_longer_is_left_to_others() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    let long = rounds(&contract, 100_000);
    assert!(is_too_long(&call(&node, &long, "latest", &brief())));
    assert_eq!(
        call(&node, &long, "latest", &Deadline::none()).unwrap(),
        call(&node, &rounds(&contract, 1), "latest", &Deadline::none()).unwrap()
    );
    let short = rounds(&deploy(&node, ROUNDS), 1);
    assert!(call(&node, &short, "latest", &brief()).is_ok());
    // Other blocks, creations, built-in contracts.
    for block in ["pending", "earliest", "0x0"] {
        assert!(is_too_long(&call(&node, &short, block, &brief())), "{block}");
    }
    assert!(is_too_long(&call(&node, &json!({ "data": "0x00" }), "latest", &brief())));
    assert!(is_too_long(&call(&node, &json!({ "to": BRIDGE.to_string() }), "latest", &brief())));
}

#[test]
fn a_function_that_was_too_long_is_not_tried_at_every_call() {
    let node = node(EstimateSearch::Single);
    let contract = deploy(&node, ROUNDS);
    assert!(is_too_long(&call(&node, &rounds(&contract, 100_000), "latest", &brief())));
    let again = rounds(&contract, 1);
    let first = (1..100).find(|_attempt| !is_too_long(&call(&node, &again, "latest", &brief())));
    assert_eq!(first, Some(32));
    assert!(call(&node, &again, "latest", &brief()).is_ok());
}

#[test]
fn a_state_that_was_changed_by_hand_is_seen_at_once() {
    let node = node(EstimateSearch::Single);
    // Returns the balance of 0x99.
    let contract = json!({ "to": deploy(&node, "60993160005260206000f3") });
    let poor = format!("0x{}99", "00".repeat(19));
    let balance = || {
        let called = call(&node, &contract, "latest", &brief()).unwrap();
        let asked = dispatch(&node, "eth_getBalance", &[json!(poor), json!("latest")]).unwrap();
        (String::from_utf8(called).unwrap(), String::from_utf8(asked).unwrap())
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
