//! Traces of transactions, blocks and calls.
//!
//! Recorders inspect an execution ([`call_tree`], [`struct_logs`], [`vm_trace`]) and end it if they exceed their size limit.
//! Writers make JSON of the records ([`call_tracer`], [`transaction_trace`], [`prestate`], [`state_diff`]). [`subject`]
//! is the executed block.

pub mod call_tracer;
pub mod call_tree;
mod console;
pub(crate) mod four_byte;
mod limit;
pub mod options;
pub mod prestate;
pub(crate) mod several;
pub mod state_diff;
pub mod struct_logs;
pub(crate) mod subject;
pub mod traced;
pub mod transaction_trace;
pub(crate) mod user_operation;
pub mod vm_trace;

pub use limit::Limit;
