//! Discovery of nodes over UDP (docs/spec/p2p.md, 2; limits: p2p-additions.md, F).

mod distance;
mod guard;
mod packet_log;
pub(crate) mod protocol;
mod requests;
pub(crate) mod table;
pub(crate) mod task;

pub use distance::{bucket, distance};
