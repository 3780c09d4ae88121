//! States in files.

use super::{LoadError, MAX_BYTES, SavedStateError, dump, load};
use crate::atomic_file;
use crate::error::{Answer, ErrorCode, RpcError};
use crate::json;
use crate::node::Node;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Loads the state of a file, JSON or gzip. Returns the number of accounts, or null if there is no file.
pub fn load_file(node: &Node, path: &Path) -> Answer {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(json::null()),
        Err(error) => return Err(failure(path, "cannot be read", &error)),
    };
    let in_file = |fault: LoadError| fault.named(&format!("state file {}", path.display()), ErrorCode::ServerError);
    let count = match bytes.len() > MAX_BYTES {
        true => Err(in_file(SavedStateError::TooLong.into())),
        false => load(node, &bytes).map_err(in_file),
    }?;
    Ok(count.to_string().into_bytes())
}

/// Writes the state of the head to a file, as JSON. An earlier file is replaced when the new one is complete.
pub fn save_file(node: &Node, path: &Path) -> Answer {
    let text = dump(node, MAX_BYTES)?;
    atomic_file::write(path, &text, false).map_err(|error| failure(path, "cannot be written", &error))?;
    Ok(json::null())
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failure(path: &Path, what: &str, error: &std::io::Error) -> RpcError {
    RpcError::new(ErrorCode::ServerError, format!("state file {} {what}: {error}", path.display()))
}
