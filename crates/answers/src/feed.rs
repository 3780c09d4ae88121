//! Answers to filters and subscriptions between two polls. They are not RPC methods: heights are JSON numbers.

pub(crate) mod deleted;
pub mod head;
pub mod head_cursor;
pub mod logs_of_blocks;
pub mod main_hashes_since;
pub mod matching_logs;
pub mod pending_hashes;
pub mod waiting;
