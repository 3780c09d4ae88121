//! Solutions of external miners: decoding, import and the result.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{MiningSolution, MiningSolutionError, SubmissionError};
use rhizome_primitives::hex;

/// -32601 while there is no work because mining was never on.
pub(crate) fn not_available(method: &str) -> RpcError {
    let message = format!("the method {method} does not exist/is not available");
    RpcError::new(ErrorCode::MethodNotFound, message)
}

/// Bytes as miners send them: hex, with or without `0x`.
pub(crate) fn message_bytes(what: &str, text: &str) -> Result<Vec<u8>, RpcError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode(digits).map_err(|_not_hex| RpcError::invalid_params(format!("{what} is not hex")))
}

/// Hashes with blanks between them.
pub(crate) fn hashes(what: &str, text: &str) -> Result<Vec<[u8; 32]>, RpcError> {
    let digest = |part: &str| {
        let bytes = message_bytes(what, part)?;
        <[u8; 32]>::try_from(bytes)
            .map_err(|_length| RpcError::invalid_params(format!("{what} must have 32 bytes each")))
    };
    text.split_ascii_whitespace().map(digest).collect()
}

/// Returns -32602 for a malformed Bitcoin message.
pub(crate) fn malformed(error: MiningSolutionError) -> RpcError {
    RpcError::invalid_params(error.to_string())
}

/// Hands a solution that a method has received to the chain.
pub(crate) fn submit(node: &Node, method: &str, solution: &MiningSolution) -> Answer {
    node.require_miner(method)?;
    let submitted = node.chain().submit_solution(solution, node.now())?;
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("blockImportedResult").data(submitted.outcome.name().as_bytes());
    json.key("blockHash").hash(&submitted.hash);
    json.key("blockIncludedHeight").quantity(submitted.number);
    json.end_object();
    Ok(json.finish())
}

impl From<SubmissionError> for RpcError {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::Import(failure) => failure.into(),
            SubmissionError::Solution(fault) => malformed(fault),
            refused => Self::new(ErrorCode::InvalidMinerBlock, refused.to_string()),
        }
    }
}
