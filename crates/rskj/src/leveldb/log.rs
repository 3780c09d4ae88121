//! Logs: records in fragments that do not cross the borders of blocks.

use std::path::Path;

use super::bytes::{LevelReader, has_checksum};
use crate::error::RskjError;

const BLOCK_BYTES: usize = 32 * 1024;
/// Checksum, length and kind.
const HEADER_BYTES: usize = 7;

/// Part of a record that a fragment is.
mod kind {
    pub(super) const UNUSED: u8 = 0;
    pub(super) const FULL: u8 = 1;
    pub(super) const FIRST: u8 = 2;
    pub(super) const MIDDLE: u8 = 3;
    pub(super) const LAST: u8 = 4;
}

/// Returns the records of a log. A record that ends with the file is left out, as by LevelDB: its writer was killed.
pub(super) fn records(content: &[u8], path: &Path) -> Result<Vec<Vec<u8>>, RskjError> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let blocks = content.chunks(BLOCK_BYTES);
    let last = blocks.len();
    for (block, index) in blocks.zip(1..) {
        let mut rest = LevelReader(block);
        while rest.0.len() >= HEADER_BYTES {
            let Some(fragment) = Fragment::read(&mut rest) else {
                if index == last {
                    return Ok(records);
                }
                return Err(RskjError::damaged(path, "a record is longer than its block"));
            };
            let Fragment { checksum, kind, data } = fragment;
            // The rest of the block was reserved, and not written.
            if kind == kind::UNUSED && data.is_empty() {
                break;
            }
            if !has_checksum(&[kind], data, checksum) {
                return Err(RskjError::damaged(path, "a record does not have its checksum"));
            }
            if matches!(kind, kind::FULL | kind::FIRST) {
                record.clear();
            }
            record.extend_from_slice(data);
            match kind {
                kind::FULL | kind::LAST => records.push(std::mem::take(&mut record)),
                kind::FIRST | kind::MIDDLE => {}
                _ => return Err(RskjError::damaged(path, format!("fragment of kind {kind}"))),
            }
        }
    }
    Ok(records)
}

struct Fragment<'a> {
    checksum: u32,
    kind: u8,
    data: &'a [u8],
}

impl<'a> Fragment<'a> {
    fn read(rest: &mut LevelReader<'a>) -> Option<Self> {
        let (checksum, length, kind) = (rest.u32()?, rest.u16()?, rest.byte()?);
        Some(Self { checksum, kind, data: rest.take(length.into())? })
    }
}
