//! `trace_*`.

pub mod block;
pub mod call;
pub mod call_many;
pub mod filter;
pub mod get;
mod parts;
pub mod raw_transaction;
pub mod replay_block_transactions;
pub mod replay_transaction;
pub mod transaction;
mod write_block;
