//! Extension of header versions 1 and 2 (RSKIP-351, RSKIP-535): bloom, base event and edges, hashed separately so that
//! headers can be sent without them. The base event precedes the edges here, but follows them in the full header.

use super::{Header, bytes_of};
use crate::rlp;
use alloy_primitives::{B256, keccak256};

impl Header {
    /// Returns the Keccak hash of `[keccak(bloom), base event (version 2), edges (if any)]`; `None` for version 0.
    pub fn extension_hash(&self) -> Option<B256> {
        let bloom_hash = keccak256(&self.logs_bloom);
        self.extension_list(bloom_hash.as_slice()).map(keccak256)
    }

    /// Returns `[version, extension hash]`, which replaces the bloom in the compressed form; `None` for version 0.
    pub fn extension_data(&self) -> Option<Vec<u8>> {
        let hash = self.extension_hash()?;
        let mut out = Vec::with_capacity(34);
        rlp::put_byte(&mut out, self.version);
        rlp::put_bytes(&mut out, hash.as_slice());
        Some(rlp::list(&out))
    }

    /// Returns `[version, content]`, as sent with block bodies; `None` for version 0.
    pub fn extension_wire(&self) -> Option<Vec<u8>> {
        let content = self.extension_list(&self.logs_bloom)?;
        let mut out = Vec::with_capacity(content.len() + 4);
        rlp::put_byte(&mut out, self.version);
        rlp::put_bytes(&mut out, &content);
        Some(rlp::list(&out))
    }

    fn extension_list(&self, bloom: &[u8]) -> Option<Vec<u8>> {
        if self.version == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(bloom.len() + 16);
        rlp::put_bytes(&mut out, bloom);
        if self.version == 2 {
            rlp::put_bytes(&mut out, bytes_of(&self.base_event));
        }
        if let Some(edges) = &self.edges {
            rlp::put_edges(&mut out, edges);
        }
        Some(rlp::list(&out))
    }
}
