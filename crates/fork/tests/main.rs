//! Tests against scripted remote nodes.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod older_blocks;
mod opening;
mod scripted_node;
mod state;
