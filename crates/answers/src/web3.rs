//! `web3_*`.

pub mod client_version;
pub mod sha3;
