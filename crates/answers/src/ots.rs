//! `ots_*`: the API of Otterscan, level 8.

pub mod get_block_details;
pub mod get_block_transactions;
pub mod get_contract_creator;
pub mod get_internal_operations;
pub mod get_transaction_by_sender_and_nonce;
pub mod get_transaction_error;
pub mod has_code;
mod recorded_calls;
pub mod search_transactions;
pub mod trace_transaction;
