//! What filters and subscriptions ask between two polls. Not methods of the interface: heights are plain numbers here.

pub(crate) mod deleted;
pub mod head;
pub mod head_cursor;
pub mod logs_of_blocks;
pub mod main_hashes_since;
pub mod matching_logs;
pub mod pending_hashes;
pub mod waiting;
