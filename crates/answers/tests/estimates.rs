//! `eth_estimateGas`: the four rules of the API document, and exact estimates.

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

/// Deploys a contract with the runtime code. Returns its address.
pub(crate) fn deploy(node: &Node, runtime: &str) -> Value {
    let length = runtime.len() / 2;
    // These 12 bytes copy the following code to memory and return it.
    let data = format!("0x60{length:02x}600c60003960{length:02x}6000f3{runtime}");
    let call = json!({ "from": SENDER, "data": data, "gas": "0x100000" });
    let hash = ask(node, "eth_sendTransaction", &[call]).unwrap();
    ask(node, "eth_getTransactionReceipt", &[hash]).unwrap()["contractAddress"].clone()
}

/// Returns `true` if the transaction succeeds with this gas limit.
fn succeeds(node: &Node, call: &Value, gas: u64) -> bool {
    let mut call = call.clone();
    call["gas"] = json!(format!("{gas:#x}"));
    ask(node, "eth_sendTransaction", &[call]).is_ok()
}

/// `PUSH1 1 PUSH1 0 SSTORE STOP`: writes a storage slot.
const WRITES: &str = "600160005500";
/// The same, then `PUSH1 0 PUSH1 0 SSTORE STOP`, for a refund.
const WRITES_AND_CLEARS: &str = "6001600055600060005500";
/// `PUSH1 0 PUSH1 0 REVERT`.
const REVERTS: &str = "60006000fd";
/// `JUMPDEST PUSH1 0 JUMP`.
const LOOPS: &str = "5b600056";

#[test]
fn rule_1_simulates_the_whole_execution_without_side_effects() {
    let node = node(EstimateSearch::Single);
    let writer = deploy(&node, WRITES);
    let head = ask(&node, "eth_blockNumber", &[]).unwrap();
    let call = json!({ "from": SENDER, "to": writer });
    let gas = estimate(&node, &call);
    assert!(gas >= 21_000 + 20_000, "{gas}");
    assert_eq!(ask(&node, "eth_blockNumber", &[]).unwrap(), head);
    let stored = ask(&node, "eth_getStorageAt", &[writer, json!("0x0"), json!("latest")]).unwrap();
    assert_eq!(stored, json!(format!("0x{}", "0".repeat(64))));
    assert!(succeeds(&node, &call, gas));
}

#[test]
fn rule_2_estimates_failing_executions() {
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
fn rule_3_estimates_may_exceed_the_gas_used() {
    let node = node(EstimateSearch::Single);
    // The refund is not subtracted.
    let call = json!({ "from": SENDER, "to": deploy(&node, WRITES_AND_CLEARS) });
    let gas = estimate(&node, &call);
    let hash = ask(&node, "eth_sendTransaction", &[json!({ "from": SENDER, "to": call["to"], "gas": "0x100000" })]);
    let receipt = ask(&node, "eth_getTransactionReceipt", &[hash.unwrap()]).unwrap();
    assert!(gas > quantity(&receipt["gasUsed"]), "{gas} {receipt}");
    assert!(succeeds(&node, &call, gas));
}

#[test]
fn rule_4_limits_estimates_without_gas_to_the_pending_block() {
    let node = node(EstimateSearch::Single);
    let looper = deploy(&node, LOOPS);
    let call = json!({ "from": SENDER, "to": looper });
    let bound = estimate(&node, &call);
    let block = ask(&node, "eth_getBlockByNumber", &[json!("latest"), json!(false)]).unwrap();
    // A block has two parallel sublists and a sequential one: no transaction can use all of its gas.
    assert!(bound <= quantity(&block["gasLimit"]) && bound > 1_000_000, "{bound} {}", block["gasLimit"]);
    let limited = json!({ "from": SENDER, "to": looper, "gas": "0x186a0" });
    assert_eq!(estimate(&node, &limited), 100_000);
}

#[test]
fn tight_estimates_are_minimal() {
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

/// Sends every transaction of a recorded chain again, with its estimate as gas limit.
#[test]
fn tight_estimates_suffice_for_every_transaction_of_a_chain() {
    let node = node(EstimateSearch::Tight);
    let (mut sent, mut lowered) = (0, 0);
    for transaction in transactions("chain-a.blocks") {
        let sender = transaction.recover_sender().unwrap();
        // Nonces are the same as in the recording, so the contracts have the same addresses.
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
        let parameters = [call.clone(), json!("latest")];
        let recorded_gas = transaction.gas_limit().min(U256::from(6_000_000)).saturating_to();
        if ask(&node, "eth_call", &parameters).is_err() || !is_affordable(&node, &call) {
            succeeds(&node, &call, recorded_gas);
            continue;
        }
        let gas = estimate(&node, &call);
        assert!(succeeds(&node, &call, gas), "{} fails with {gas}", transaction.hash());
        sent += 1;
        lowered += usize::from(gas < recorded_gas);
    }
    assert!(sent > 50 && lowered > 40, "{sent} sent, {lowered} with less gas than recorded");
}

/// Returns `true` if the sender has the value of the call. Calls do not check balances, transactions do.
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
