//! The hash that Bitcoin miners put into their coinbase, and the fork detection data that replaces its last 12 bytes
//! (RSKIP-110).

use super::{Header, bytes_of};
use crate::error::HeaderError;
use alloy_primitives::{B256, keccak256};

/// What stands before the hash in the Bitcoin coinbase.
pub const MERGED_MINING_TAG: &[u8] = b"RSKBLOCK:";
/// Bytes of the hash that survive when fork detection data is due.
const HASH_BYTES: usize = 20;
const UMM_ROOT_BYTES: usize = 20;

/// The last 12 bytes of a merged mining hash.
pub type ForkDetectionData = [u8; 12];

impl Header {
    /// True when the last 12 bytes of the merged mining hash are fork detection data.
    pub fn expects_fork_detection_data(&self) -> bool {
        self.expects_fork_data
    }

    /// The hash to commit to before fork detection data goes in.
    pub fn mining_base_hash(&self) -> Result<B256, HeaderError> {
        let hash = keccak256(self.encode_for_mining());
        match bytes_of(&self.umm_root) {
            [] => Ok(hash),
            root if root.len() == UMM_ROOT_BYTES => Ok(keccak256([&hash.as_slice()[..UMM_ROOT_BYTES], root].concat())),
            root => Err(HeaderError::UmmRootLength(root.len())),
        }
    }

    /// The hash that the proof of work commits to. Fork detection data, if due, is read back from the coinbase.
    pub fn hash_for_merged_mining(&self) -> Result<B256, HeaderError> {
        let base = self.mining_base_hash()?;
        Ok(match self.read_fork_detection_data(&base)? {
            Some(data) => with_fork_data(base, &data),
            None => base,
        })
    }

    /// The hash to commit to while the header has no mining elements yet. The data is put in only where it is due.
    pub fn hash_for_mining_with(&self, fork_data: &ForkDetectionData) -> Result<B256, HeaderError> {
        let base = self.mining_base_hash()?;
        Ok(if self.expects_fork_data { with_fork_data(base, fork_data) } else { base })
    }

    /// The fork detection data of a mined header; `None` where none is due.
    pub fn fork_detection_data(&self) -> Result<Option<ForkDetectionData>, HeaderError> {
        if !self.expects_fork_data {
            return Ok(None);
        }
        self.read_fork_detection_data(&self.mining_base_hash()?)
    }

    /// Searches the coinbase, midstate included, for the last tag that is followed by the hash.
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
