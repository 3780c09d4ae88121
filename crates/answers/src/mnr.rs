//! `mnr_*`: work for merged mining.

pub mod get_work;
pub mod submit_bitcoin_block;
pub mod submit_bitcoin_block_partial_merkle;
pub mod submit_bitcoin_block_transactions;
