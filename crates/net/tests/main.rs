//! The network over loopback sockets.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod bad_input;
mod child_node;
mod chunk_server;
mod connections;
mod discovery;
mod liars;
mod live;
mod older_blocks;
mod recordings;
mod reference_peer;
mod reflected;
mod relay;
mod scores;
mod scripted_peer;
mod server;
mod snap;
mod snap_kills;
#[cfg(target_os = "linux")]
mod snap_large;
#[cfg(target_os = "linux")]
mod soak;
mod support;
mod sync;
mod sync_faults;
mod sync_kills;
mod sync_speed;
