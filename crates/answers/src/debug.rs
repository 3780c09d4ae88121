//! `debug_*`: what goes on inside the node, and what it stores in its raw form.

pub mod account_transaction_quota;
pub mod get_raw_block;
pub mod get_raw_header;
pub mod get_raw_receipts;
pub mod wire_protocol_queue_size;
