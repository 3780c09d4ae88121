//! Pieces of files: cut, hashed, compressed.

use rhizome_blobs::{BlobError, BlobStore};
use sha2::{Digest, Sha256};

use crate::error::CheckpointError;
use crate::manifest::CheckpointFile;

/// Length of all pieces of a file but the last one, in bytes.
pub(crate) const PIECE_BYTES: u64 = 8 << 20;
/// Length by which a piece that cannot be compressed may grow, in bytes.
const FRAME_BYTES: u64 = 64 << 10;
/// Level of zstd: files of the database are compressed already.
const LEVEL: i32 = 1;
const SUFFIX: &str = ".piece";

/// A piece of a file of a manifest.
#[derive(Clone, Copy)]
pub(crate) struct FilePiece<'a> {
    pub(crate) file: &'a CheckpointFile,
    /// SHA-256 in hex.
    pub(crate) hash: &'a str,
    /// Place in the file.
    pub(crate) offset: u64,
    /// Length, in bytes.
    pub(crate) length: u64,
}

/// Returns the pieces of a file.
pub(crate) fn pieces(file: &CheckpointFile) -> impl Iterator<Item = FilePiece<'_>> {
    (0_u64..).zip(&file.pieces).map(|(number, hash)| {
        let offset = number * PIECE_BYTES;
        FilePiece { file, hash, offset, length: PIECE_BYTES.min(file.bytes.saturating_sub(offset)) }
    })
}

pub(crate) fn is_piece_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the hash that names a piece.
pub(crate) fn piece_hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns the name of a piece in its location.
pub(crate) fn piece_name(hash: &str) -> String {
    format!("{hash}{SUFFIX}")
}

/// Returns the hash that a name has; `None` if it is not that of a piece.
pub(crate) fn named_hash(name: &str) -> Option<&str> {
    name.strip_suffix(SUFFIX).filter(|hash| is_piece_hash(hash))
}

/// Writes a piece. Returns the number of written bytes.
pub(crate) fn write_piece(location: &BlobStore, hash: &str, bytes: &[u8]) -> Result<u64, CheckpointError> {
    let name = piece_name(hash);
    let fault = |error| CheckpointError::damaged(&name, error);
    let compressed = zstd::bulk::compress(bytes, LEVEL).map_err(fault)?;
    let length = compressed.len() as u64;
    location.write(&name, compressed)?;
    Ok(length)
}

/// Reads a piece and compares it with its hash.
pub(crate) fn read_piece(location: &BlobStore, piece: &FilePiece<'_>) -> Result<Vec<u8>, CheckpointError> {
    let name = piece_name(piece.hash);
    let address = || format!("{}/{name}", location.name());
    let compressed = location.read_all(&name, piece.length + FRAME_BYTES);
    let compressed = compressed.map_err(|error| match error {
        BlobError::TooLong { file, .. } => CheckpointError::damaged(&file, "longer than its piece can be"),
        error => error.into(),
    })?;
    let length = usize::try_from(piece.length).unwrap_or_default();
    match zstd::bulk::decompress(&compressed, length) {
        Ok(bytes) if bytes.len() == length && piece_hash(&bytes) == piece.hash => Ok(bytes),
        Ok(_) => Err(CheckpointError::damaged(&address(), "the piece has another hash than its name")),
        Err(_) => Err(CheckpointError::damaged(&address(), "the piece is not zstd of its length")),
    }
}
