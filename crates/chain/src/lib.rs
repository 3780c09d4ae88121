//! The moving part of the node: blocks come in, are judged, executed and stored, and the best chain moves with them.
//!
//! One writer imports; readers take the published [`Head`], an immutable value behind an atomic pointer, and never wait.
//! Everything that a block changes reaches the disk in one batch, so there is no moment at which the chain is half-way.
//!
//! Must not: know JSON, sockets or Node; decide how an answer looks; read a clock other than the one it is given.
//!
//! Start reading at `import` (a block from bytes to the best chain), then `verify` (the rules), `reorg` (what changes when
//! the best chain does), `view` (what can be read), `log_search` and `txpool`.

mod ancestry;
mod archive;
mod bans;
mod block_file;
mod build;
mod chain;
mod config;
mod development;
mod error;
mod events;
mod fork_choice;
mod head;
mod head_guard;
mod import;
mod invalid;
mod log_search;
mod mining;
mod pipeline;
mod prepare;
mod record;
mod recovery;
mod reorg;
mod row;
mod state_change;
mod stream;
mod txpool;
mod verification;
mod verify;
mod view;
mod works;
mod writer;

pub use ancestry::ChainAncestry;
pub use bans::{AddressBlock, Bans, NoAddressBlock};
pub use block_file::{BlockFileError, ExportError, ImportedLine, LineFault, LineResult};
pub use build::{BuildError, LeftOut, PendingBlock, WaitReason, WaitReasons};
pub use chain::Chain;
pub use config::{ChainConfig, Clock, DataDir, OldStateRoots};
pub use error::{BlockDecodeError, ChainError, ImportError};
pub use events::ChainEvent;
pub use head::Head;
pub use head_guard::HeadGuard;
pub use import::ImportOutcome;
pub use invalid::InvalidBlock;
pub use log_search::{BlockLogs, FoundLog, LogFilter, LogPlace, LogSearchError};
pub use mining::{BlockTime, MineError, MinedBlock, Submitted};
pub use prepare::PreparedBlock;
pub use record::BlockRecord;
pub use rhizome_pow::{Work, WorkError};
pub use rhizome_storage::CacheReads;
pub use stream::StreamedBlock;
pub use txpool::{
    ACCOUNT_SLOTS, Admitted, ByPrice, Kind, MAX_SIZE, Pool, PoolHead, PoolOptions, PoolRejection, Pooled, Quota,
    TransactionGas,
};
pub use verification::{Difference, Verification, VerificationError, VerifiedPart};
pub use view::{BlockAtHeight, BlockReceipts, MinedTransaction};
pub use works::{CurrentWork, SubmissionError, SubmittedWork, WorkOptions};
