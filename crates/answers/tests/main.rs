//! Tests of answers below the JSON-RPC layer. Recorded transcripts are replayed by the runner in `ts/tests/conformance`.

#![allow(clippy::unwrap_used)]

mod after_state_download;
mod block_archives;
#[path = "../../evm/tests/vectors/mod.rs"]
#[expect(dead_code, reason = "the tests of evm check the other kinds of cases")]
mod cases;
mod dispatch;
mod estimates;
mod feed;
mod feed_execution;
mod golden_traces;
mod head_cache;
mod inline_calls;
mod inline_searches;
mod large_storage;
mod mining;
mod mining_and_events;
mod node;
mod random_traces;
mod reorganizations;
mod replays;
mod saved_states;
mod traces;
