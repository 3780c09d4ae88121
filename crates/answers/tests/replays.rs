//! Traces of single transactions start at cached states: they equal the traces of whole blocks.

use crate::node::{chain_a, reference_options};
use rhizome_answers::block_id::BlockId;
use rhizome_answers::options::{AnswerOptions, MiningMode};
use rhizome_answers::tracing::options::{ReplayParts, TraceOptions};
use rhizome_answers::{Node, debug, trace};
use rhizome_evm::Deadline;
use rhizome_primitives::B256;
use serde_json::{Value, json};
use std::thread;

/// Kinds of traces that exist for a transaction and for its block.
const KINDS: [&str; 5] =
    ["{}", r#"{"tracer":"callTracer","tracerConfig":{"withLog":true}}"#, PRESTATE, "parts", "trace"];
const PRESTATE: &str = r#"{"tracer":"prestateTracer","tracerConfig":{"diffMode":true}}"#;

fn parts() -> ReplayParts {
    ReplayParts { has_trace: true, has_vm_trace: true, has_state_diff: true }
}

fn of_transaction(node: &Node, hash: &B256, kind: &str) -> Value {
    let deadline = Deadline::none();
    let text = match kind {
        "trace" => trace::transaction::answer(node, hash, &deadline),
        "parts" => trace::replay_transaction::answer(node, hash, parts(), &deadline),
        options => debug::trace_transaction::answer(node, hash, &TraceOptions::parse(options).unwrap(), &deadline),
    };
    serde_json::from_slice(&text.unwrap()).unwrap()
}

/// Returns one trace for each transaction of a block.
fn of_block(node: &Node, number: u64, hashes: &[B256], kind: &str) -> Vec<Value> {
    let (deadline, number) = (Deadline::none(), format!("0x{number:x}"));
    let at = BlockId::parse(&number).unwrap();
    let text = match kind {
        "trace" => trace::block::answer(node, &at, &deadline),
        "parts" => trace::replay_block_transactions::answer(node, &at, parts(), &deadline),
        options => debug::trace_block::answer(node, &at, &TraceOptions::parse(options).unwrap(), &deadline),
    };
    let all: Vec<Value> = serde_json::from_slice(&text.unwrap()).unwrap();
    match kind {
        "trace" => {
            let of = |hash: &B256| {
                all.iter().filter(|one| one["transactionHash"] == json!(hash.to_string())).cloned().collect()
            };
            hashes.iter().map(of).collect()
        }
        "{}" => all,
        "parts" => all
            .into_iter()
            .map(|mut one| {
                one.as_object_mut().unwrap().remove("transactionHash");
                one
            })
            .collect(),
        _ => all.into_iter().map(|mut one| one["result"].take()).collect(),
    }
}

/// Returns all transactions of a chain with the expected trace of each kind.
fn expected(node: &Node) -> Vec<(B256, Vec<Value>)> {
    let mut all = Vec::new();
    for number in 1..=node.chain().head().number() {
        let record = node.chain().main_block(number).unwrap().unwrap();
        let hashes: Vec<B256> = record.block.transactions.iter().map(|one| one.hash()).collect();
        let kinds: Vec<Vec<Value>> = KINDS.iter().map(|kind| of_block(node, number, &hashes, kind)).collect();
        for (index, hash) in hashes.iter().enumerate() {
            all.push((*hash, kinds.iter().map(|kind| kind[index].clone()).collect()));
        }
    }
    all
}

#[test]
fn single_transactions_are_traced_as_in_their_blocks() {
    // The cache has room for the whole chain, for some blocks, or for no block.
    let document = AnswerOptions::document();
    for options in [
        document.clone(),
        AnswerOptions { replay_bytes: 60_000, ..document },
        AnswerOptions { replay_bytes: 0, ..reference_options(MiningMode::Off) },
    ] {
        let bytes = options.replay_bytes;
        let node = chain_a(options);
        let expected = expected(&node);
        assert!(expected.len() > 100, "{} transactions", expected.len());
        // A step coprime to the number of transactions visits all of them, out of order.
        let step = [37, 41, 43].into_iter().find(|prime| !expected.len().is_multiple_of(*prime)).unwrap();
        for round in 0..expected.len() {
            let (hash, wanted) = &expected[round * step % expected.len()];
            for (kind, trace) in KINDS.iter().zip(wanted) {
                assert_eq!(of_transaction(&node, hash, kind), *trace, "{kind} of {hash} with {bytes} bytes");
            }
        }
    }
}

#[test]
fn concurrent_traces_of_the_same_blocks_are_equal() {
    let node = chain_a(AnswerOptions { replay_bytes: 1 << 20, ..AnswerOptions::document() });
    let expected = expected(&node);
    thread::scope(|scope| {
        for first in 0..4 {
            let (node, expected) = (&node, &expected);
            scope.spawn(move || {
                for (hash, traces) in expected.iter().skip(first).step_by(1 + first % 2) {
                    assert_eq!(of_transaction(node, hash, KINDS[1]), traces[1], "{hash}");
                }
            });
        }
    });
}
