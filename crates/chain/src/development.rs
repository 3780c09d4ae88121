//! What a developer does with a chain: going back, moving the clock, choosing when blocks are mined.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use rhizome_storage::Rewind;
use rhizome_trie::diff;

use crate::reorg::BranchChange;
use crate::writer::Writer;
use crate::{Chain, ChainError};

/// Heights deleted in one batch when the chain goes back: bounds the memory of a long way back, and every step leaves
/// a consistent chain.
const REWIND_STEP: u64 = 1000;

/// Development state; none of it is on disk.
#[derive(Default)]
pub(crate) struct Development {
    /// Height of each snapshot; the id is the position plus one.
    snapshots: Mutex<Vec<u64>>,
    time_offset: AtomicU64,
    is_automining: AtomicBool,
}

impl Chain {
    /// Remembers the present height. Returns the id: 1, 2, and so on.
    pub fn snapshot(&self) -> u64 {
        let mut snapshots = self.development.snapshots.lock();
        snapshots.push(self.head().number());
        snapshots.len() as u64
    }

    /// Goes back to a snapshot: blocks above it are deleted and the pool is emptied. The snapshot stays, later ones are
    /// forgotten. False when there is no such snapshot.
    pub fn revert(&self, id: u64) -> Result<bool, ChainError> {
        let mut snapshots = self.development.snapshots.lock();
        let position = id.checked_sub(1).and_then(|position| usize::try_from(position).ok());
        let Some(height) = position.and_then(|position| snapshots.get(position).copied()) else { return Ok(false) };
        self.rewind(height)?;
        snapshots.truncate(position.map_or(0, |position| position.saturating_add(1)));
        Ok(true)
    }

    /// Goes back to the genesis and forgets all snapshots.
    pub fn reset(&self) -> Result<(), ChainError> {
        let mut snapshots = self.development.snapshots.lock();
        self.rewind(0)?;
        snapshots.clear();
        Ok(())
    }

    /// Adds to the offset of the next block's time. Returns the total offset in seconds.
    pub fn increase_time(&self, seconds: u64) -> u64 {
        let offset = &self.development.time_offset;
        let add = |total: u64| Some(total.saturating_add(seconds));
        let before = offset.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).unwrap_or_default();
        before.saturating_add(seconds)
    }

    /// Seconds that the next block's time is ahead of the clock.
    pub fn time_offset(&self) -> u64 {
        self.development.time_offset.load(Ordering::Acquire)
    }

    /// Ends the offset, as the building of a block does. Returns what it was.
    pub fn clear_time_offset(&self) -> u64 {
        self.development.time_offset.swap(0, Ordering::AcqRel)
    }

    /// Whether mining is on: submitted transactions may be mined at once, and the work for other miners follows the head.
    /// For the former it is only kept here: the submission decides.
    pub fn is_automining(&self) -> bool {
        self.development.is_automining.load(Ordering::Acquire)
    }

    /// Switches mining on or off.
    pub fn set_automine(&self, is_on: bool) {
        self.development.is_automining.store(is_on, Ordering::Release);
    }

    /// Makes the block of the best chain at `height` the head and deletes all blocks above it, on the best chain and off
    /// it. The pool is emptied. A height above the head only deletes what lies above that height.
    pub fn rewind(&self, height: u64) -> Result<(), ChainError> {
        let mut writer = self.writer.lock();
        let mut top = self.archive.store.highest_number()?.unwrap_or_default();
        loop {
            let lowest = top.saturating_sub(REWIND_STEP).max(height);
            self.delete_above(&mut writer, lowest)?;
            if lowest == height || lowest == 0 {
                break;
            }
            top = lowest;
        }
        self.pool().clear();
        Ok(())
    }

    fn delete_above(&self, writer: &mut Writer, height: u64) -> Result<(), ChainError> {
        let head = self.head();
        let target = match head.number() <= height {
            true => Arc::clone(&head.record),
            false => self.archive.main_record(height)?.ok_or(ChainError::MissingHeight { number: height })?,
        };
        let flat = diff(writer.trie(), &writer.trie_at(target.state_root))?;
        let change = BranchChange::plan(&self.archive, &head.record, &target)?;
        let generation = self.archive.store.delete_above(&Rewind { height, head: target.hash, flat: &flat })?;
        *writer = Writer::open(target.state_root, &self.archive.store, self.config().cache_bytes);
        self.archive.forget_all();
        self.publish(target, generation, &change, &[]);
        Ok(())
    }
}
