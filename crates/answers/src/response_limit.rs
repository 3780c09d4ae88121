//! Limit of the size of an answer that grows with the pool or with the calls of a request.

use crate::error::{ErrorCode, RpcError};
use crate::json::JsonWriter;

/// Fails with -32011 if a text is longer than `max_bytes`. Called while the text grows, so that memory is bounded, too.
pub(crate) fn check(json: &JsonWriter, max_bytes: usize) -> Result<(), RpcError> {
    if json.len() <= max_bytes {
        return Ok(());
    }
    let message = format!("Response size limit of {max_bytes} bytes exceeded");
    Err(RpcError::new(ErrorCode::ResourceExhausted, message))
}
