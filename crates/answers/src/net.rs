//! `net_*`: this node does not speak the peer protocol, and says so.

pub mod listening;
pub mod peer_count;
pub mod peer_list;
pub mod version;
