//! `debug_*`.

pub mod get_raw_block;
pub mod get_raw_header;
pub mod get_raw_receipts;
