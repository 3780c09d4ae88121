//! Whole states: snapshots that peers download from this node, the download of a state from peers, and of the blocks below it. The
//! block log of a fleet.

use std::sync::Arc;

use rhizome_primitives::{B256, U256};
use rhizome_storage::NodeVersions;

use super::Chain;
use crate::address_indexer;
use crate::error::ChainError;
use crate::fleet_log::FleetLog;
use crate::import::prepared_block::PreparedBlock;
use crate::import::recovery;
use crate::older_blocks::{self, NextOlderBlocks, OldestBlock};
use crate::state_download::{StateDownload, StatePivot, StateProgress, take_over};
use crate::state_snapshots::{SnapshotMaker, StateSnapshot};

impl Chain {
    /// Returns the blocks for the block log of a fleet, and the place in it.
    pub fn block_log(&self) -> FleetLog {
        FleetLog::new(&self.archive.store)
    }

    /// Continues with the database that a completed restore has left in the data directory. Requests wait while it is opened. No
    /// block of it is announced but the head. After a failure the chain tries again at the next write.
    pub fn open_restored(&self) -> Result<(), ChainError> {
        self.importer.run(recovery::open_restored)??;
        let mut indexer = self.address_indexer.lock();
        // The old thread may be in the middle of a step.
        *indexer = None;
        *indexer = address_indexer::start(&self.importer)?;
        drop(indexer);
        self.headers.rebase(&self.head().record)
    }

    /// Returns the snapshots of the state, highest first. In a database with all versions of nodes there are none:
    /// [`Chain::state_snapshot`] returns one of any block.
    pub fn state_snapshots(&self) -> Vec<Arc<StateSnapshot>> {
        self.snapshot_maker.as_ref().map(SnapshotMaker::snapshots).unwrap_or_default()
    }

    /// Returns the snapshot of the state after block `number` of the best chain; `None` if there is none.
    pub fn state_snapshot(&self, number: u64) -> Result<Option<Arc<StateSnapshot>>, ChainError> {
        let Some(record) = self.main_block(number)? else { return Ok(None) };
        if self.archive.store.node_versions() == NodeVersions::All {
            return Ok(Some(Arc::new(StateSnapshot::with_all_versions(&self.archive, &record))));
        }
        Ok(self.state_snapshots().into_iter().find(|snapshot| snapshot.block() == (number, record.hash)))
    }

    /// Whether the state after a block can be downloaded and taken over.
    pub fn can_take_over(&self, number: u64) -> bool {
        self.head().number() == 0 && StateDownload::is_possible(&self.archive.store, &self.config.spec, number)
    }

    /// Returns block `number` of the best header chain as a pivot; `None` if no header is ahead of its block there.
    pub fn state_pivot(&self, number: u64) -> Option<StatePivot> {
        let header = self.headers.at(number)?;
        let root = B256::try_from(header.header.state_root.as_ref()).ok()?;
        Some(StatePivot { number, hash: header.hash, root })
    }

    /// Continues the download that the last run left; `None` if there is none.
    pub fn resume_state_download(&self) -> Result<Option<StateDownload>, ChainError> {
        if self.head().number() == 0 {
            return StateDownload::resume(&self.archive.store, &self.config.spec);
        }
        StateDownload::discard(&self.archive.store)?;
        Ok(None)
    }

    /// Returns how much is there of an unfinished download; `None` if there is none. Reads its files.
    pub fn stored_state_progress(&self) -> Result<Option<StateProgress>, ChainError> {
        if self.head().number() > 0 { Ok(None) } else { StateDownload::stored_progress(&self.archive.store) }
    }

    /// Begins the download of a state. Deletes an unfinished download.
    pub fn begin_state_download(&self, pivot: StatePivot) -> Result<StateDownload, ChainError> {
        Ok(StateDownload::begin(&self.archive.store, &self.config.spec, pivot)?)
    }

    /// Makes a complete download the state of the chain and its pivot the head, with a total difficulty. Takes as long as reading
    /// the state. The head must be genesis.
    pub fn take_over_state(&self, download: &Arc<StateDownload>, difficulty: U256) -> Result<(), ChainError> {
        let taken = Arc::clone(download);
        self.importer.run(move |writer| take_over(writer, &taken, difficulty))??;
        self.headers.rebase(&self.head().record)
    }

    /// Returns the lowest stored block above genesis; `None` if the head is genesis. All blocks of the best chain above it are
    /// stored; those below it are missing only after a takeover.
    pub fn oldest_block(&self) -> Result<Option<OldestBlock>, ChainError> {
        older_blocks::oldest_block(&self.archive)
    }

    /// Stores blocks below the oldest one, descending, of which the first one must be its parent; stops before a block that is not
    /// the parent of the block before. Lists must have been compared with the header. One caller at a time. Block 1
    /// corrects the total difficulties of all blocks. Returns the number of stored blocks.
    pub fn add_older_blocks(&self, blocks: &[PreparedBlock]) -> Result<usize, ChainError> {
        let NextOlderBlocks { blocks, correction } = older_blocks::next_blocks(&self.archive, blocks)?;
        let count = blocks.len();
        match correction {
            None => older_blocks::store(&self.archive, &blocks)?,
            Some(correction) => {
                self.importer.run(move |writer| older_blocks::store_last(writer, &blocks, correction))??;
                self.headers.correct_difficulties(correction);
            }
        }
        Ok(count)
    }
}
