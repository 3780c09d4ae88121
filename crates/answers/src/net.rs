//! `net_*`: connections to other nodes.

pub mod listening;
pub mod peer_count;
pub mod peer_list;
pub mod version;
