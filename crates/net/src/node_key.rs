//! The private key of this node in a file.

use rhizome_wire::session::{IdentityError, NodeKey};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The key of this node cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NodeKeyError {
    /// The file cannot be read or written.
    #[error("node key {path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The content is not a key.
    #[error("node key {path}: {source}")]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Cause. Does not show the content.
        source: IdentityError,
    },
}

/// Returns a fresh key.
pub fn random_node_key() -> std::io::Result<NodeKey> {
    loop {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        // Almost all numbers of 32 bytes are keys.
        if let Ok(key) = NodeKey::from_bytes(bytes) {
            return Ok(key);
        }
    }
}

/// Reads the key from a file of 64 hex digits. Writes a fresh one, readable by its owner only, if the file is absent.
pub fn node_key_in(path: &Path) -> Result<NodeKey, NodeKeyError> {
    let failed = |source| NodeKeyError::File { path: path.to_owned(), source };
    match std::fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map_err(|source| NodeKeyError::Content { path: path.to_owned(), source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let key = random_node_key().map_err(failed)?;
            write(path, &key).map_err(failed)?;
            Ok(key)
        }
        Err(error) => Err(failed(error)),
    }
}

fn write(path: &Path, key: &NodeKey) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{}", rhizome_primitives::hex::encode(key.to_bytes()))?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nodekey");
        let key = node_key_in(&path).unwrap();
        assert_eq!(node_key_in(&path).unwrap().id(), key.id());
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(&path, "00").unwrap();
        assert!(matches!(node_key_in(&path), Err(NodeKeyError::Content { .. })));
        assert!(matches!(node_key_in(directory.path()), Err(NodeKeyError::File { .. })));
    }
}
