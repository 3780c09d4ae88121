//! Files in a folder, on a web server or in an S3 bucket: reads of ranges, lists, writes; and the keys that sign files
//! of a location. The only crate that names object_store.
//!
//! Calls block their thread. Each call ends: connections, answers and retries have time-outs, and no more bytes are kept than the
//! caller asked for. A server may be faulty or hostile: callers have to verify the content.
//!
//! Must not: know what the files contain.

mod credentials;
mod error;
mod file;
mod folder;
mod limits;
mod location;
mod server;
mod signing_key;
mod writer;

pub use error::BlobError;
pub use file::BlobFile;
pub use limits::BlobLimits;
pub use location::{BlobEntry, BlobStore};
pub use signing_key::{KeyError, PublisherKey, SigningKey};
pub use writer::BlobWriter;
