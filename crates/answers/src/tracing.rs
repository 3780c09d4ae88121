//! Traces of transactions, blocks and calls.
//!
//! Recorders look on at an execution ([`call_tree`], [`struct_logs`], [`vm_trace`]) and end it when they hold more than they
//! may. Writers make JSON of what was recorded ([`call_tracer`], [`transaction_trace`], [`prestate`], [`state_diff`]).
//! [`subject`] says what is executed.

pub mod call_tracer;
pub mod call_tree;
mod limit;
pub mod options;
pub mod prestate;
pub mod state_diff;
pub mod struct_logs;
pub(crate) mod subject;
pub mod traced;
pub mod transaction_trace;
pub mod vm_trace;

pub use limit::Limit;
