//! The `reads` transcripts: every answer is a pure function of the blocks of chain A.
//!
//! Block 9 of that chain calls the Bridge. While the node cannot import it, the steps that need it are set aside and
//! counted.

use crate::node::{chain_a, reference_options, steps, vector};
use crate::reach::Heights;
use crate::transcript::Tally;
use rhizome_answers::Node;
use rhizome_answers::options::MiningMode;
use std::sync::LazyLock;

static NODE: LazyLock<Node> = LazyLock::new(|| chain_a(reference_options(MiningMode::Off)));
static HEIGHTS: LazyLock<Heights> =
    LazyLock::new(|| Heights::of(&["chain-a.blocks", "chain-a.side.blocks"].map(vector)));

fn replay(file: &str) {
    let head = NODE.chain().head().number();
    let (reachable, beyond): (Vec<_>, Vec<_>) = steps(file).into_iter().partition(|step| HEIGHTS.reach(step) <= head);
    let mut tally = Tally::default();
    reachable.iter().for_each(|step| tally.run(&NODE, step));
    println!("{file}: head {head}, {} steps set aside", beyond.len());
    tally.conclude(file, &[]);
}

#[test]
fn blocks() {
    replay("20-reads-blocks.json");
}

#[test]
fn transactions() {
    replay("21-reads-transactions.json");
}

#[test]
fn state() {
    replay("22-reads-state.json");
}

#[test]
fn calls() {
    replay("23-reads-calls.json");
}

#[test]
fn logs() {
    replay("24-reads-logs.json");
}
