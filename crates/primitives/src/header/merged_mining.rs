//! Hash for merged mining, which the Bitcoin coinbase contains, and the fork detection data that replace its last 12
//! bytes (RSKIP-110; docs/spec/blocks.md, 4.6 and 4.7).

use super::{Header, bytes_of};
use crate::error::HeaderError;
use alloy_primitives::{B256, keccak256};

/// Tag in front of the hash in the Bitcoin coinbase.
pub const MERGED_MINING_TAG: &[u8] = b"RSKBLOCK:";
/// Number of hash bytes in front of fork detection data.
const HASH_BYTES: usize = 20;
const UMM_ROOT_BYTES: usize = 20;

/// The last 12 bytes of a merged mining hash.
pub type ForkDetectionData = [u8; 12];

impl Header {
    /// Returns true if the last 12 bytes of the merged mining hash are fork detection data.
    pub fn expects_fork_detection_data(&self) -> bool {
        self.expects_fork_data
    }

    /// Returns the hash for merged mining before fork detection data are inserted.
    pub fn mining_base_hash(&self) -> Result<B256, HeaderError> {
        let hash = keccak256(self.encode_for_mining());
        match bytes_of(&self.umm_root) {
            [] => Ok(hash),
            root if root.len() == UMM_ROOT_BYTES => Ok(keccak256([&hash.as_slice()[..UMM_ROOT_BYTES], root].concat())),
            root => Err(HeaderError::UmmRootLength(root.len())),
        }
    }

    /// Returns the hash that the proof of work commits to. Fork detection data are read from the coinbase.
    pub fn hash_for_merged_mining(&self) -> Result<B256, HeaderError> {
        let base = self.mining_base_hash()?;
        Ok(match self.read_fork_detection_data(&base)? {
            Some(data) => with_fork_data(base, &data),
            None => base,
        })
    }

    /// Returns the hash to commit to for a header without mining elements. The data are inserted only at heights that
    /// require them.
    pub fn hash_for_mining_with(&self, fork_data: &ForkDetectionData) -> Result<B256, HeaderError> {
        let base = self.mining_base_hash()?;
        Ok(if self.expects_fork_data { with_fork_data(base, fork_data) } else { base })
    }

    /// Returns the fork detection data of a mined header; `None` at heights that have none.
    pub fn fork_detection_data(&self) -> Result<Option<ForkDetectionData>, HeaderError> {
        if !self.expects_fork_data {
            return Ok(None);
        }
        self.read_fork_detection_data(&self.mining_base_hash()?)
    }

    /// Searches the coinbase, including the midstate, for the last tag followed by the hash.
    fn read_fork_detection_data(&self, base: &B256) -> Result<Option<ForkDetectionData>, HeaderError> {
        if !self.expects_fork_data {
            return Ok(None);
        }
        if !self.has_mining_elements() {
            return Err(HeaderError::NoMiningElements);
        }
        let coinbase = bytes_of(&self.bitcoin_coinbase);
        let prefix = [MERGED_MINING_TAG, &base.as_slice()[..HASH_BYTES]].concat();
        let position = coinbase.windows(prefix.len()).rposition(|window| window == prefix);
        let data = position.and_then(|at| coinbase.get(at + prefix.len()..)).ok_or(HeaderError::TagNotFound)?;
        data.first_chunk().copied().map(Some).ok_or(HeaderError::ForkDataLength(data.len()))
    }
}

fn with_fork_data(mut hash: B256, data: &ForkDetectionData) -> B256 {
    hash.0[HASH_BYTES..].copy_from_slice(data);
    hash
}
