//! Border to Node: each export converts its arguments, calls one function of `rhizome-answers` and returns its text.
//!
//! A process has one node, shared by all workers (`process`). Short answers are written on the caller's thread, others in
//! a bounded pool with a deadline and a cancellation token (`executors`, `pool`, `cancellation`). Errors cross as JSON in
//! the message of the thrown error; a panic becomes an error of one answer.
//!
//! Must not: make decisions, keep state of one worker in a `static`, wait for JavaScript on a thread of the chain.
//!
//! Start with `executors`, then `eth` and `node`.

pub mod admin;
pub mod answer_queue;
pub mod blocks;
pub mod body;
mod cancellation;
mod changes;
pub mod checkpoints;
mod config;
pub mod debug;
mod deferred;
pub mod eth;
pub mod evm;
pub mod execution;
mod executors;
pub mod feed;
pub mod fleet;
pub mod fork;
mod forking;
pub mod hardhat;
mod huge_pages;
pub mod large_body;
mod memory_purge;
mod miner;
pub mod mnr;
pub mod net;
pub mod network;
pub mod node;
mod node_role;
mod optimizations;
pub mod ots;
pub mod owner;
pub mod personal;
mod pool;
mod process;
pub mod reply;
pub mod reset;
pub mod rsk;
pub mod sco;
mod sending;
pub mod text;
pub mod thread_clock;
pub mod trace;
pub mod txpool;
pub mod web3;

/// Blocks are allocated on the threads that prepare them and freed on the thread that writes them. The allocator of the
/// C library makes such threads wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
