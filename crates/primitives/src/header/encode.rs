//! Encoding of the forms of a header (docs/spec/blocks.md, 4.4 and 4.5).
//!
//! The extension of header versions 1 and 2 (RSKIP-351, RSKIP-535) has bloom, base event and edges. It is hashed separately,
//! so that headers can be sent without it. The base event precedes the edges there, but follows them in the full header.

use super::{Header, bytes_of};
use crate::rlp;
use crate::rules::Rule;
use alloy_primitives::{B256, keccak256};

/// Parts of the header to encode.
#[derive(Clone, Copy)]
struct HeaderForm {
    /// Replaces the bloom by the extension data, and omits version, edges and base event.
    is_compressed: bool,
    mining: WrittenMining,
}

#[derive(Clone, Copy, PartialEq)]
enum WrittenMining {
    None,
    BitcoinHeader,
    All,
}

impl Header {
    /// Encodes the full form: blocks on the wire and in storage, uncles.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_form(HeaderForm { is_compressed: false, mining: WrittenMining::All })
    }

    /// Encodes the compressed form: header responses on the wire. Equals the full form for version 0.
    pub fn encode_compressed(&self) -> Vec<u8> {
        self.encode_form(HeaderForm { is_compressed: true, mining: WrittenMining::All })
    }

    /// Encodes the hash form, which the block hash covers. With RSKIP-92 it omits Merkle proof and coinbase, which are
    /// malleable.
    pub fn encode_for_hash(&self) -> Vec<u8> {
        self.encode_form(HeaderForm { is_compressed: true, mining: self.hashed_mining() })
    }

    /// Encodes the full form with only those mining elements that the block hash covers: the raw header of tools. For
    /// version 0 it equals the hash form.
    pub fn encode_without_proof(&self) -> Vec<u8> {
        self.encode_form(HeaderForm { is_compressed: false, mining: self.hashed_mining() })
    }

    fn hashed_mining(&self) -> WrittenMining {
        if self.rules.is_active(Rule::Rskip92) { WrittenMining::BitcoinHeader } else { WrittenMining::All }
    }

    /// Encodes the mining form, which miners commit to.
    pub fn encode_for_mining(&self) -> Vec<u8> {
        self.encode_form(HeaderForm { is_compressed: true, mining: WrittenMining::None })
    }

    fn encode_form(&self, form: HeaderForm) -> Vec<u8> {
        let mut out = Vec::with_capacity(1280);
        rlp::put_bytes(&mut out, &self.parent_hash);
        rlp::put_bytes(&mut out, &self.uncles_hash);
        rlp::put_address(&mut out, self.coinbase.as_ref());
        rlp::put_bytes(&mut out, &self.state_root);
        rlp::put_bytes(&mut out, &self.transactions_root);
        rlp::put_bytes(&mut out, &self.receipts_root);
        match self.extension_data() {
            Some(extension) if form.is_compressed => rlp::put_bytes(&mut out, &extension),
            _ => rlp::put_bytes(&mut out, &self.logs_bloom),
        }
        match &self.genesis_difficulty {
            Some(bytes) => rlp::put_bytes(&mut out, bytes),
            None => rlp::put_difficulty(&mut out, self.difficulty.as_ref()),
        }
        rlp::put_u64(&mut out, self.number);
        rlp::put_bytes(&mut out, &self.gas_limit);
        rlp::put_u64(&mut out, self.gas_used);
        rlp::put_u64(&mut out, self.timestamp);
        rlp::put_bytes(&mut out, &self.extra_data);
        match &self.oversized_paid_fees {
            Some(bytes) => rlp::put_bytes(&mut out, bytes),
            None => rlp::put_value(&mut out, &self.paid_fees),
        }
        rlp::put_minimum_gas_price(&mut out, self.minimum_gas_price.as_ref());
        rlp::put_u64(&mut out, u64::from(self.uncle_count));
        if let Some(umm_root) = &self.umm_root {
            rlp::put_bytes(&mut out, umm_root);
        }
        self.put_versioned(&mut out, form);
        self.put_mining_elements(&mut out, form.mining);
        rlp::list(&out)
    }

    /// Writes version, edges and base event. A version 0 header with edges or base event has them in every form.
    fn put_versioned(&self, out: &mut Vec<u8>, form: HeaderForm) {
        if self.version > 0 {
            if form.is_compressed {
                return;
            }
            rlp::put_byte(out, self.version);
        }
        if let Some(edges) = &self.edges {
            rlp::put_edges(out, edges);
        }
        if let Some(base_event) = self.base_event.as_ref().filter(|_| self.version != 1) {
            rlp::put_bytes(out, base_event);
        }
    }

    fn put_mining_elements(&self, out: &mut Vec<u8>, mining: WrittenMining) {
        if mining == WrittenMining::None || !self.has_mining_elements() {
            return;
        }
        rlp::put_bytes(out, bytes_of(&self.bitcoin_header));
        if mining == WrittenMining::All {
            rlp::put_bytes(out, bytes_of(&self.merkle_proof));
            rlp::put_bytes(out, bytes_of(&self.bitcoin_coinbase));
        }
    }

    /// Returns the Keccak hash of `[keccak(bloom), base event (version 2), edges (if any)]`; `None` for version 0. Computed
    /// from the fields of this header: wrong as long as [`Header::lacks_extension`].
    pub fn extension_hash(&self) -> Option<B256> {
        let bloom_hash = keccak256(&self.logs_bloom);
        self.extension_list(bloom_hash.as_slice()).map(keccak256)
    }

    /// Returns `[version, extension hash]`, which replaces the bloom in the compressed form; `None` for version 0.
    pub fn extension_data(&self) -> Option<Vec<u8>> {
        if let Some(received) = &self.received_extension_data {
            return Some(received.to_vec());
        }
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
