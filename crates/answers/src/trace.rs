//! `trace_*`.

pub mod block;
pub mod call;
pub mod filter;
pub mod get;
mod parts;
pub mod replay_block_transactions;
pub mod replay_transaction;
pub mod transaction;
mod write_block;
