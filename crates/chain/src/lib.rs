//! Imports blocks, chooses the best chain, mines, and keeps the transaction pool.
//!
//! One importer writes. Readers take the published [`Head`], an immutable value behind an atomic pointer, and never wait.
//! All changes of a block reach the disk in one batch, so a crash leaves either the chain before the block or after it.
//!
//! Must not: know JSON, sockets or Node; decide the shape of an answer; read a clock other than the configured one.
//!
//! Start reading at `import` (a block from bytes to the best chain), then `import/rules` (consensus rules),
//! `head/branch_change` (reorganisations), `headers` (headers ahead of their blocks), `archive` (reads), `mining` and `txpool`.

mod address_indexer;
mod archive;
mod background_thread;
mod call_indexer;
mod chain;
mod config;
mod error;
mod events;
mod fleet_log;
mod fork;
mod head;
mod headers;
mod import;
mod local_origin;
mod mining;
mod older_blocks;
mod pruning;
mod state_download;
mod state_snapshots;
mod txpool;
mod upkeep;
mod verification;

pub use archive::address_search::{AddressPage, AddressRange, AddressSearchError, UnindexedCalls};
pub use archive::ancestry::ChainAncestry;
pub use archive::log_search::{BlockLogs, FoundLog, LogFilter, LogPosition, LogSearchError};
pub use archive::reads::{BlockAtHeight, BlockReceipts, MinedTransaction};
pub use archive::record::BlockRecord;
pub use chain::Chain;
pub use config::{ChainConfig, Clock, DataDir, OldStateRoots, ProvenBlocks, SnapshotHeights, StateHistory};
pub use error::{BlockDecodeError, ChainError, ImportError};
pub use events::{ChainEvent, TransactionOrigin};
pub use fleet_log::{FleetLog, LoggedBlock};
pub use fork::{Fork, ForkBlock, ForkOrigin};
pub use head::Head;
pub use headers::{ChainedHeader, HeaderChain, HeaderFault, HeaderRun};
pub use import::block_file::{BlockFileError, ExportError, ImportedLine, LineFault, LineResult};
pub use import::block_source::{BlockSource, SourceImportError};
pub use import::block_stream::StreamedBlock;
pub use import::invalid_block::InvalidBlock;
pub use import::numbered_block::NumberedBlock;
pub use import::orphan_blocks::{FutureBlocks, OrphanBlocks};
pub use import::outcome::{BlockOrigin, ImportOutcome};
pub use import::prepared_block::PreparedBlock;
pub use import::priority::lower_priority;
pub use local_origin::LocalOrigin;
pub use mining::block_builder::skipped::WaitReasons;
pub use mining::block_builder::{BuildError, PendingBlock};
pub use mining::block_template_options::BlockTemplateOptions;
pub use mining::block_templates::BlockTemplate;
pub use mining::skipped_transaction::{SkippedTransaction, WaitReason};
pub use mining::submission::{SubmissionError, SubmittedBlock};
pub use mining::{BlockTime, MineError, MinedBlock, SubmittedTransaction};
pub use older_blocks::OldestBlock;
pub use pruning::PruneProgress;
pub use rhizome_pow::{MiningSolution, MiningSolutionError};
pub use rhizome_storage::{CacheStats, DirectoryBlocks, DiskBytes, LogPlace, NodeVersions, directory_chain};
pub use rhizome_trie::snap_chunk::CHUNK_SIZE as STATE_CHUNK_BYTES;
pub use state_download::{StateDownload, StateDownloadError, StatePivot, StateProgress};
pub use state_snapshots::StateSnapshot;
pub use txpool::{
    ACCOUNT_SLOTS, AdmittedTransaction, ByPrice, MAX_SIZE, PoolHead, PoolOptions, PoolRejection, PooledTransaction,
    Quota, SubPool, TransactionGas, TransactionPool,
};
pub use upkeep::{UpkeepFigures, UpkeepTask};
pub use verification::{Difference, Verification, VerificationError, VerificationScope, VerifiedPart};
