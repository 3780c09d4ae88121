//! Snapshots of a development chain. They are not stored.

use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_primitives::B256;
use rhizome_storage::ChangeSet;

use crate::archive::Archive;
use crate::error::ChainError;
use crate::head::publisher::HeadPublisher;
use crate::import::head_writer::HeadWriter;
use crate::import::rewind::rewind;
use crate::import::state_change::restore_state;
use crate::mining::block_settings::{BlockSettings, ChosenSettings};

/// The snapshots. The id of each is its position plus one.
pub(crate) struct Snapshots {
    snapshots: Mutex<Vec<Snapshot>>,
    archive: Arc<Archive>,
    publisher: Arc<HeadPublisher>,
    settings: Arc<BlockSettings>,
}

#[derive(Clone)]
pub(crate) struct Snapshot {
    height: u64,
    block: B256,
    /// Changes of the state after the block by hand.
    changes: Arc<ChangeSet>,
    settings: (ChosenSettings, i64),
}

impl Snapshots {
    pub(crate) fn new(archive: Arc<Archive>, publisher: Arc<HeadPublisher>, settings: Arc<BlockSettings>) -> Self {
        Self { snapshots: Mutex::default(), archive, publisher, settings }
    }

    /// Takes a snapshot of the head. Returns its id: 1, 2, and so on.
    pub(crate) fn take(&self) -> Result<u64, ChainError> {
        let mut snapshots = self.snapshots.lock();
        let head = self.publisher.head();
        let replaced = self.archive.store.replaced_state(&head.hash())?;
        snapshots.push(Snapshot {
            height: head.number(),
            block: head.hash(),
            changes: Arc::new(replaced.map(|replaced| replaced.changes).unwrap_or_default()),
            settings: self.settings.save(),
        });
        Ok(snapshots.len() as u64)
    }

    /// Returns id, height and block hash of each snapshot.
    pub(crate) fn list(&self) -> Vec<(u64, u64, B256)> {
        let snapshots = self.snapshots.lock();
        (1..).zip(snapshots.iter()).map(|(id, snapshot)| (id, snapshot.height, snapshot.block)).collect()
    }

    /// Goes back to a snapshot: deletes the blocks above it, undoes changes of its state and of the settings, and empties the
    /// pool. The snapshot stays, later ones are removed. Returns false if there is no such snapshot.
    pub(crate) fn revert(&self, writer: &mut HeadWriter, id: u64) -> Result<bool, ChainError> {
        let Some(position) = id.checked_sub(1).and_then(|position| usize::try_from(position).ok()) else {
            return Ok(false);
        };
        // Not locked while blocks are deleted: `evm_snapshot` runs on a worker, which must not wait. A snapshot that is taken
        // meanwhile is removed below.
        let Some(snapshot) = self.snapshots.lock().get(position).cloned() else { return Ok(false) };
        rewind(writer, snapshot.height)?;
        restore_state(writer, &snapshot.block, &snapshot.changes)?;
        self.settings.restore(snapshot.settings);
        self.publisher.pool().follow_target(self.settings.target_gas_limit());
        self.snapshots.lock().truncate(position.saturating_add(1));
        Ok(true)
    }

    /// Returns the height below the highest `depth` blocks. `None` if there are fewer blocks above the lowest one.
    pub(crate) fn height_below(&self, depth: u64) -> Option<u64> {
        let lowest = self.archive.first_block();
        self.publisher.head().number().checked_sub(depth).filter(|height| *height >= lowest)
    }

    /// Deletes the blocks above a height, the snapshots of them, and the transactions of the pool. Returns the time of the lowest
    /// deleted block, that of the head for none.
    pub(crate) fn roll_back(&self, writer: &mut HeadWriter, height: u64) -> Result<u64, ChainError> {
        let head = self.publisher.head();
        if head.number() == height {
            return Ok(head.record.block.header.timestamp);
        }
        let number = height.saturating_add(1);
        let lowest = self.archive.main_record(number)?.ok_or(ChainError::MissingHeight { number })?;
        rewind(writer, height)?;
        self.snapshots.lock().retain(|snapshot| snapshot.height <= height);
        Ok(lowest.block.header.timestamp)
    }

    /// Returns all snapshots, to restore them.
    pub(crate) fn save(&self) -> Vec<Snapshot> {
        self.snapshots.lock().clone()
    }

    /// Replaces all snapshots.
    pub(crate) fn restore(&self, snapshots: Vec<Snapshot>) {
        *self.snapshots.lock() = snapshots;
    }

    /// Goes back to the genesis, or the block that the fork begins at, and its original state, and removes all snapshots and chosen settings.
    pub(crate) fn reset(&self, writer: &mut HeadWriter) -> Result<(), ChainError> {
        rewind(writer, self.archive.first_block())?;
        let genesis = self.publisher.head().hash();
        restore_state(writer, &genesis, &ChangeSet::default())?;
        self.settings.reset();
        self.publisher.pool().follow_target(self.settings.target_gas_limit());
        self.snapshots.lock().clear();
        Ok(())
    }
}
