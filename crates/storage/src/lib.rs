//! Storage of the node: one RocksDB database and files of trie nodes, behind typed reads and atomic writes.
//!
//! A block is written in a single write batch (trie nodes, block, receipts, indexes, flat state, head), so a crash
//! leaves either the old head or the new one. Only this crate names a column or the database engine.
//! It decides nothing about consensus: the chain crate decides which block is best, what a receipt must contain and
//! when a block is deleted.
//!
//! Start reading at [`Store`] (`store.rs`: reads; `write.rs`: contents of a block write, rewinds), then `database.rs`
//! (typed access to rows and nodes), `engine.rs` and `write_faults.rs` (opening and reopening, a disk that refuses
//! writes), `columns.rs` (rows of each column and their tuning), `node_journal.rs`, `node_files.rs`, `adjacent_nodes.rs` and `node_cache.rs`
//! (storage of trie nodes), `change_set.rs` and `history.rs` (changes of blocks, earlier states), `kept_states.rs` and
//! `value_references.rs` (removal of old states and of their long values), `log_index.rs` (log search), `address_index.rs` (transactions by address), `call_index.rs`
//! (accounts of inner calls), `headers.rs` (headers ahead of their blocks), `state_files.rs` and `takeover.rs` (a state from peers), `base_state.rs` (the state that a fork
//! begins with), `restored.rs` (a database that arrives beside the one in use), `branch_overlay.rs` and `branch_adoption.rs` (long branches).

mod address_index;
mod address_rows;
mod adjacent_nodes;
mod base_state;
mod block_log;
mod branch_adoption;
mod branch_overlay;
mod cached_nodes;
mod call_index;
mod change_set;
mod columns;
mod current_nodes;
mod database;
mod database_identity;
mod directory_blocks;
mod directory_lock;
mod disk_bytes;
mod disk_probe;
mod dropped_blocks;
mod engine;
mod error;
mod flat;
mod headers;
mod history;
mod history_key;
mod history_tail;
mod index_segment;
mod inner_accounts;
mod journal_rows;
mod kept_states;
mod log_index;
mod log_shard;
mod main_hashes;
mod merged_lists;
mod node_cache;
mod node_files;
mod node_journal;
mod older_blocks;
mod open;
mod options;
mod positioned;
mod record;
mod restored;
mod row_readers;
mod sorted_changes;
mod state_files;
mod store;
mod table_file;
mod takeover;
mod value_references;
mod write;
mod write_ahead_log;
mod write_faults;

#[cfg(test)]
#[path = "../../primitives/tests/corpus.rs"]
mod corpus;
#[cfg(test)]
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;

pub use address_index::{AddressIndex, AddressPlan, SearchOrder};
pub use base_state::BaseState;
pub use block_log::{BlockLogRows, LogPlace};
pub use branch_adoption::BranchAdoption;
pub use branch_overlay::BranchOverlay;
pub use cached_nodes::CachedNodes;
pub use call_index::{CallIndex, CallPlan};
pub use change_set::{ChangeIter, ChangeSet, ReplacedState, StoredValue, ValueChange};
pub use current_nodes::CurrentNodes;
pub use database_identity::LAYOUT;
pub use directory_blocks::{DirectoryBlocks, directory_chain};
pub use disk_bytes::DiskBytes;
pub use error::StorageError;
pub use flat::FlatEntry;
pub use headers::{HeaderRow, HeaderWrite};
pub use inner_accounts::InnerAccounts;
pub use kept_states::PruningPlan;
pub use log_index::LogIndexQuery;
pub use log_shard::LOG_SHARD_BLOCKS;
pub use merged_lists::merge_sorted;
pub use older_blocks::{OlderBlocks, TakenBlock};
pub use options::{ChainIdentity, Durability, NodeVersions, StoreOptions};
pub use record::{
    FlushedTrie, HeightEntry, RawReceipt, RawReceipts, StoredBlock, StoredReceipts, TransactionLocation, receipts_row,
};
pub use restored::RestoreFolder;
pub use state_files::StateRows;
pub use store::{CacheStats, Store, StoreStats};
pub use takeover::StateTakeover;
pub use write::{BlockWrite, HeadChange, NewNodes, Rewind, StateChange};
pub use write_faults::WriteFault;
