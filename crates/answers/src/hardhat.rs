//! `hardhat_*` with the aliases `anvil_*`: changes of the state and of senders. Development networks only.

pub mod auto_impersonate_account;
pub mod drop_all_transactions;
pub mod drop_transaction;
pub mod dump_state;
pub mod get_automine;
pub mod impersonate_account;
pub mod load_state;
pub mod metadata;
pub mod mine;
pub mod node_info;
pub mod remove_block_timestamp_interval;
pub mod remove_pool_transactions;
pub mod reorg;
pub mod rollback;
pub mod set_balance;
pub mod set_block_timestamp_interval;
pub mod set_code;
pub mod set_coinbase;
pub mod set_logging_enabled;
pub mod set_min_gas_price;
pub mod set_nonce;
pub mod set_storage_at;
pub mod stop_impersonating_account;
