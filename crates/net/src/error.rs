//! Reasons for which the network cannot start.

use std::net::SocketAddr;

/// The network cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The port is taken, or the address is not of this machine.
    #[error("cannot listen for peers on {address}: {source}")]
    Listen {
        /// Address of the listener.
        address: SocketAddr,
        /// Cause.
        source: std::io::Error,
    },
    /// The threads cannot be started.
    #[error("cannot start the threads of the network: {0}")]
    Threads(std::io::Error),
}
