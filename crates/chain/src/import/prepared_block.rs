//! The part of a block's validation that needs no other block. It runs ahead and in parallel.

use std::cell::OnceCell;

use rayon::prelude::*;
use rhizome_pow::{PowError, proof_of_work};
use rhizome_primitives::{
    Address, B256, Block, ChainSpec, Header, Rule, SignatureError, Transaction, U256, hex, keccak256, rlp,
};
use rhizome_trie::{TrieError, hashed_list_root};

use crate::error::BlockDecodeError;

/// Transactions whose senders one task recovers together.
const SENDERS_PER_TASK: usize = 32;

/// Sender of each transaction, zero for REMASC.
type Senders = Vec<Result<Address, SignatureError>>;

/// A block with what follows from its bytes alone. Senders are recovered when they are first needed: rules that cost less
/// come first.
pub struct PreparedBlock {
    pub(crate) block: Block,
    pub(crate) hash: B256,
    /// Full encoding.
    pub(crate) raw: Vec<u8>,
    /// Total difficulty that the source of the block claims.
    pub(crate) claimed_total_difficulty: Option<U256>,
    transactions_root: OnceCell<Result<B256, TrieError>>,
    proof_of_work: OnceCell<Result<(), PowError>>,
    senders: OnceCell<Senders>,
}

impl PreparedBlock {
    /// Wraps a block and hashes its header. Checks nothing yet.
    pub fn new(block: Block) -> Self {
        let (hash, raw) = (block.hash(), block.encode());
        Self {
            block,
            hash,
            raw,
            claimed_total_difficulty: None,
            transactions_root: OnceCell::new(),
            proof_of_work: OnceCell::new(),
            senders: OnceCell::new(),
        }
    }

    /// Decodes a block. Fails if its transactions have another root than the header names.
    pub fn decode(raw: &[u8], spec: &ChainSpec) -> Result<Self, BlockDecodeError> {
        Self::new(Block::decode(raw, spec)?).with_matching_transactions(spec)
    }

    /// Joins a header with the encoded lists of the transactions and uncles of its block. Fails if the header names others.
    pub fn join(
        header: &Header,
        transactions: &[u8],
        uncles: &[u8],
        spec: &ChainSpec,
    ) -> Result<Self, BlockDecodeError> {
        let computed = keccak256(uncles);
        if header.uncles_hash.as_ref() != computed.as_slice() {
            return Err(BlockDecodeError::UnclesHash { header: hex::encode_prefixed(&header.uncles_hash), computed });
        }
        let block = rlp::list(&[&header.encode(), transactions, uncles].concat());
        Self::decode(&block, spec)
    }

    pub(crate) fn with_matching_transactions(self, spec: &ChainSpec) -> Result<Self, BlockDecodeError> {
        let header = &self.block.header.transactions_root;
        match self.transactions_root(spec) {
            Ok(computed) if header.as_ref() != computed.as_slice() => {
                let header = hex::encode_prefixed(header);
                Err(BlockDecodeError::TransactionsRoot { header, computed: *computed })
            }
            // A transaction longer than a trie value has no root: the import reports it.
            _ => Ok(self),
        }
    }

    /// Returns the full encoding.
    pub fn encoding(&self) -> &[u8] {
        &self.raw
    }

    /// Returns the size of the encoding in bytes.
    pub fn size(&self) -> usize {
        self.raw.len()
    }

    /// Returns the block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Returns the hash of the block.
    pub fn hash(&self) -> B256 {
        self.hash
    }

    /// Returns the root of the transactions, in the trie format of the height.
    pub(crate) fn transactions_root(&self, spec: &ChainSpec) -> &Result<B256, TrieError> {
        self.transactions_root.get_or_init(|| transactions_root(&self.block, spec))
    }

    /// Returns the result of the proof of work.
    pub(crate) fn proof_of_work(&self, spec: &ChainSpec) -> &Result<(), PowError> {
        self.proof_of_work.get_or_init(|| proof_of_work(&self.block.header, spec))
    }

    /// Makes all checks and recovers the senders, for a block that was valid before.
    pub(crate) fn prepare_all(&self, spec: &ChainSpec) {
        self.proof_of_work(spec);
        self.transactions_root(spec);
        self.senders();
    }

    /// Takes the result of the proof of work: its error cannot be cloned.
    pub(crate) fn take_proof_of_work(&mut self, spec: &ChainSpec) -> Result<(), PowError> {
        let checked = self.proof_of_work.take();
        checked.unwrap_or_else(|| proof_of_work(&self.block.header, spec))
    }

    /// Takes the root of the transactions: its error cannot be cloned.
    pub(crate) fn take_transactions_root(&mut self, spec: &ChainSpec) -> Result<B256, TrieError> {
        let computed = self.transactions_root.take();
        computed.unwrap_or_else(|| transactions_root(&self.block, spec))
    }

    /// Returns the senders. Recovers them in parallel if they are not known yet.
    pub(crate) fn senders(&self) -> &[Result<Address, SignatureError>] {
        self.senders.get_or_init(|| recover_senders(&self.block.transactions))
    }

    #[cfg(test)]
    pub(crate) fn has_senders(&self) -> bool {
        self.senders.get().is_some()
    }
}

fn transactions_root(block: &Block, spec: &ChainSpec) -> Result<B256, TrieError> {
    let encoded = block.transactions.iter().map(|transaction| transaction.encoded().as_ref());
    hashed_list_root(encoded.zip(Transaction::hashes(&block.transactions)), is_orchid(spec, block.header.number))
}

/// Whether roots at a height are in the format before RSKIP-107.
pub(crate) fn is_orchid(spec: &ChainSpec, number: u64) -> bool {
    !spec.rules(number).is_active(Rule::Rskip126)
}

fn recover_senders(transactions: &[Transaction]) -> Senders {
    transactions.par_chunks(SENDERS_PER_TASK).for_each(Transaction::recover_senders);
    let last = transactions.len().saturating_sub(1);
    let recover = |(index, transaction): (usize, &Transaction)| {
        if index == last && transaction.has_remasc_form() {
            return Ok(Address::ZERO);
        }
        transaction.recover_sender()
    };
    transactions.iter().enumerate().map(recover).collect()
}
