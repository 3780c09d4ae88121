//! The other side of a fork: a Rootstock node elsewhere, whose chain a fork continues from one of its blocks.
//!
//! [`RemoteChain`] is the port of the chain crate: state, headers and uncles up to that block, read over JSON-RPC when they are
//! needed. Requests are batched, coalesced, repeated with pauses, bounded in bytes and time; results are kept in a cache file for
//! each chain and block. A remote node may be away, slow, faulty or hostile: headers are compared with their hashes, every other
//! failure is a [`ForkError`], never a value, and never cached.
//!
//! Must not: execute, decide about consensus, wait on a thread that must not wait ([`without_requests`]).
//!
//! Start reading at `origin.rs` (opening, ancestors), then `state.rs` (state by trie key), `older_block.rs` (blocks that are executed
//! again), `remote.rs` (cached calls), `client.rs` (requests) and `cache_file.rs`.

mod bridge;
mod cache_file;
mod cache_folder;
mod call;
mod client;
mod error;
mod header;
mod network;
mod older_block;
mod origin;
mod remote;
mod state;
mod waiting;

pub use cache_folder::{CacheFolder, CachedFork};
pub use client::RemoteAddress;
pub use error::ForkError;
pub use older_block::{OlderAncestry, OlderBlock};
pub use origin::{ForkOptions, ForkTarget, RemoteChain};
pub use waiting::without_requests;
