//! Storage of the node: one RocksDB database and files of trie nodes, behind typed reads and atomic writes.
//!
//! A block is written in a single write batch (trie nodes, block, receipts, indexes, flat state, head), so a crash
//! leaves either the old head or the new one. Only this crate names a column or the database engine.
//! It decides nothing about consensus: the chain crate decides which block is best, what a receipt must contain and
//! when a block is deleted.
//!
//! Start reading at [`Store`] (`store.rs`: reads), then `write.rs` (contents of a block write), `write_faults.rs` and
//! `engine.rs` (a disk that refuses writes, and reopening the database), `columns.rs` (rows of each column and their
//! tuning), `node_journal.rs` and `node_files.rs` (storage of trie nodes) and `log_index.rs` (log search).

mod cached_nodes;
mod columns;
mod engine;
mod error;
mod flat;
mod index_segment;
mod log_index;
mod main_hashes;
mod node_files;
mod node_journal;
mod open;
mod positioned;
mod record;
mod rewind;
mod store;
mod write;
mod write_faults;

#[cfg(test)]
#[path = "../../primitives/tests/corpus.rs"]
mod corpus;
#[cfg(test)]
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;

pub use cached_nodes::CachedNodes;
pub use error::StorageError;
pub use flat::FlatEntry;
pub use log_index::{LOG_SHARD_BLOCKS, LogIndexQuery};
pub use open::{ChainIdentity, Durability, StoreOptions};
pub use record::{HeightEntry, RawReceipt, RawReceipts, StoredBlock, StoredReceipts, TransactionLocation};
pub use rewind::Rewind;
pub use store::{CacheStats, Store, StoreStats};
pub use write::{BlockWrite, HeadChange, StateChange};
pub use write_faults::WriteFault;
