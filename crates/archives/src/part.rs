//! Content of the parts of a file (docs/spec/archive.md, 2).

use rhizome_primitives::rlp::{self, Item};
use rhizome_primitives::{Receipt, U256};

use crate::index::{FieldReader, PartKind};

/// Longest group, the sum of its parts, compressed or not, in bytes. The most data that 256 full blocks of the public networks
/// can have is below it: zero bytes for 4 gas each.
pub(crate) const MAX_GROUP_BYTES: u32 = 512 << 20;
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

/// Returns the content of a part. `None` if it is too long.
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
        out.extend(u32::try_from(record.len()).ok()?.to_be_bytes());
        out.extend_from_slice(record);
    }
    (out.len() <= MAX_GROUP_BYTES as usize).then_some(out)
}

/// Splits the content of a part into `count` records. `None` if it has others.
pub(crate) fn records(content: &[u8], kind: PartKind, count: u64) -> Option<Vec<&[u8]>> {
    let mut fields = FieldReader(content);
    let mut records = Vec::new();
    for _ in 0..count {
        let length = match kind {
            PartKind::Difficulties => 32,
            _ => usize::try_from(u32::from_be_bytes(fields.array()?)).ok()?,
        };
        records.push(fields.bytes(length)?);
    }
    fields.0.is_empty().then_some(records)
}

pub(crate) fn compress(content: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(content, LEVEL)
}

/// Decompresses a part into exactly `length` bytes. `None` if it has another length or is not zstd.
pub(crate) fn decompress(part: &[u8], length: u32) -> Option<Vec<u8>> {
    let content = zstd::bulk::decompress(part, length as usize).ok()?;
    (content.len() == length as usize).then_some(content)
}
