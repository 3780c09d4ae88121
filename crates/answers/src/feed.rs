//! Answers to filters, subscriptions and change feeds between two polls. They are not RPC methods: heights are JSON numbers.

mod block_steps;
mod content;
mod cursor;
pub(crate) mod deleted;
mod event;
pub mod head;
pub mod head_cursor;
pub mod logs_of_blocks;
pub mod main_hashes_since;
pub mod page;
pub mod pending_hashes;
mod sparse_logs;
mod step_execution;
pub mod waiting;

pub use content::FeedContent;
pub use event::FeedForm;
