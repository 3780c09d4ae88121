//! The `reads` transcripts: every answer is a pure function of the blocks of chain A.

use crate::node::{chain_a, reference_options, steps};
use crate::transcript::Tally;
use rhizome_answers::Node;
use rhizome_answers::options::{AnswerOptions, EstimateOnFailure, MiningMode};
use std::sync::LazyLock;

static NODE: LazyLock<Node> = LazyLock::new(|| chain_a(reference_options(MiningMode::Off)));
/// Estimates as the API document wants them, everything else as the recording.
static ESTIMATING: LazyLock<Node> = LazyLock::new(|| {
    let reference = reference_options(MiningMode::Off);
    chain_a(AnswerOptions { estimate_on_failure: EstimateOnFailure::Estimate, ..reference })
});

fn replay(node: &Node, file: &str) {
    let mut tally = Tally::default();
    steps(file).iter().for_each(|step| tally.run(node, step));
    tally.conclude(file, &[]);
}

#[test]
fn blocks() {
    replay(&NODE, "20-reads-blocks.json");
}

#[test]
fn transactions() {
    replay(&NODE, "21-reads-transactions.json");
}

#[test]
fn state() {
    replay(&NODE, "22-reads-state.json");
}

#[test]
fn calls() {
    replay(&NODE, "23-reads-calls.json");
}

#[test]
fn estimates() {
    replay(&ESTIMATING, "23-reads-calls.json");
}

#[test]
fn logs() {
    replay(&NODE, "24-reads-logs.json");
}
