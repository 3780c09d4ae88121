//! Random programs in blocks of the reference node, across all upgrades, with its traces: `chains/random-traces.json`. They
//! include creations with rejected code, calls of accounts without code, and all causes of out-of-gas.

use crate::node::{fresh, reference_options};
use flate2::read::GzDecoder;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::options::MiningMode;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::{Node, debug, trace};
use rhizome_chain::Clock;
use rhizome_evm::Deadline;
use rhizome_primitives::ChainSpec;
use serde_json::{Value, json};
use std::fs::File;
use std::ops::ControlFlow;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/chains/random-traces.json.gz");

fn answer_of(node: &Node, method: &str, params: &Value) -> Value {
    let deadline = Deadline::none();
    let text = params[0].as_str().unwrap();
    let answer = match method {
        "trace_block" => trace::block::answer(node, &BlockId::parse(text).unwrap(), &deadline),
        "debug_traceTransaction" => {
            // Like the options that TypeScript passes.
            let options = match params[1]["tracer"].is_string() {
                true => json!({"tracer": params[1]["tracer"], "withLog": params[1]["tracerConfig"]["withLog"]}),
                false => json!({"disableStack": true, "disableMemory": true, "disableStorage": true}),
            };
            let options = TraceOptions::parse(&options.to_string()).unwrap();
            debug::trace_transaction::answer(node, &text.parse().unwrap(), &options, &deadline)
        }
        _ => panic!("unexpected method {method}"),
    };
    serde_json::from_slice(&answer.unwrap()).unwrap()
}

#[test]
fn traces_equal_the_reference() {
    let file: Value = serde_json::from_reader(GzDecoder::new(File::open(FILE).unwrap())).unwrap();
    let rules = json!({"network": "regtest", "consensusRules": file["consensusRules"]});
    let spec = ChainSpec::from_json(&rules.to_string()).unwrap();
    let node = fresh(spec, reference_options(MiningMode::Off), Clock::new(|| 4_000_000_000));
    let lines: Vec<&str> = file["blocks"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    node.chain().import_blocks(lines.join("\n").as_bytes(), |_line| ControlFlow::Continue(())).unwrap();
    let mut compared = 0;
    for case in file["answers"].as_array().unwrap() {
        let got = answer_of(&node, case["method"].as_str().unwrap(), &case["params"]);
        assert!(got == case["result"], "{} {}:\n{}\n{got}", case["method"], case["params"], case["result"]);
        compared += 1;
    }
    assert_eq!(compared, 464);
}
