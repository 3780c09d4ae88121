//! The part of a block's validation that needs no other block, so that it can run ahead and in parallel.

use rayon::prelude::*;
use rhizome_pow::{PowError, proof_of_work};
use rhizome_primitives::{Address, B256, Block, ChainSpec, Rule, SignatureError, Transaction, hex};
use rhizome_trie::{TrieError, hashed_list_root};

use crate::BlockDecodeError;

/// Transactions whose senders one thread recovers together: enough that what is done once for all of them is little.
const SENDERS_AT_ONCE: usize = 32;

/// A block with everything that follows from its bytes alone.
pub struct PreparedBlock {
    pub(crate) block: Block,
    pub(crate) hash: B256,
    pub(crate) raw: Vec<u8>,
    /// Zero for REMASC.
    pub(crate) senders: Vec<Result<Address, SignatureError>>,
    pub(crate) transactions_root: Result<B256, TrieError>,
    pub(crate) proof_of_work: Result<(), PowError>,
}

impl PreparedBlock {
    /// Recovers the senders (in parallel), hashes the transactions and checks the proof of work.
    pub fn new(block: Block, spec: &ChainSpec) -> Self {
        let transactions = &block.transactions;
        let ((senders, transactions_root), proof_of_work) = rayon::join(
            || rayon::join(|| recover_senders(transactions), || transactions_root(&block, spec)),
            || proof_of_work(&block.header, spec),
        );
        let (hash, raw) = (block.hash(), block.encode());
        Self { hash, raw, senders, transactions_root, proof_of_work, block }
    }

    /// Reads a block and prepares it. Bytes whose transactions have another root than the header says are no block.
    pub fn decode(raw: &[u8], spec: &ChainSpec) -> Result<Self, BlockDecodeError> {
        Self::new(Block::decode(raw, spec)?, spec).with_matching_transactions()
    }

    pub(crate) fn with_matching_transactions(self) -> Result<Self, BlockDecodeError> {
        let header = &self.block.header.transactions_root;
        match &self.transactions_root {
            Ok(computed) if header.as_ref() == computed.as_slice() => Ok(self),
            Ok(computed) => {
                let header = hex::encode_prefixed(header);
                Err(BlockDecodeError::TransactionsRoot { header, computed: *computed })
            }
            // Only a transaction that is longer than a trie value may be has no root; import reports it.
            Err(_) => Ok(self),
        }
    }

    /// The block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Its hash.
    pub fn hash(&self) -> B256 {
        self.hash
    }
}

/// Root of the transactions of a block, in the format of its height.
fn transactions_root(block: &Block, spec: &ChainSpec) -> Result<B256, TrieError> {
    let encoded = block.transactions.iter().map(|transaction| transaction.encoded().as_ref());
    hashed_list_root(encoded.zip(Transaction::hashes(&block.transactions)), is_orchid(spec, block.header.number))
}

/// Whether roots at this height are in the old format.
pub(crate) fn is_orchid(spec: &ChainSpec, number: u64) -> bool {
    !spec.rules(number).is_active(Rule::Rskip126)
}

fn recover_senders(transactions: &[Transaction]) -> Vec<Result<Address, SignatureError>> {
    transactions.par_chunks(SENDERS_AT_ONCE).for_each(Transaction::recover_senders);
    let last = transactions.len().saturating_sub(1);
    let recover = |(index, transaction): (usize, &Transaction)| {
        if index == last && transaction.has_remasc_form() {
            return Ok(Address::ZERO);
        }
        transaction.recover_sender()
    };
    transactions.iter().enumerate().map(recover).collect()
}
