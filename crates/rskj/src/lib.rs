//! Data directories of the reference node rskj, read-only: their blocks, in the order of the heaviest chain.
//!
//! Only the table of blocks is read (`DIR/blocks`, RocksDB or LevelDB: block hash to encoded block). The chain follows from the
//! parents and difficulties in the blocks, so rskj's index of heights (a MapDB file) is not needed. Nothing of the directory is
//! trusted: an imported block is executed and passes every rule of a block from a peer.
//!
//! Must not: write; know JSON; decide about consensus.

mod best_chain;
mod block_table;
mod directory;
mod error;
mod leveldb;
mod lock;
mod rocks;
mod row;

pub use directory::RskjDirectory;
pub use error::RskjError;
