//! Answers: a typed question in, the finished JSON text of its result out, or an [`RpcError`].
//!
//! Every answer is a file named after its method, with one function `answer`; `eth/get_balance.rs` answers
//! `eth_getBalance`. `objects` has shapes that several answers share, `error` has the codes; error texts are where they
//! arise.
//!
//! Must not know sockets, envelopes, routing, Node or threads, and must not write to the chain except through it.
//!
//! Start with `node` (the argument of every answer), `block_id` (the block of a request) and one of the answers.

pub mod accounts;
pub mod admin;
mod atomic_file;
pub mod block_archives;
pub mod block_files;
pub mod block_id;
pub mod block_sources;
pub mod body;
mod caches;
pub mod call_object;
pub mod checkpoints;
pub mod debug;
mod delivery;
pub mod error;
pub mod eth;
pub mod evm;
mod execution;
pub mod fair_queue;
pub mod feed;
mod first_block;
pub mod fleet;
mod fleet_figures;
pub mod fork;
mod gas_price;
pub mod hardhat;
pub mod json;
pub mod key_store;
pub mod log_filter;
mod lookup;
pub mod mining_schedule;
mod mining_work;
pub mod mnr;
pub mod net;
mod network_figures;
pub mod node;
pub mod node_figures;
pub mod node_info;
pub mod object_fault;
pub mod objects;
pub mod options;
pub mod ots;
pub mod overrides;
pub mod parameters;
pub mod personal;
mod replay;
pub mod replica_restore;
mod response_limit;
mod revert;
pub mod rsk;
pub mod saved_state;
pub mod sco;
mod sent;
pub mod simulation;
mod state;
mod sync_figures;
pub mod trace;
pub mod tracing;
pub mod txpool;
pub mod upkeep;
pub mod web3;

pub use error::{Answer, Details, ErrorCode, RpcError};
pub use node::{ForkedChain, Node};
pub use options::AnswerOptions;
