//! Content of the parts of a file (docs/spec/archive.md, 2).

use rhizome_primitives::rlp::{self, Item};
use rhizome_primitives::{Receipt, U256};

use crate::index::{FieldReader, PartKind};

/// Longest group, the sum of its parts, compressed or not, in bytes. The most data that 256 full blocks of the public networks
/// can have is below it: zero bytes for 4 gas each.
pub(crate) const MAX_GROUP_BYTES: u32 = 512 << 20;
/// Longest encoded block, in bytes: peers send a block in a message below it.
const MAX_BLOCK_BYTES: usize = 8 << 20;
/// Longest receipts of a block, in bytes. A byte of a log costs 8 gas: a block of 500 million gas is below it.
const MAX_RECEIPTS_BYTES: usize = 64 << 20;
/// Level of zstd: above it blocks, which are mostly signatures and hashes, hardly get smaller.
const LEVEL: i32 = 6;

/// A block as an archive has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArchivedBlock {
    /// Encoded header.
    pub(crate) header: Vec<u8>,
    /// Encoded list of transactions, encoded list of uncles.
    pub(crate) body: Vec<u8>,
    /// Encoded list of receipts. `None` if they were not read.
    pub(crate) receipts: Option<Vec<u8>>,
    pub(crate) total_difficulty: U256,
}

impl ArchivedBlock {
    /// Splits an encoded block. `None` if it is not a list in its shortest form.
    pub(crate) fn new(raw: &[u8], receipts: &[Receipt], total_difficulty: U256) -> Option<Self> {
        let content = rlp::decode_list(raw).ok()?.content();
        let (header, body) = Item::first(content).ok()?;
        let encoded: Vec<u8> = receipts.iter().flat_map(Receipt::encode).collect();
        let block = Self {
            header: header.encoding().to_vec(),
            body: body.to_vec(),
            receipts: Some(rlp::list(&encoded)),
            total_difficulty,
        };
        (block.raw() == raw).then_some(block)
    }

    /// Returns the full encoding of the block.
    pub(crate) fn raw(&self) -> Vec<u8> {
        rlp::list(&[self.header.as_slice(), &self.body].concat())
    }
}

/// Returns the longest record of a kind, in bytes.
fn longest(kind: PartKind) -> usize {
    match kind {
        PartKind::Headers | PartKind::Bodies => MAX_BLOCK_BYTES,
        PartKind::Receipts => MAX_RECEIPTS_BYTES,
        PartKind::Difficulties => 32,
    }
}

/// Returns the content of a part. `None` if it or a record is too long.
pub(crate) fn content(blocks: &[ArchivedBlock], kind: PartKind) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for block in blocks {
        let record = match kind {
            PartKind::Headers => &block.header,
            PartKind::Bodies => &block.body,
            PartKind::Receipts => block.receipts.as_ref()?,
            PartKind::Difficulties => {
                out.extend(block.total_difficulty.to_be_bytes::<32>());
                continue;
            }
        };
        if record.len() > longest(kind) {
            return None;
        }
        out.extend(u32::try_from(record.len()).ok()?.to_be_bytes());
        out.extend_from_slice(record);
    }
    (out.len() <= MAX_GROUP_BYTES as usize).then_some(out)
}

/// Splits the content of a part into `count` records. Fails with the position of a faulty record and its fault.
pub(crate) fn records(content: &[u8], kind: PartKind, count: u64) -> Result<Vec<&[u8]>, (u64, &'static str)> {
    let mut fields = FieldReader(content);
    let mut records = Vec::new();
    for position in 0..count {
        let length = match kind {
            PartKind::Difficulties => Some(32),
            _ => fields.array().and_then(|length| usize::try_from(u32::from_be_bytes(length)).ok()),
        };
        let length = length.ok_or((position, "missing"))?;
        if length > longest(kind) {
            return Err((position, "longer than those of any block"));
        }
        records.push(fields.bytes(length).ok_or((position, "cut off"))?);
    }
    match fields.0.is_empty() {
        true => Ok(records),
        false => Err((count.saturating_sub(1), "more bytes follow")),
    }
}

pub(crate) fn compress(content: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(content, LEVEL)
}

/// Decompresses a part into exactly `length` bytes. `None` if it has another length or is not zstd.
pub(crate) fn decompress(part: &[u8], length: u32) -> Option<Vec<u8>> {
    let content = zstd::bulk::decompress(part, length as usize).ok()?;
    (content.len() == length as usize).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_longer_than_those_of_any_block_are_neither_read_nor_written() {
        for (kind, most) in [
            (PartKind::Headers, MAX_BLOCK_BYTES),
            (PartKind::Bodies, MAX_BLOCK_BYTES),
            (PartKind::Receipts, MAX_RECEIPTS_BYTES),
        ] {
            let with = |length: usize| ArchivedBlock {
                header: vec![0; length],
                body: vec![0; length],
                receipts: Some(vec![0; length]),
                total_difficulty: U256::ZERO,
            };
            let good = content(&[with(1), with(most)], kind).unwrap();
            assert_eq!(records(&good, kind, 2).unwrap().last().unwrap().len(), most);
            assert_eq!(content(&[with(1), with(most + 1)], kind), None);
            let length = u32::try_from(most + 1).unwrap().to_be_bytes();
            let bad = [&[0, 0, 0, 1, 7], length.as_slice(), &vec![0; most + 1]].concat();
            assert_eq!(records(&bad, kind, 2), Err((1, "longer than those of any block")));
        }
    }

    #[test]
    fn missing_and_superfluous_records_are_named() {
        let content = [0, 0, 0, 1, 7, 0, 0, 0, 2, 8];
        assert_eq!(records(&content, PartKind::Bodies, 2), Err((1, "cut off")));
        assert_eq!(records(&content[..5], PartKind::Bodies, 2), Err((1, "missing")));
        assert_eq!(records(&content, PartKind::Bodies, 1), Err((0, "more bytes follow")));
        assert_eq!(records(&[0; 63], PartKind::Difficulties, 2), Err((1, "cut off")));
    }
}
