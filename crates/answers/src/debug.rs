//! `debug_*`: internals of the node, stored data in raw form, and traces of executions.

pub mod account_transaction_quota;
mod block_tracing;
pub mod get_raw_block;
pub mod get_raw_header;
pub mod get_raw_receipts;
mod record;
pub mod storage_range_at;
pub mod trace_block;
pub mod trace_call;
pub mod trace_raw_block;
pub mod trace_transaction;
pub mod wire_protocol_queue_size;
