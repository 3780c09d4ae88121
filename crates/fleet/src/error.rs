use std::io;

use async_nats::ConnectErrorKind;
use rhizome_chain::ChainError;

use crate::block_message::MAX_BLOCK_BYTES;

/// Why a node is not part of its fleet at the moment. It serves the stored blocks and tries again.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Threads could not be started.
    #[error("a thread of the fleet cannot be started: {0}")]
    Threads(io::Error),
    /// No server takes connections.
    #[error("the NATS server at {url} cannot be reached: {reason}")]
    Unreachable {
        /// URLs of the servers.
        url: String,
        /// Why.
        reason: String,
    },
    /// The server rejects user, password or token.
    #[error("the NATS server at {url} rejects the credentials (fleet.credentials)")]
    Credentials {
        /// URLs of the servers.
        url: String,
    },
    /// The TLS handshake failed.
    #[error("no TLS connection to the NATS server at {url}: {reason}")]
    Tls {
        /// URLs of the servers.
        url: String,
        /// Why.
        reason: String,
    },
    /// The connection has ended.
    #[error("the connection to the NATS server was lost")]
    Lost,
    /// The server has no streams.
    #[error("the NATS server has no JetStream: start it with jetstream enabled for this account")]
    NoJetStream,
    /// The server takes too small messages only.
    #[error(
        "max_payload of the NATS server is {found} bytes: a block may need {MAX_BLOCK_BYTES}, set it to 16MB or more"
    )]
    SmallPayload {
        /// The setting of the server.
        found: usize,
    },
    /// The server does not answer in time.
    #[error("the NATS server does not answer within {seconds} s: {request}")]
    Slow {
        /// The limit.
        seconds: u64,
        /// The request.
        request: &'static str,
    },
    /// A stream does not exist.
    #[error("stream {stream} does not exist: no importer of this chain has created it{others}")]
    NoStream {
        /// Name of the stream.
        stream: String,
        /// Streams of other chains on the server.
        others: OtherStreams,
    },
    /// The server does not allow a subject or a request.
    #[error("the NATS server refuses: {0}")]
    Refused(String),
    /// The log was deleted or changed while it was in use.
    #[error("stream {stream} was deleted or created again")]
    StreamChanged {
        /// Name of the stream.
        stream: String,
    },
    /// A block waits for its parent, which the log does not have.
    #[error(
        "block {number} ({hash}) waits for block {parent}, which is not in the log: retention has passed this node by, or the importer never had it; it needs a newer database (fleet.restore)"
    )]
    Gap {
        /// Number of the block.
        number: u64,
        /// Its hash.
        hash: String,
        /// Hash of the missing block.
        parent: String,
    },
    /// A block has a time that the clock of this node does not allow.
    #[error("block {number} ({hash}) is in the future: compare the clock of this machine with that of the importer")]
    Future {
        /// Number of the block.
        number: u64,
        /// Its hash.
        hash: String,
    },
    /// The chain failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A block could not be imported, and is not invalid.
    #[error("a block of the log could not be imported: {0}")]
    Import(String),
    /// The changes of the chain behind the last published one cannot be read.
    #[error("the stream of changes cannot be continued: {0}")]
    Changes(String),
    /// An event is larger than the server takes.
    #[error(
        "the event {cursor} of the stream of changes has {bytes} bytes, the NATS server takes {maximum}: raise max_payload"
    )]
    LargeChange {
        /// Place behind the event.
        cursor: String,
        /// Its length.
        bytes: usize,
        /// Largest possible length.
        maximum: usize,
    },
    /// A block could not be compressed.
    #[error("a block cannot be compressed: {0}")]
    Compression(io::Error),
}

/// Names of streams of other chains.
#[derive(Debug, Default)]
pub struct OtherStreams(pub(crate) Vec<String>);

impl std::fmt::Display for OtherStreams {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.is_empty() {
            true => Ok(()),
            false => write!(formatter, "; the server has {} of other chains", self.0.join(", ")),
        }
    }
}

impl FleetError {
    /// Converts the failure of a connection attempt.
    pub(crate) fn connecting(url: String, error: &async_nats::ConnectError) -> Self {
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => Self::Credentials { url },
            ConnectErrorKind::Tls => Self::Tls { url, reason: error.to_string() },
            _ => Self::Unreachable { url, reason: error.to_string() },
        }
    }
}
