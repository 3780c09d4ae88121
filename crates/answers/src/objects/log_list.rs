//! Lists of logs: results of searches and filters.

use crate::error::{ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::objects::log;
use rhizome_chain::FoundLog;

/// JSON array of logs, limited in bytes.
pub(crate) struct LogList {
    json: JsonWriter,
    max_bytes: usize,
}

impl LogList {
    /// Returns an empty list.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let mut json = JsonWriter::with_capacity(1024);
        json.begin_array();
        Self { json, max_bytes }
    }

    /// Adds a log. Fails with -32012 if the list exceeds its limit: then it must be dropped.
    pub(crate) fn push(&mut self, found: FoundLog<'_>, is_removed: bool) -> Result<(), RpcError> {
        log::write(&mut self.json, found.log, &found.position, Some(is_removed));
        // The closing bracket follows.
        if self.json.len() < self.max_bytes {
            return Ok(());
        }
        Err(Self::full(self.max_bytes))
    }

    /// Returns -32012 for a list that exceeds its limit.
    pub(crate) fn full(max_bytes: usize) -> RpcError {
        RpcError::new(ErrorCode::LogLimitExceeded, format!("Filter returned more than {max_bytes} bytes."))
    }

    /// Returns the JSON text.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.json.end_array();
        self.json.finish()
    }
}
