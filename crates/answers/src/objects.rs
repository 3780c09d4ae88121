//! The JSON shapes that several answers share. Members stand in the order of the reference.

pub mod block;
pub mod log;
pub mod receipt;
pub mod transaction;
