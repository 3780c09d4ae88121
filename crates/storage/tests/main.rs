//! The store as a whole: reads return the written data, across reorganisations, restarts and rewinds.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod block_log;
mod directory;
mod directory_blocks;
mod flat_state;
mod headers;
mod history;
mod journal_rows;
mod logs;
mod node_files;
mod older_blocks;
mod option_text;
mod written_blocks;

use std::collections::BTreeMap;
use std::sync::Arc;

use rhizome_primitives::{Address, B256, Bloom, Bytes, Log, Receipt, U256, keccak256};
use rhizome_storage::{
    BlockWrite, ChainIdentity, ChangeSet, HeadChange, NewNodes, StorageError, Store, StoreOptions, receipts_row,
};
use rhizome_trie::{NodeBatch, StateDelta};

fn identity() -> ChainIdentity {
    ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(0x11) }
}

fn small() -> StoreOptions {
    StoreOptions { cache_bytes: 1 << 20, write_buffer_bytes: 4 << 20, ..StoreOptions::default() }
}

fn temporary() -> Store {
    Store::open_temporary(&identity(), &small()).unwrap()
}

/// Number and hash of a block.
type NumberAndHash = (u64, B256);

/// A block with arbitrary content, which the store does not interpret.
struct TestBlock {
    hash: B256,
    number: u64,
    raw: Vec<u8>,
    total_difficulty: U256,
    senders: Vec<Address>,
    transactions: Vec<B256>,
    receipts: Vec<Receipt>,
    nodes: NodeBatch,
    flat: StateDelta,
    state_root: B256,
    /// State root before the block, if the nodes follow from it.
    base_root: Option<B256>,
}

impl TestBlock {
    fn new(number: u64, name: &str) -> Self {
        let raw = format!("block {name} of {number}").into_bytes();
        Self {
            hash: keccak256(&raw),
            state_root: keccak256(keccak256(&raw)),
            base_root: None,
            number,
            total_difficulty: U256::from(number * 10),
            raw,
            senders: Vec::new(),
            transactions: Vec::new(),
            receipts: Vec::new(),
            nodes: NodeBatch::default(),
            flat: StateDelta::default(),
        }
    }

    fn with_log(mut self, transaction: &str, address: Address, topics: &[B256]) -> Self {
        let log = Log { address, topics: topics.to_vec(), data: Bytes::from_static(b"data") };
        let bloom = Bloom::of_logs([&log]);
        self.receipts.push(Receipt { success: true, cumulative_gas: 21000, bloom, logs: vec![log], gas_used: 21000 });
        self.transactions.push(keccak256(transaction));
        self.senders.push(address);
        self
    }

    fn with_flat(mut self, key: &[u8], value: Option<&[u8]>) -> Self {
        let value = value.map(Bytes::copy_from_slice);
        if let Some(long) = value.as_ref().filter(|value| value.len() > 32) {
            self.nodes.push(&keccak256(long), long);
        }
        self.flat.writes.insert(key.to_vec(), value);
        self
    }

    fn number_and_hash(&self) -> NumberAndHash {
        (self.number, self.hash)
    }

    fn write_beside(&self, store: &Store) {
        self.write(store, None);
    }

    fn write_best(&self, store: &Store) -> u64 {
        self.write(store, Some((&[self.number_and_hash()], &[])))
    }

    /// `change`: the blocks that join the best chain, and those leaving it.
    fn write(&self, store: &Store, change: Option<(&[NumberAndHash], &[NumberAndHash])>) -> u64 {
        self.try_write(store, None, change).unwrap()
    }

    /// Writes the block as a child of a block with the given state, which may be off the best chain.
    fn write_on(
        &self,
        store: &Store,
        parent: &BTreeMap<Vec<u8>, Vec<u8>>,
        change: Option<(&[NumberAndHash], &[NumberAndHash])>,
    ) {
        self.try_write(store, Some(parent), change).unwrap();
    }

    fn try_write(
        &self,
        store: &Store,
        parent: Option<&BTreeMap<Vec<u8>, Vec<u8>>>,
        change: Option<(&[NumberAndHash], &[NumberAndHash])>,
    ) -> Result<u64, StorageError> {
        let head_change = change.map(|(enacted, retracted)| HeadChange { enacted, retracted });
        let changes = match parent {
            Some(parent) => {
                ChangeSet::of(&self.flat, |key| Ok(parent.get(key).map(|value| Bytes::copy_from_slice(value))))
            }
            None => ChangeSet::of(&self.flat, |key| store.flat_get(key)),
        };
        let changes = Arc::new(changes?);
        let write = BlockWrite {
            hash: self.hash,
            number: self.number,
            raw: &self.raw,
            total_difficulty: self.total_difficulty,
            state_root: self.state_root,
            senders: &self.senders,
            transaction_hashes: &self.transactions,
            receipts: &self.receipts,
            receipts_row: &receipts_row(&self.transactions, &self.receipts),
            inner_accounts: None,
            nodes: NewNodes { base_root: self.base_root, ..self.nodes.clone().into() },
            changes: Some(&changes),
            head_change,
        };
        store.write_block(write)
    }
}
