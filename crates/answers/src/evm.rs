//! `evm_*`: control of a development node.

pub mod increase_time;
pub mod mine;
pub mod reset;
pub mod revert;
pub mod snapshot;
pub mod start_mining;
pub mod stop_mining;
