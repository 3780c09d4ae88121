//! Golden vectors of the header rules, and fuzz tests.

#![allow(clippy::unwrap_used)]

mod chains;
mod difficulty;
mod fork_detection;
mod fuzz;
mod header_rules;
mod mining;
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;
mod proof_of_work;
mod uncle_rules;
mod vectors;
