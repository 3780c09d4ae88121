//! Answers against recorded transcripts of the reference node.

#![allow(clippy::unwrap_used)]

mod automine;
#[path = "../../evm/tests/vectors/mod.rs"]
#[expect(dead_code, reason = "the other kinds of cases are checked elsewhere")]
mod cases;
mod development;
mod dispatch;
mod estimates;
mod golden_traces;
mod mining;
mod node;
mod reads;
mod scenario;
mod traces;
mod transcript;
