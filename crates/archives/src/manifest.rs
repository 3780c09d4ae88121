//! Signed list of the files of an archive (docs/spec/archive.md, 4).

use rhizome_blobs::{PublisherKey, SigningKey};
use rhizome_primitives::{B256, U256};

use crate::index::{BLOCKS_PER_FILE, BLOCKS_PER_GROUP, FILE_MAGIC, FieldReader, index_bytes};
use crate::part::MAX_GROUP_BYTES;

/// Name of the manifest in its location.
pub const MANIFEST_NAME: &str = "manifest";
/// Longest manifest, in bytes: 80 thousand files.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 8 << 20;
const MAGIC: [u8; 8] = *b"RHIZMAN1";

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Number of its first block.
    pub first: u64,
    /// Number of its last block.
    pub last: u64,
    /// Length, in bytes.
    pub length: u64,
    /// SHA-256 of its index.
    pub index_hash: B256,
    /// Hash of its last block.
    pub last_hash: B256,
    /// Total difficulty of its last block.
    pub last_total_difficulty: U256,
}

impl FileEntry {
    /// Returns the name of the file. It names the blocks, so a file never changes.
    pub fn name(&self) -> String {
        file_name(self.first, self.last)
    }

    /// Whether the file has all its blocks.
    pub fn is_complete(&self) -> bool {
        self.count() == BLOCKS_PER_FILE
    }

    pub(crate) fn count(&self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }
}

pub(crate) fn file_name(first: u64, last: u64) -> String {
    format!("{first:010}-{last:010}.blocks")
}

/// Whether a name is that of a file of blocks.
pub(crate) fn is_file_name(name: &str) -> bool {
    let is_number = |text: &str| text.len() == 10 && text.bytes().all(|character| character.is_ascii_digit());
    let range = name.strip_suffix(".blocks").and_then(|range| range.split_once('-'));
    range.is_some_and(|(first, last)| is_number(first) && is_number(last))
}

/// Network, files and publisher of an archive. The files follow each other from block 0; only the last one may be incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Chain id.
    pub chain_id: u64,
    /// Hash of the genesis block.
    pub genesis: B256,
    /// Files, lowest first.
    pub files: Vec<FileEntry>,
    /// Key that signed.
    pub publisher: PublisherKey,
}

impl Manifest {
    /// Returns the number of the last block. `None` if there is no file.
    pub fn last(&self) -> Option<u64> {
        self.files.last().map(|file| file.last)
    }

    /// Returns the total difficulty of the last block. Zero if there is no file.
    pub(crate) fn total_difficulty(&self) -> U256 {
        self.files.last().map(|file| file.last_total_difficulty).unwrap_or_default()
    }

    /// Encodes and signs the manifest with the key of its publisher.
    pub(crate) fn encode(&self, secret: &SigningKey) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.chain_id.to_be_bytes());
        out.extend(self.genesis);
        out.extend((self.files.len() as u32).to_be_bytes());
        for file in &self.files {
            out.extend((file.count() as u32).to_be_bytes());
            out.extend(file.length.to_be_bytes());
            out.extend(file.index_hash);
            out.extend(file.last_hash);
            out.extend(file.last_total_difficulty.to_be_bytes::<32>());
        }
        out.extend(secret.publisher().to_bytes());
        let signature = secret.sign(&out);
        out.extend(signature);
        out
    }

    /// Decodes a manifest and verifies its signature. Fails with the fault.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let cut = "the manifest is cut off";
        let (signed, signature) = bytes.split_last_chunk::<64>().ok_or(cut)?;
        let mut reader = FieldReader(signed);
        if reader.array().ok_or(cut)? != MAGIC {
            return Err("the manifest has another magic");
        }
        let chain_id = u64::from_be_bytes(reader.array().ok_or(cut)?);
        let genesis = B256::from(reader.array::<32>().ok_or(cut)?);
        let count = u32::from_be_bytes(reader.array().ok_or(cut)?);
        let mut files: Vec<FileEntry> = Vec::new();
        for number in 0..u64::from(count) {
            let first = number * BLOCKS_PER_FILE;
            let blocks = u32::from_be_bytes(reader.array().ok_or(cut)?);
            let is_last = number + 1 == u64::from(count);
            let most = u64::from(blocks);
            if blocks == 0 || most > BLOCKS_PER_FILE || (most < BLOCKS_PER_FILE && !is_last) {
                return Err("the manifest has a file with an impossible number of blocks");
            }
            let file = FileEntry {
                first,
                last: first + most - 1,
                length: u64::from_be_bytes(reader.array().ok_or(cut)?),
                index_hash: B256::from(reader.array::<32>().ok_or(cut)?),
                last_hash: B256::from(reader.array::<32>().ok_or(cut)?),
                last_total_difficulty: U256::from_be_bytes(reader.array::<32>().ok_or(cut)?),
            };
            let least = FILE_MAGIC.len() as u64 + index_bytes(blocks);
            let groups = most.div_ceil(BLOCKS_PER_GROUP);
            if file.length < least || file.length - least > groups * u64::from(MAX_GROUP_BYTES) {
                return Err("the manifest has a file with an impossible length");
            }
            files.push(file);
        }
        let publisher = PublisherKey::from_bytes(reader.bytes(33).ok_or(cut)?);
        let publisher = publisher.ok_or("the key of the publisher is not a point of the curve")?;
        if !reader.0.is_empty() {
            return Err("the manifest has bytes behind its files");
        }
        if !publisher.has_signed(signed, signature) {
            return Err("the signature of the manifest is wrong");
        }
        Ok(Self { chain_id, genesis, files, publisher })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_longer_than_its_blocks_can_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let key = SigningKey::read_or_create(&folder.path().join("key")).unwrap();
        let decode = |length| {
            let (index_hash, last_hash, last_total_difficulty) = (B256::ZERO, B256::ZERO, U256::ZERO);
            let file = FileEntry { first: 0, last: 299, length, index_hash, last_hash, last_total_difficulty };
            let manifest =
                Manifest { chain_id: 33, genesis: B256::ZERO, files: vec![file], publisher: key.publisher() };
            Manifest::decode(&manifest.encode(&key)).map(drop)
        };
        let most = 8 + index_bytes(300) + 2 * u64::from(MAX_GROUP_BYTES);
        decode(most).unwrap();
        for length in [most + 1, u64::MAX, 8 + index_bytes(300) - 1] {
            assert_eq!(decode(length), Err("the manifest has a file with an impossible length"));
        }
    }
}
