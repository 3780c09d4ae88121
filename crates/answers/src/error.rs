//! Errors of requests: one closed table of codes, one shape.

use crate::json::JsonWriter;
use rhizome_chain::{BuildError, ChainError, ImportError, LogSearchError, MineError};
use rhizome_evm::{ExecError, Unexecutable};
use rhizome_fork::ForkError;
use rhizome_primitives::Bytes;
use rhizome_trie::StateError;
use std::error::Error;
use std::io;

/// Every error code of the interface. The wording belongs to the thrower, the code never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The body is not JSON (JSON-RPC 2.0).
    ParseError,
    /// The envelope is wrong, or a state or count is asked at a block that does not exist (reference).
    InvalidRequest,
    /// Unknown or unavailable method (JSON-RPC 2.0).
    MethodNotFound,
    /// A parameter is malformed or out of range (JSON-RPC 2.0).
    InvalidParams,
    /// A defect of the node, never a mistake of the caller (JSON-RPC 2.0).
    Internal,
    /// `personal_*` on a node without accounts (reference).
    WalletDisabled,
    /// Unknown filter, or a question that this node cannot answer (reference, EIP-1474).
    ServerError,
    /// The block of a cursor is not stored (EIP-1474: resource not found).
    NotStored,
    /// The disk refuses to be written (EIP-1474: resource unavailable).
    Unwritable,
    /// Rate, quota or queue limits (EIP-1474).
    LimitExceeded,
    /// Instant mining built a block without the transaction (reference).
    NotMined,
    /// The pool refused the transaction (reference).
    TransactionRejected,
    /// Time or answer size used up (reference).
    ResourceExhausted,
    /// Too many blocks or logs asked for (reference).
    LogLimitExceeded,
    /// The execution reverted or halted (API document).
    Reverted,
    /// A mining solution was refused (reference).
    InvalidMinerBlock,
    /// The nonce of a simulated call was used before (execution-apis).
    SimulatedNonceTooLow,
    /// The nonce of a simulated call leaves a gap (execution-apis).
    SimulatedNonceTooHigh,
    /// The gas price of a simulated call is below what its block asks for (execution-apis).
    SimulatedPriceTooLow,
    /// The gas of a simulated call does not pay for the call itself (execution-apis).
    SimulatedGasTooLow,
    /// The sender of a simulated call cannot pay (execution-apis).
    SimulatedFunds,
    /// A simulated block has no room for a call (execution-apis).
    SimulatedBlockGas,
    /// The numbers of simulated blocks must rise (execution-apis).
    SimulatedNumber,
    /// The times of simulated blocks must rise (execution-apis).
    SimulatedTime,
    /// The init code of a simulated call is too long (execution-apis).
    SimulatedInitCode,
    /// A simulation is larger than this node allows (execution-apis).
    SimulationLimit,
}

impl ErrorCode {
    /// The whole table, in the order of declaration.
    pub const ALL: [Self; 26] = [
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::WalletDisabled,
        Self::ServerError,
        Self::NotStored,
        Self::Unwritable,
        Self::LimitExceeded,
        Self::NotMined,
        Self::TransactionRejected,
        Self::ResourceExhausted,
        Self::LogLimitExceeded,
        Self::Reverted,
        Self::InvalidMinerBlock,
        Self::SimulatedNonceTooLow,
        Self::SimulatedNonceTooHigh,
        Self::SimulatedPriceTooLow,
        Self::SimulatedGasTooLow,
        Self::SimulatedFunds,
        Self::SimulatedBlockGas,
        Self::SimulatedNumber,
        Self::SimulatedTime,
        Self::SimulatedInitCode,
        Self::SimulationLimit,
    ];

    /// The number on the wire.
    pub const fn number(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::WalletDisabled => -32604,
            Self::ServerError => -32000,
            Self::NotStored => -32001,
            Self::Unwritable => -32002,
            Self::LimitExceeded => -32005,
            Self::NotMined => -32009,
            Self::TransactionRejected => -32010,
            Self::ResourceExhausted => -32011,
            Self::LogLimitExceeded => -32012,
            Self::Reverted => -32015,
            Self::InvalidMinerBlock => -33000,
            Self::SimulatedNonceTooLow => -38010,
            Self::SimulatedNonceTooHigh => -38011,
            Self::SimulatedPriceTooLow => -38012,
            Self::SimulatedGasTooLow => -38013,
            Self::SimulatedFunds => -38014,
            Self::SimulatedBlockGas => -38015,
            Self::SimulatedNumber => -38020,
            Self::SimulatedTime => -38021,
            Self::SimulatedInitCode => -38025,
            Self::SimulationLimit => -38026,
        }
    }
}

/// An error as it goes to the caller. `cause` stays in the node's log: it may name files and hashes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", .code.number())]
pub struct RpcError {
    /// Which row of the table.
    pub code: ErrorCode,
    /// Text for the caller.
    pub message: String,
    /// Return bytes of a revert.
    pub data: Option<Bytes>,
    /// Details of a rejection, if any.
    pub details: Option<Box<Details>>,
    /// The internal cause, for the log only.
    pub cause: Option<String>,
}

/// Advice for a corrected request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// For people: where the fault is and what would have been accepted.
    pub hint: String,
    /// The `data` of the error for programs: a JSON object, if any.
    pub data: Option<Vec<u8>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, details: None, cause: None }
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParams, message)
    }

    /// -32000.
    pub fn server(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ServerError, message)
    }

    /// Adds a hint for developers. Must not be called on an error with `data`.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.details = Some(Box::new(Details { hint: hint.into(), data: None }));
        self
    }

    /// Returns -32603. Only the log contains `cause`.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self {
            code: ErrorCode::Internal,
            message: "Internal server error".into(),
            data: None,
            details: None,
            cause: Some(cause.to_string()),
        }
    }

    /// Returns -32011 for a request that exceeded its time limit or whose caller has disconnected.
    pub fn timed_out() -> Self {
        Self::new(ErrorCode::ResourceExhausted, "Execution has got timeout out.")
    }

    /// Returns the error of a remote node that is among the causes of a failure; `None` without one. A value that the thread must not
    /// wait for is -32011: the request runs again in the pool.
    fn of_fork(failure: &(dyn Error + 'static)) -> Option<Self> {
        let mut bridge_method = None;
        let mut cause = Some(failure);
        while let Some(error) = cause {
            if let Some(ExecError::Bridge { method, .. }) = error.downcast_ref() {
                bridge_method = Some(method);
            }
            match (error.downcast_ref::<ForkError>(), bridge_method) {
                (Some(ForkError::NotCached), _) => return Some(Self::timed_out()),
                (Some(error), Some(method)) => {
                    return Some(Self::new(ErrorCode::ServerError, format!("{method} of the Bridge: {error}")));
                }
                (Some(error), None) => return Some(Self::new(ErrorCode::ServerError, error.to_string())),
                (None, _) => cause = error.source(),
            }
        }
        None
    }

    /// -32005 when the queue of the execution threads is full.
    pub fn overloaded() -> Self {
        Self::new(ErrorCode::LimitExceeded, "Server overloaded")
    }

    /// -32002 for a file that could not be written.
    pub(crate) fn from_write(error: &io::Error, file: impl std::fmt::Display) -> Self {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        Self::unwritable(full.contains(&error.kind()), format_args!("{file}: {error}"))
    }

    /// -32002 while the disk refuses to be written. The log learns `cause`.
    fn unwritable(is_full: bool, cause: impl std::fmt::Display) -> Self {
        let reason = write_fault_text(is_full);
        let mut error = Self::new(ErrorCode::Unwritable, format!("The node cannot write: {reason}"));
        error.cause = Some(cause.to_string());
        error
    }

    /// `{"code","message","data"?,"hint"?,"cause"?}`: the form in which an error crosses to the server.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = JsonWriter::new();
        json.begin_object();
        json.key("code").number(i64::from(self.code.number()));
        json.key("message").text(&self.message);
        if let Some(data) = &self.data {
            json.key("data").data(data);
        }
        if let Some(details) = &self.details {
            if let Some(data) = &details.data {
                json.key("data").raw(data);
            }
            json.key("hint").text(&details.hint);
        }
        if let Some(cause) = &self.cause {
            json.key("cause").text(cause);
        }
        json.end_object();
        json.finish()
    }
}

impl From<ForkError> for RpcError {
    fn from(failure: ForkError) -> Self {
        Self::of_fork(&failure).unwrap_or_else(|| Self::internal(failure))
    }
}

impl From<ChainError> for RpcError {
    fn from(failure: ChainError) -> Self {
        if let Some(error) = Self::of_fork(&failure) {
            return error;
        }
        match &failure {
            ChainError::TrieNotKept { .. }
            | ChainError::TrieTooFar { .. }
            | ChainError::StateNotKept { .. }
            | ChainError::ReceiptsNotKept { .. }
            | ChainError::BlockNotStored { .. }
            | ChainError::BranchBelowHistory { .. } => Self::new(ErrorCode::ServerError, failure.to_string()),
            ChainError::DeadlineExceeded => Self::timed_out(),
            _ if failure.is_write_fault() => Self::unwritable(failure.is_disk_full(), failure),
            _ => Self::internal(failure),
        }
    }
}

impl From<ExecError> for RpcError {
    /// The error of an execution that ended without a result.
    fn from(error: ExecError) -> Self {
        if let Some(error) = Self::of_fork(&error) {
            return error;
        }
        match error {
            ExecError::DeadlineExceeded => Self::timed_out(),
            ExecError::State(failure) => failure.into(),
            ExecError::Bridge { source, .. } => (*source).into(),
            ExecError::Override(reason) => Self::invalid_params(reason.to_string()),
            ExecError::Unexecutable { reason: Unexecutable::LocalGas, .. } => {
                Self::invalid_params("Invalid gas: less than the call costs before it starts")
            }
            ExecError::Unexecutable { reason: Unexecutable::Amount, .. } => {
                Self::invalid_params("Invalid value: 2^255 wei or more")
            }
            ExecError::Unexecutable { reason, .. } => Self::new(ErrorCode::ServerError, reason.to_string()),
            other => Self::internal(other),
        }
    }
}

impl From<ImportError> for RpcError {
    fn from(failure: ImportError) -> Self {
        match failure {
            ImportError::Chain(failure) => failure.into(),
            other => Self::of_fork(&other).unwrap_or_else(|| Self::internal(other)),
        }
    }
}

impl From<BuildError> for RpcError {
    fn from(failure: BuildError) -> Self {
        Self::of_fork(&failure).unwrap_or_else(|| Self::internal(failure))
    }
}

impl From<MineError> for RpcError {
    fn from(failure: MineError) -> Self {
        match failure {
            MineError::Time { .. } => Self::invalid_params(failure.to_string()),
            MineError::Import(failure) => failure.into(),
            defect => Self::of_fork(&defect).unwrap_or_else(|| Self::internal(defect)),
        }
    }
}

impl From<StateError> for RpcError {
    fn from(failure: StateError) -> Self {
        if let Some(error) = Self::of_fork(&failure) {
            return error;
        }
        if matches!(failure, StateError::Unlisted) {
            let reason = "the storage slots of a contract of the other chain cannot be listed; name another tracer";
            return Self::new(ErrorCode::ServerError, reason);
        }
        let error = match &failure {
            StateError::Reader(reason) => reason.downcast_ref::<ChainError>(),
            _ => None,
        };
        match error {
            Some(error @ (ChainError::DeletedBlock { .. } | ChainError::StateNotKept { .. })) => {
                Self::new(ErrorCode::ServerError, error.to_string())
            }
            _ => Self::internal(failure),
        }
    }
}

impl From<LogSearchError> for RpcError {
    fn from(error: LogSearchError) -> Self {
        match error {
            LogSearchError::Chain(failure) => failure.into(),
            LogSearchError::DeadlineExceeded => Self::timed_out(),
        }
    }
}

/// Returns the text of a write failure for callers: it contains no file names.
pub(crate) fn write_fault_text(is_full: bool) -> &'static str {
    if is_full { "no space left on its disk" } else { "its disk fails" }
}

/// A finished JSON result, or the error that replaces it.
pub type Answer = Result<Vec<u8>, RpcError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_complete() {
        let mut numbers: Vec<i32> = ErrorCode::ALL.iter().map(|code| code.number()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ErrorCode::ALL.len());
    }

    #[test]
    fn crosses_as_json() {
        let mut error = RpcError::new(ErrorCode::Reverted, "revert \"no\"");
        error.data = Some(Bytes::from_static(&[1, 0xab]));
        assert_eq!(error.to_json(), br#"{"code":-32015,"message":"revert \"no\"","data":"0x01ab"}"#);
        let mut detailed = RpcError::new(ErrorCode::LogLimitExceeded, "too many");
        detailed.details = Some(Box::new(Details { hint: "fewer".into(), data: Some(b"{\"limit\":1}".to_vec()) }));
        assert_eq!(detailed.to_json(), br#"{"code":-32012,"message":"too many","data":{"limit":1},"hint":"fewer"}"#);
        let internal = RpcError::internal("disk");
        assert_eq!(internal.to_json(), br#"{"code":-32603,"message":"Internal server error","cause":"disk"}"#);
    }
}
