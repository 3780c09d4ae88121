//! `eth_estimateGas`: the four rules of the API document, and estimates that are just enough.

use crate::dispatch::dispatch;
use crate::node::{regtest, vector};
use rhizome_answers::Node;
use rhizome_answers::options::{AnswerOptions, EstimateSearch, MiningMode};
use rhizome_chain::Clock;
use rhizome_primitives::{BRIDGE, Block, ChainSpec, Transaction, U256, hex};
use serde_json::{Value, json};

const SENDER: &str = "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826";

pub(crate) fn node(search: EstimateSearch) -> Node {
    let document = AnswerOptions::document();
    let options = AnswerOptions { mining: MiningMode::Auto, has_wallet: true, estimate_search: search, ..document };
    regtest(options, Clock::system())
}

fn ask(node: &Node, method: &str, parameters: &[Value]) -> Result<Value, i32> {
    let answer = dispatch(node, method, parameters);
    answer.map(|text| serde_json::from_slice(&text).unwrap()).map_err(|error| error.code.number())
}

fn quantity(value: &Value) -> u64 {
    u64::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap()
}

fn estimate(node: &Node, call: &Value) -> u64 {
    quantity(&ask(node, "eth_estimateGas", std::slice::from_ref(call)).unwrap())
}

/// Deploys a contract of this runtime code.
pub(crate) fn deploy(node: &Node, runtime: &str) -> Value {
    let length = runtime.len() / 2;
    // Copies what follows these 12 bytes to memory and returns it.
    let data = format!("0x60{length:02x}600c60003960{length:02x}6000f3{runtime}");
    let call = json!({ "from": SENDER, "data": data, "gas": "0x100000" });
    let hash = ask(node, "eth_sendTransaction", &[call]).unwrap();
    ask(node, "eth_getTransactionReceipt", &[hash]).unwrap()["contractAddress"].clone()
}

/// What a transaction with so much gas came to.
fn succeeds(node: &Node, call: &Value, gas: u64) -> bool {
    let mut call = call.clone();
    call["gas"] = json!(format!("{gas:#x}"));
    ask(node, "eth_sendTransaction", &[call]).is_ok()
}

/// `PUSH1 1 PUSH1 0 SSTORE STOP`: writes a cell.
const WRITES: &str = "600160005500";
/// The same, then `PUSH1 0 PUSH1 0 SSTORE STOP`, which gives a refund.
const WRITES_AND_CLEARS: &str = "6001600055600060005500";
/// `PUSH1 0 PUSH1 0 REVERT`.
const REVERTS: &str = "60006000fd";
/// `JUMPDEST PUSH1 0 JUMP`.
const LOOPS: &str = "5b600056";

#[test]
fn rule_1_the_whole_execution_is_simulated_and_nothing_is_added() {
    let node = node(EstimateSearch::Single);
    let writer = deploy(&node, WRITES);
    let head = ask(&node, "eth_blockNumber", &[]).unwrap();
    let call = json!({ "from": SENDER, "to": writer });
    let gas = estimate(&node, &call);
    assert!(gas >= 21_000 + 20_000, "{gas}");
    assert_eq!(ask(&node, "eth_blockNumber", &[]).unwrap(), head);
    let cell = ask(&node, "eth_getStorageAt", &[writer, json!("0x0"), json!("latest")]).unwrap();
    assert_eq!(cell, json!(format!("0x{}", "0".repeat(64))));
    assert!(succeeds(&node, &call, gas));
}

#[test]
fn rule_2_an_execution_that_fails_has_an_estimate() {
    let node = node(EstimateSearch::Single);
    let poor = format!("0x{}", "77".repeat(20));
    assert_eq!(estimate(&node, &json!({ "from": poor, "to": SENDER, "value": "0xffffffffffff" })), 21_000);
    let reverts = estimate(&node, &json!({ "from": SENDER, "to": deploy(&node, REVERTS) }));
    assert!((21_000..22_000).contains(&reverts), "{reverts}");
    let tight = self::node(EstimateSearch::Tight);
    let same = estimate(&tight, &json!({ "from": SENDER, "to": deploy(&tight, REVERTS) }));
    assert_eq!(same, reverts);
}

#[test]
fn rule_3_an_estimate_may_be_higher_than_what_is_used() {
    let node = node(EstimateSearch::Single);
    // What the refund gives back is not subtracted.
    let call = json!({ "from": SENDER, "to": deploy(&node, WRITES_AND_CLEARS) });
    let gas = estimate(&node, &call);
    let hash = ask(&node, "eth_sendTransaction", &[json!({ "from": SENDER, "to": call["to"], "gas": "0x100000" })]);
    let receipt = ask(&node, "eth_getTransactionReceipt", &[hash.unwrap()]).unwrap();
    assert!(gas > quantity(&receipt["gasUsed"]), "{gas} {receipt}");
    assert!(succeeds(&node, &call, gas));
}

#[test]
fn rule_4_without_gas_the_pending_block_is_the_bound() {
    let node = node(EstimateSearch::Single);
    let looper = deploy(&node, LOOPS);
    let call = json!({ "from": SENDER, "to": looper });
    let bound = estimate(&node, &call);
    let block = ask(&node, "eth_getBlockByNumber", &[json!("latest"), json!(false)]).unwrap();
    // A block of two parallel lists and a sequential one: no transaction can have all of its gas.
    assert!(bound <= quantity(&block["gasLimit"]) && bound > 1_000_000, "{bound} {}", block["gasLimit"]);
    let limited = json!({ "from": SENDER, "to": looper, "gas": "0x186a0" });
    assert_eq!(estimate(&node, &limited), 100_000);
}

#[test]
fn tight_estimates_are_just_enough() {
    let node = node(EstimateSearch::Tight);
    let plain = json!({ "from": SENDER, "to": format!("0x{}", "11".repeat(20)), "value": "0x1" });
    assert_eq!(estimate(&node, &plain), 21_000);
    for runtime in [WRITES, WRITES_AND_CLEARS] {
        let call = json!({ "from": SENDER, "to": deploy(&node, runtime) });
        let gas = estimate(&node, &call);
        assert!(!succeeds(&node, &call, gas - 1), "{runtime} succeeds with {}", gas - 1);
        assert!(succeeds(&node, &call, gas), "{runtime} fails with {gas}");
    }
}

/// Every transaction of a recorded chain is sent again, with exactly the gas of its estimate.
#[test]
fn tight_estimates_suffice_for_every_transaction_of_a_chain() {
    let node = node(EstimateSearch::Tight);
    let (mut sent, mut lowered) = (0, 0);
    for transaction in transactions("chain-a.blocks") {
        let sender = transaction.recover_sender().unwrap();
        // The nonces of the senders go on as in the recording, and with them the addresses of their contracts.
        let is_repeatable = transaction.to() != Some(BRIDGE);
        let mut call = json!({
            "from": sender.to_string().to_lowercase(),
            "to": transaction.to().filter(|_| is_repeatable).map(|to| to.to_string().to_lowercase()),
            "value": format!("{:#x}", transaction.value()),
            "data": hex::encode_prefixed(transaction.data()),
        });
        if !is_repeatable {
            call = json!({ "from": call["from"], "to": call["from"] });
        }
        let asked = [call.clone(), json!("latest")];
        let given = transaction.gas_limit().min(U256::from(6_000_000)).saturating_to();
        if ask(&node, "eth_call", &asked).is_err() || !is_affordable(&node, &call) {
            succeeds(&node, &call, given);
            continue;
        }
        let gas = estimate(&node, &call);
        assert!(succeeds(&node, &call, gas), "{} fails with {gas}", transaction.hash());
        sent += 1;
        lowered += usize::from(gas < given);
    }
    assert!(sent > 50 && lowered > 40, "{sent} sent, {lowered} with less gas than was given");
}

/// Calls do not look at the balance of the sender, transactions do.
fn is_affordable(node: &Node, call: &Value) -> bool {
    let balance = ask(node, "eth_getBalance", &[call["from"].clone(), json!("latest")]).unwrap();
    let value = call["value"].as_str().map_or(U256::ZERO, |text| text.parse().unwrap());
    balance.as_str().unwrap().parse::<U256>().unwrap() >= value
}

fn transactions(file: &str) -> Vec<Transaction> {
    let text = String::from_utf8(vector(file)).unwrap();
    let spec = ChainSpec::regtest();
    let blocks = text.lines().map(|line| Block::decode(&hex::decode(line.split(',').nth(3).unwrap()).unwrap(), &spec));
    blocks.flat_map(|block| block.unwrap().transactions).filter(Transaction::is_signed).collect()
}
