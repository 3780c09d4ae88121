//! Blocks: a header, transactions and uncle headers (docs/spec/blocks.md, 4.10).

use crate::EMPTY_UNCLES;
use crate::chain_spec::ChainSpec;
use crate::error::DecodeError;
use crate::header::Header;
use crate::rlp::{self, Item};
use crate::transaction::Transaction;
use alloy_primitives::{B256, keccak256};

/// Most transactions, and most uncles, of a block that is decoded. No miner makes as many: the edges of its sublists are
/// numbers of 15 bits.
pub const MAX_LIST_ELEMENTS: usize = 65_536;

/// A block. Decoding does not check whether the roots and hashes in the header match the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Header of the block.
    pub header: Header,
    /// Transactions in block order. The last one is REMASC, except in the genesis block.
    pub transactions: Vec<Transaction>,
    /// Headers of the uncles.
    pub uncles: Vec<Header>,
}

impl Block {
    /// Decodes exactly one block. Header and uncles are read by the rules of their heights. On development networks
    /// the transactions may have impersonated senders instead of signatures.
    pub fn decode(raw: &[u8], spec: &ChainSpec) -> Result<Block, DecodeError> {
        let [header, transactions, uncles] = rlp::decode_list(raw)?.exactly("block")?;
        let header = Header::from_item(&header, spec)?;
        let transactions = read_transactions(&transactions)?;
        if spec.is_development() {
            transactions.iter().for_each(Transaction::accept_impersonation);
        }
        Ok(Block { header, transactions, uncles: read_uncles(&uncles, spec)? })
    }

    /// Encodes the block as on the wire and in storage. The length is the block's `size` in the RPC API.
    pub fn encode(&self) -> Vec<u8> {
        let mut transactions = Vec::new();
        for transaction in &self.transactions {
            transactions.extend_from_slice(transaction.encoded());
        }
        let mut elements = self.header.encode();
        elements.reserve(transactions.len() + 10);
        rlp::put_list_header(&mut elements, transactions.len());
        elements.extend_from_slice(&transactions);
        elements.extend_from_slice(&encode_uncles(&self.uncles));
        rlp::list(&elements)
    }

    /// Returns the hash of the header.
    pub fn hash(&self) -> B256 {
        self.header.hash()
    }

    /// Returns true if the transaction at `index` is the REMASC transaction: the last one, in the right form.
    pub fn is_remasc(&self, index: usize) -> bool {
        index + 1 == self.transactions.len() && self.transactions.last().is_some_and(Transaction::has_remasc_form)
    }
}

fn read_transactions(list: &Item<'_>) -> Result<Vec<Transaction>, DecodeError> {
    let transactions = read_elements(list, "transactions", Transaction::from_item)?;
    match transactions.last() {
        Some(last) if last.has_remasc_form_but_gas() && last.gas_limit_bytes().is_empty() => {
            Err(DecodeError::Missing("gas limit of the last transaction"))
        }
        _ => Ok(transactions),
    }
}

fn read_uncles(list: &Item<'_>, spec: &ChainSpec) -> Result<Vec<Header>, DecodeError> {
    read_elements(list, "uncles", |item| Header::from_item(item, spec))
}

/// Reads a list of at most [`MAX_LIST_ELEMENTS`] elements: they take many times the memory of their shortest encodings.
fn read_elements<T>(
    list: &Item<'_>,
    what: &'static str,
    read: impl Fn(&Item<'_>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let elements = list.elements(what)?;
    if elements.clone().nth(MAX_LIST_ELEMENTS).is_some() {
        return Err(DecodeError::ElementCount { what, got: MAX_LIST_ELEMENTS + 1 });
    }
    elements.map(|item| read(&item?)).collect()
}

fn encode_uncles(uncles: &[Header]) -> Vec<u8> {
    let elements: Vec<u8> = uncles.iter().flat_map(Header::encode).collect();
    rlp::list(&elements)
}

/// Returns the hash of a list of uncles, over their full encodings in order.
pub fn uncles_hash(uncles: &[Header]) -> B256 {
    if uncles.is_empty() { EMPTY_UNCLES } else { keccak256(encode_uncles(uncles)) }
}
