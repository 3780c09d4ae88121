//! The disk of the node: one RocksDB database, and files of trie nodes beside it, behind typed reads and one-batch writes.
//!
//! A block goes to disk in a single write batch (trie nodes, block, receipts, indexes, flat state, head), so
//! whatever stops the process leaves either the old head or the new one. This crate is the only one that names a
//! column or the database engine, and it decides nothing about consensus: which block is best, what a receipt must
//! hold and when a block may be deleted are questions of the chain crate.
//!
//! Start reading at [`Store`] (`store.rs`: what can be read), then `write.rs` (what a block write consists of),
//! `write_faults.rs` and `engine.rs` (what becomes of a disk that refuses, and how the database is opened again),
//! `columns.rs` (what lies where, and how it is tuned), `node_journal.rs` and `node_files.rs` (where trie nodes go) and
//! `log_index.rs` (how logs are found).

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
