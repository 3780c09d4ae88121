//! Index at the end of a file of blocks (docs/spec/archive.md, 3).

use std::ops::Range;

use rhizome_primitives::B256;
use sha2::{Digest, Sha256};

use crate::part::MAX_GROUP_BYTES;

/// Blocks of a file; the last file of an archive may have fewer.
pub const BLOCKS_PER_FILE: u64 = 8192;
/// Blocks that are compressed together.
pub const BLOCKS_PER_GROUP: u64 = 256;
/// First bytes of a file.
pub(crate) const FILE_MAGIC: [u8; 8] = *b"RHIZBLK1";
const INDEX_MAGIC: [u8; 8] = *b"RHIZIDX1";
/// Magic, chain id, genesis, first block, number of blocks.
const HEAD_BYTES: usize = 8 + 8 + 32 + 8 + 4;
/// Offset, length, length of the content, hash.
const ENTRY_BYTES: usize = 8 + 4 + 4 + 32;

/// Kind of a part, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    Headers,
    Bodies,
    Receipts,
    Difficulties,
}

impl PartKind {
    pub(crate) const ALL: [Self; 4] = [Self::Headers, Self::Bodies, Self::Receipts, Self::Difficulties];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Headers => "headers",
            Self::Bodies => "bodies",
            Self::Receipts => "receipts",
            Self::Difficulties => "total difficulties",
        }
    }
}

/// Position of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartEntry {
    pub(crate) offset: u64,
    /// Compressed length, in bytes.
    pub(crate) length: u32,
    /// Length of the content, in bytes.
    pub(crate) content_length: u32,
    /// SHA-256 of the compressed bytes.
    pub(crate) hash: B256,
}

impl PartEntry {
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.length.into())
    }
}

/// Blocks and parts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIndex {
    pub(crate) chain_id: u64,
    pub(crate) genesis: B256,
    pub(crate) first: u64,
    /// Number of blocks, at least one.
    pub(crate) count: u32,
    /// Four for each group, in the order of [`PartKind::ALL`].
    pub(crate) parts: Vec<PartEntry>,
}

/// Returns the length of the index of a file, in bytes.
pub(crate) fn index_bytes(count: u32) -> u64 {
    let groups = u64::from(count).div_ceil(BLOCKS_PER_GROUP);
    HEAD_BYTES as u64 + groups * (PartKind::ALL.len() * ENTRY_BYTES) as u64
}

/// Whether the parts of a group are longer than the format allows. Compression adds little, but a frame can be filled up.
pub(crate) fn is_too_large(group: &[PartEntry]) -> bool {
    if group.iter().any(|part| part.length > part.content_length.saturating_mul(2).saturating_add(4096)) {
        return true;
    }
    let sum = |length: fn(&PartEntry) -> u32| group.iter().map(|part| u64::from(length(part))).sum::<u64>();
    sum(|part| part.length).max(sum(|part| part.content_length)) > MAX_GROUP_BYTES.into()
}

pub(crate) fn sha256(bytes: &[u8]) -> B256 {
    B256::from(<[u8; 32]>::from(Sha256::digest(bytes)))
}

impl FileIndex {
    pub(crate) fn part(&self, group: u64, kind: PartKind) -> Option<&PartEntry> {
        let group = usize::try_from(group).ok()?;
        self.parts.chunks(PartKind::ALL.len()).nth(group)?.get(kind as usize)
    }

    /// Returns the first block of a group and their number.
    pub(crate) fn group_blocks(&self, group: u64) -> (u64, u64) {
        let before = group * BLOCKS_PER_GROUP;
        (self.first + before, u64::from(self.count).saturating_sub(before).min(BLOCKS_PER_GROUP))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = INDEX_MAGIC.to_vec();
        out.extend(self.chain_id.to_be_bytes());
        out.extend(self.genesis);
        out.extend(self.first.to_be_bytes());
        out.extend(self.count.to_be_bytes());
        for part in &self.parts {
            out.extend(part.offset.to_be_bytes());
            out.extend(part.length.to_be_bytes());
            out.extend(part.content_length.to_be_bytes());
            out.extend(part.hash);
        }
        out
    }

    /// Decodes the index of a file of `length` bytes. Fails with the fault.
    pub(crate) fn decode(bytes: &[u8], length: u64) -> Result<Self, &'static str> {
        let mut reader = FieldReader(bytes);
        let cut = "the index is cut off";
        if reader.array().ok_or(cut)? != INDEX_MAGIC {
            return Err("the index has another magic");
        }
        let chain_id = u64::from_be_bytes(reader.array().ok_or(cut)?);
        let genesis = B256::from(reader.array::<32>().ok_or(cut)?);
        let first = u64::from_be_bytes(reader.array().ok_or(cut)?);
        let count = u32::from_be_bytes(reader.array().ok_or(cut)?);
        if count == 0 || u64::from(count) > BLOCKS_PER_FILE || !first.is_multiple_of(BLOCKS_PER_FILE) {
            return Err("the index has an impossible range of blocks");
        }
        let index_bytes = index_bytes(count);
        if bytes.len() as u64 != index_bytes {
            return Err("the index has another length than its blocks need");
        }
        let mut parts = Vec::new();
        let mut end = FILE_MAGIC.len() as u64;
        while !reader.0.is_empty() {
            let part = PartEntry {
                offset: u64::from_be_bytes(reader.array().ok_or(cut)?),
                length: u32::from_be_bytes(reader.array().ok_or(cut)?),
                content_length: u32::from_be_bytes(reader.array().ok_or(cut)?),
                hash: B256::from(reader.array::<32>().ok_or(cut)?),
            };
            if part.offset != end {
                return Err("the index has parts with gaps");
            }
            end = part.range().end;
            parts.push(part);
        }
        if parts.chunks(PartKind::ALL.len()).any(is_too_large) {
            return Err("the index has too long parts");
        }
        if end.checked_add(index_bytes) != Some(length) {
            return Err("the parts do not fill the file");
        }
        Ok(Self { chain_id, genesis, first, count, parts })
    }
}

/// Reads fields of fixed length from the front.
pub(crate) struct FieldReader<'a>(pub(crate) &'a [u8]);

impl<'a> FieldReader<'a> {
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_far_longer_than_its_content_is_refused() {
        let decode = |length: u32| {
            let part = |number: u32| PartEntry {
                offset: 8 + u64::from(number * length),
                length,
                content_length: 100,
                hash: B256::ZERO,
            };
            let parts = (0..4).map(part).collect();
            let index = FileIndex { chain_id: 33, genesis: B256::ZERO, first: 0, count: 1, parts };
            FileIndex::decode(&index.encode(), 8 + u64::from(4 * length) + index_bytes(1)).map(drop)
        };
        decode(4296).unwrap();
        assert_eq!(decode(4297), Err("the index has too long parts"));
    }
}
