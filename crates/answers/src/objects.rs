//! The JSON shapes that several answers share. Members are in the order of the reference.

pub mod block;
pub mod log;
pub(crate) mod log_list;
pub mod receipt;
pub mod transaction;
