//! The unitrie (RSKIP-107): the binary Merkle trie of all accounts, code and storage; the layout of its keys; proofs;
//! and the state, transaction and receipt roots, also in the format before RSKIP-107.
//!
//! Nodes are read through [`NodeSource`] and returned by [`Trie::commit`]. This crate knows no database, no EVM and no
//! clock.
//!
//! Start reading at `trie` (the map), then `node` (sharing, lengths, hashes), `message` (encoding), `update` (batches
//! of changes) and `keys` (layout of the state).

pub mod account;
pub mod activation;
mod cache_lines;
mod changed_state;
mod diff;
mod entries;
pub mod error;
mod eviction;
mod full_load;
pub mod genesis;
mod hash_cell;
mod hashing;
pub mod keys;
pub mod list;
mod message;
mod node;
pub mod node_batch;
mod node_content;
mod node_rows;
mod nodes;
mod orchid;
pub mod orchid_state;
mod path;
mod path_walk;
mod processor_turn;
pub mod proof;
mod read_ahead;
mod record;
mod row_range;
pub mod snap_chunk;
pub mod source;
pub mod state;
mod trie;
mod update;
mod value;

pub use account::AccountState;
pub use activation::{SetUpMode, activation_delta, is_set_up, set_ups};
pub use changed_state::ChangedState;
pub use diff::diff;
pub use entries::{TrieEntries, TrieKeys};
pub use error::{SourceError, TrieError};
pub use genesis::{GenesisError, genesis};
pub use list::{hashed_list_root, list_key, list_root, list_trie};
pub use message::{MAX_VALUE_LENGTH, NodeMessageError};
pub use node_batch::{BatchNode, NodeBatch};
pub use node_rows::NodeRows;
pub use nodes::{NodeView, TrieNodes};
pub use orchid_state::orchid_state_root;
pub use processor_turn::yield_processor;
pub use proof::{ProofError, ProofOutcome, verify};
pub use record::{NodePlace, RecordLayout, SourceNode, WantedNode};
pub use source::{MemoryNodes, NodePosition, NodeSource};
pub use state::{PriorValues, StateDelta, StateError, StateReader};
pub use trie::Trie;
pub use value::{KnownValue, ValuesBefore};
