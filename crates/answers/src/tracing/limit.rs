//! How large a trace may get.

use crate::error::{ErrorCode, RpcError};
use rhizome_evm::ExecError;

/// A limit in bytes and the bytes used.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    bytes: usize,
    left: usize,
}

impl Limit {
    /// Nothing is used yet.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, left: bytes }
    }

    /// Returns the limit with additional used bytes.
    #[must_use]
    pub(crate) fn after(&self, bytes: usize) -> Self {
        Self { bytes: self.bytes, left: self.bytes.saturating_sub(bytes) }
    }

    /// Returns the remaining bytes.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Uses bytes. Ends the execution if fewer are left.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ExecError> {
        self.left = self.left.checked_sub(bytes).ok_or(ExecError::StoppedByInspector)?;
        Ok(())
    }

    /// Refuses an answer that has grown beyond the limit.
    pub(crate) fn check(&self, length: usize) -> Result<(), RpcError> {
        if length > self.bytes { Err(self.exceeded()) } else { Ok(()) }
    }

    /// Returns the error of an execution that was ended by the limit.
    pub(crate) fn explain(&self, error: ExecError) -> RpcError {
        match error {
            ExecError::StoppedByInspector => self.exceeded(),
            other => other.into(),
        }
    }

    fn exceeded(&self) -> RpcError {
        let bytes = self.bytes;
        let message = format!("Trace size limit of {bytes} bytes exceeded (setting rpc.maxTraceBytes)");
        RpcError::new(ErrorCode::ResourceExhausted, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_itself_and_its_setting() {
        let mut limit = Limit::new(10);
        assert!(limit.take(7).is_ok() && limit.check(10).is_ok());
        assert_eq!(limit.left(), 3);
        let error = limit.take(4).unwrap_err();
        let explained = limit.explain(error);
        assert_eq!(explained.code, ErrorCode::ResourceExhausted);
        assert_eq!(explained.message, "Trace size limit of 10 bytes exceeded (setting rpc.maxTraceBytes)");
        assert_eq!(limit.check(11), Err(explained));
    }
}
