//! `rsk_*`, which answer as `chain_*` too.

pub mod flush;
pub mod get_raw_block_header_by_hash;
pub mod get_raw_block_header_by_number;
pub mod get_raw_transaction_receipt_by_hash;
pub mod get_storage_bytes_at;
pub mod get_transaction_receipt_nodes_by_hash;
