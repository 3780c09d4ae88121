//! Tests against scripted remote nodes.

mod opening;
mod scripted_node;
mod state;
