use std::io;
use std::ops::Range;
use std::sync::Arc;

use object_store::Error;

/// Failure of a location. `file` is the address with its name.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BlobError {
    /// The text is not a location that can be opened.
    #[error("{location}: not a folder, an http or https URL, or an s3 URL with a bucket: {reason}")]
    Location {
        /// The text.
        location: String,
        /// The fault.
        reason: String,
    },
    /// There is no such file.
    #[error("{file}: does not exist")]
    NotFound {
        /// The file.
        file: String,
    },
    /// The server answers, but never with a part of a file.
    #[error("{file}: the server does not serve ranges")]
    NoRanges {
        /// The file.
        file: String,
    },
    /// The file has changed since the first read.
    #[error("{file}: changed while it was read")]
    Changed {
        /// The file.
        file: String,
    },
    /// The file has another length than expected.
    #[error("{file}: has {actual} bytes instead of {expected}")]
    Length {
        /// The file.
        file: String,
        /// Expected length, in bytes.
        expected: u64,
        /// Actual length, in bytes.
        actual: u64,
    },
    /// The answer ended before the range did.
    #[error("{file}: the answer has {received} bytes of the range {range:?}")]
    Incomplete {
        /// The file.
        file: String,
        /// The range.
        range: Range<u64>,
        /// Received length, in bytes.
        received: u64,
    },
    /// The connection ended within the answer.
    #[error("{file}: the answer ended early: {}", cause(.source))]
    Interrupted {
        /// The file.
        file: String,
        /// The failure.
        source: Arc<Error>,
    },
    /// The file is longer than the caller accepts.
    #[error("{file}: longer than {most} bytes")]
    TooLong {
        /// The file.
        file: String,
        /// Accepted length, in bytes.
        most: u64,
    },
    /// The server did not answer in time.
    #[error("{file}: no complete answer within {seconds} s")]
    Stopped {
        /// The file.
        file: String,
        /// Time of the call, in seconds.
        seconds: u64,
    },
    /// The call was cancelled.
    #[error("{file}: cancelled")]
    Cancelled {
        /// The file.
        file: String,
    },
    /// The location cannot be written to, or not listed.
    #[error("{location}: a web server can be read only")]
    ReadOnly {
        /// The location.
        location: String,
    },
    /// A file of a folder cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The failure.
        source: Arc<io::Error>,
    },
    /// A file of a folder cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Disk {
        /// The file.
        file: String,
        /// The failure.
        source: Arc<io::Error>,
    },
    /// The location failed in another way.
    #[error("{file}: {}", cause(.source))]
    Failed {
        /// The file.
        file: String,
        /// The failure.
        source: Arc<Error>,
    },
}

/// Longest text of a failure, in characters: a server may answer with a whole page.
const MAX_CAUSE: usize = 300;

/// Returns the text of the innermost failure. Those around it repeat the URL with its query, and hide the cause.
pub(crate) fn cause(error: &Error) -> String {
    let first: &(dyn std::error::Error + 'static) = error;
    let innermost = std::iter::successors(Some(first), |error| error.source()).last().unwrap_or(first);
    innermost.to_string().chars().take(MAX_CAUSE).collect()
}

impl BlobError {
    pub(crate) fn disk(file: &str, error: io::Error) -> Self {
        Self::Disk { file: file.to_owned(), source: Arc::new(error) }
    }

    pub(crate) fn of(file: &str, error: Error) -> Self {
        let file = file.to_owned();
        match error {
            Error::NotFound { .. } => Self::NotFound { file },
            Error::Precondition { .. } => Self::Changed { file },
            source => Self::Failed { file, source: Arc::new(source) },
        }
    }
}
