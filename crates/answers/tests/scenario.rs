//! Scenario transcripts: submissions, blocks from a miner outside, reorganisations. The blocks come from files.

use crate::node::{reference_options, regtest_with, steps, vector};
use crate::transcript::Tally;
use rhizome_answers::Node;
use rhizome_answers::options::MiningMode;
use rhizome_chain::Clock;
use serde_json::Value;
use std::ops::ControlFlow;

struct Scenario {
    node: Node,
    /// Lines of the block files.
    blocks: Vec<String>,
}

impl Scenario {
    fn new(block_files: &[&str], has_rate_limiter: bool) -> Self {
        let node = regtest_with(reference_options(MiningMode::Off), Clock::new(|| 1_700_000_000), |config| {
            config.pool.has_rate_limiter = has_rate_limiter;
            config.has_fixed_clock = true;
        });
        let texts = block_files.iter().map(|file| String::from_utf8(vector(file)).unwrap());
        let blocks = texts.flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>()).collect();
        Self { node, blocks }
    }

    /// Runs the steps of a file. `known` steps fail.
    fn run(&self, file: &str, known: &[u64]) {
        let mut tally = Tally::default();
        steps(file).iter().for_each(|step| self.step(step, &mut tally));
        tally.conclude(file, known);
    }

    fn step(&self, step: &Value, tally: &mut Tally) {
        let response = &step["response"];
        let mined = response["result"]["blockHash"].as_str().or(response["blockHash"].as_str());
        let is_submission = step["request"]["method"].as_str().is_some_and(|name| name.starts_with("mnr_submit"));
        match (step["kind"].as_str(), mined) {
            (Some("mine"), Some(hash)) => self.import(hash),
            (Some("rpc"), Some(hash)) if is_submission => self.import(hash),
            (Some("import"), _) => self.import_range(&step["request"]),
            (Some("rpc"), _) => tally.run(&self.node, step),
            _ => {}
        }
    }

    fn import_range(&self, request: &Value) {
        let lines = String::from_utf8(vector(request["blocks"].as_str().unwrap())).unwrap();
        let bounds = request["from"].as_u64().unwrap()..=request["to"].as_u64().unwrap();
        let number = |line: &str| line.split(',').next().unwrap().parse::<u64>().unwrap();
        lines.lines().filter(|line| bounds.contains(&number(line))).for_each(|line| self.import_line(line));
    }

    fn import(&self, hash: &str) {
        let is_meant = |line: &&String| line.split(',').nth(1) == Some(&hash[2..]);
        self.import_line(self.blocks.iter().find(is_meant).unwrap());
    }

    fn import_line(&self, line: &str) {
        self.node.chain().import_blocks(line.as_bytes(), |_line| ControlFlow::Continue(())).unwrap();
    }
}

/// Steps 39 and 40 show a draft whose transactions pay the same; the reference does not define their order.
#[test]
fn building_and_pool() {
    let scenario = Scenario::new(&["chain-a.blocks"], false);
    scenario.run("10-scenario-build.json", &[39, 40]);
    scenario.run("11-scenario-txpool.json", &[]);
}

#[test]
fn prices_and_quota() {
    let scenario = Scenario::new(&["gas-price.blocks"], true);
    scenario.run("33-scenario-gas-price-and-quota.json", &[]);
}

#[test]
fn deep_reorganisation() {
    let scenario = Scenario::new(&["deep-reorg.replaced.blocks"], false);
    scenario.run("51-scenario-deep-reorg.json", &[]);
}
