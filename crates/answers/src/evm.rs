//! `evm_*`: control of a development node.

pub mod increase_time;
pub mod mine;
pub mod reset;
pub mod revert;
pub mod set_automine;
pub mod set_block_gas_limit;
pub mod set_interval_mining;
pub mod set_next_block_timestamp;
pub mod set_time;
pub mod snapshot;
pub mod start_mining;
pub mod stop_mining;
