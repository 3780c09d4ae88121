//! The JSON shapes that several answers share. Members are in the order of the reference.

pub mod block;
pub mod log;
pub mod receipt;
pub mod transaction;
