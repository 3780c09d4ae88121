//! Failures of a call: call errors, argument errors, and calls without a verdict.

use rhizome_trie::StateError;

/// Why a call has no verdict: the block that contains it is neither valid nor invalid.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The deadline of the local call has passed.
    #[error("the deadline has passed")]
    DeadlineExceeded,
}

/// Why a call has no return value.
#[derive(Debug)]
pub enum CallFailure {
    /// A call error.
    Rejected,
    /// No verdict.
    Fatal(BridgeError),
}

/// Why a method has no return value. Nothing is saved.
#[derive(Debug)]
pub(crate) enum MethodFailure {
    /// A call error.
    Rejected,
    /// An argument error: no return value until RSKIP-88, then a call error (docs/spec/bridge.md, 1.1).
    Argument,
    /// No verdict.
    Fatal(BridgeError),
}

impl<E: Into<BridgeError>> From<E> for MethodFailure {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<MethodFailure> for CallFailure {
    fn from(failure: MethodFailure) -> Self {
        match failure {
            MethodFailure::Rejected | MethodFailure::Argument => Self::Rejected,
            MethodFailure::Fatal(error) => Self::Fatal(error),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, MethodFailure>;
