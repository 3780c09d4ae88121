//! Tables: sorted rows in blocks with checksums, and an index of the blocks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use super::bytes::{LevelReader, has_checksum};
use super::row_kind::RowKind;
use crate::error::RskjError;
use crate::row::Visited;

/// Two handles of blocks, padded, and the magic number.
const FOOTER_BYTES: u64 = 48;
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
/// Compression and checksum behind each block.
const TRAILER_BYTES: usize = 5;
/// Sequence number and kind behind each key.
const MARK_BYTES: usize = 8;

/// Gets key, sequence number, value (`None`: deleted) and the value's offset in the file; it may end the scan.
pub(super) type OnEntry<'a> = &'a mut dyn FnMut(&[u8], u64, Option<&[u8]>, u64) -> Visited;

/// Gets key and value of an entry of a block, and the value's offset in the block; it may end the visit.
type OnBlockEntry<'a> = &'a mut dyn FnMut(&[u8], &[u8], usize) -> Visited;

/// Place of a block in its file.
#[derive(Debug, Clone, Copy)]
struct Handle {
    offset: u64,
    length: u64,
}

/// Visits all rows of a table.
pub(super) fn scan(path: &Path, on_entry: OnEntry<'_>) -> Visited {
    let mut table = Table::open(path)?;
    let index = table.index()?;
    let mut handles = Vec::new();
    let _all = entries(&index, &mut |_key, value, _at| {
        let handle = Handle::read(&mut LevelReader(value)).ok_or_else(|| table.damaged("its index"))?;
        handles.push(handle);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap_or_else(|| Err(table.damaged("its index")))?;
    for handle in handles {
        let block = table.block(handle)?;
        let flow = entries(&block, &mut |key, value, at| {
            let (user_key, mark) = key.split_at(key.len().saturating_sub(MARK_BYTES));
            let mark = mark.try_into().map(u64::from_le_bytes).map_err(|_short| table.damaged("a key"))?;
            let value = match RowKind::from_byte(mark.to_le_bytes()[0]) {
                Some(RowKind::Value) => Some(value),
                Some(RowKind::Deletion) => None,
                None => return Err(table.damaged("a key")),
            };
            on_entry(user_key, mark >> 8, value, handle.offset + at as u64)
        });
        if flow.unwrap_or_else(|| Err(table.damaged("a block")))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

struct Table<'a> {
    path: &'a Path,
    file: File,
    length: u64,
}

impl<'a> Table<'a> {
    fn open(path: &'a Path) -> Result<Self, RskjError> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(RskjError::read(path))?;
        Ok(Self { path, file, length })
    }

    fn damaged(&self, what: &str) -> RskjError {
        RskjError::damaged(self.path, format!("{what} cannot be decoded"))
    }

    fn index(&mut self) -> Result<Vec<u8>, RskjError> {
        let truncated = || RskjError::damaged(self.path, "truncated, or not a table of LevelDB");
        let offset = self.length.checked_sub(FOOTER_BYTES).ok_or_else(truncated)?;
        let footer = self.read(Handle { offset, length: FOOTER_BYTES })?;
        let (handles, magic) = footer.split_at(footer.len() - MARK_BYTES);
        if LevelReader(magic).u64() != Some(MAGIC) {
            return Err(RskjError::damaged(self.path, "truncated, or not a table of LevelDB"));
        }
        let mut handles = LevelReader(handles);
        let (_meta, index) = (Handle::read(&mut handles), Handle::read(&mut handles));
        self.block(index.ok_or_else(|| self.damaged("its footer"))?)
    }

    /// Reads a block and verifies its checksum.
    fn block(&mut self, handle: Handle) -> Result<Vec<u8>, RskjError> {
        let length = handle.length.checked_add(TRAILER_BYTES as u64).ok_or_else(|| self.damaged("a handle"))?;
        let mut block = self.read(Handle { length, ..handle })?;
        let trailer = block.split_off(block.len() - TRAILER_BYTES);
        let mut fields = LevelReader(&trailer);
        let (compression, checksum) = (fields.byte().unwrap_or_default(), fields.u32().unwrap_or_default());
        if !has_checksum(&block, &[compression], checksum) {
            let fault = format!("the block at {} does not have its checksum", handle.offset);
            return Err(RskjError::damaged(self.path, fault));
        }
        // rskj writes all blocks without compression.
        if compression != 0 { Err(RskjError::damaged(self.path, "a block is compressed")) } else { Ok(block) }
    }

    fn read(&mut self, handle: Handle) -> Result<Vec<u8>, RskjError> {
        let Handle { offset, length } = handle;
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(RskjError::damaged(self.path, format!("truncated: {length} bytes at {offset} are missing")));
        }
        let length = usize::try_from(length).map_err(|_wide| self.damaged("a handle"))?;
        let mut bytes = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(offset)).and_then(|_at| self.file.read_exact(&mut bytes));
        read.map_err(RskjError::read(self.path))?;
        Ok(bytes)
    }
}

impl Handle {
    fn read(reader: &mut LevelReader<'_>) -> Option<Self> {
        Some(Self { offset: reader.varint()?, length: reader.varint()? })
    }
}

/// Visits key, value and the value's offset of each entry of a block. Returns `None` if the block cannot be decoded.
fn entries(block: &[u8], visit: OnBlockEntry<'_>) -> Option<Visited> {
    let (_, count) = block.split_at_checked(block.len().checked_sub(4)?)?;
    // Offsets of entries with whole keys, which a search would use.
    let restarts = usize::try_from(LevelReader(count).u32()?).ok()?.checked_add(1)?.checked_mul(4)?;
    let data = block.get(..block.len().checked_sub(restarts)?)?;
    let mut rest = LevelReader(data);
    let mut key = Vec::new();
    while !rest.is_empty() {
        let (shared, added, length) = (rest.length()?, rest.length()?, rest.length()?);
        if shared > key.len() {
            return None;
        }
        key.truncate(shared);
        key.extend_from_slice(rest.take(added)?);
        let at = data.len() - rest.0.len();
        match visit(&key, rest.take(length)?, at) {
            Ok(ControlFlow::Continue(())) => {}
            ended => return Some(ended),
        }
    }
    Some(Ok(ControlFlow::Continue(())))
}
