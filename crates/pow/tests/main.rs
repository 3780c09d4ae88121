//! The golden vectors of the header rules.

#![allow(clippy::unwrap_used)]

mod chains;
mod difficulty;
mod fork_detection;
mod header_rules;
mod mining;
mod proof_of_work;
mod uncle_rules;
mod vectors;
