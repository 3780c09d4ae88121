//! Answers without the JSON-RPC layer. Recorded transcripts are replayed by the runner in `ts/tests/conformance`.

#![allow(clippy::unwrap_used)]

mod brief_calls;
mod brief_searches;
#[path = "../../evm/tests/vectors/mod.rs"]
#[expect(dead_code, reason = "the other kinds of cases are checked elsewhere")]
mod cases;
mod development;
mod dispatch;
mod estimates;
mod golden_traces;
mod head_reads;
mod mining;
mod node;
mod random_traces;
mod replays;
mod traces;
