//! What a developer does with a chain: going back, moving the clock, choosing when blocks are mined.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use rhizome_primitives::B256;
use rhizome_storage::Rewind;
use rhizome_trie::diff;

use crate::reorg::BranchChange;
use crate::writer::Writer;
use crate::{Chain, ChainError, HeadGuard, MineError};

/// Heights deleted in one batch when the chain goes back: bounds the memory of a long way back, and every step leaves
/// a consistent chain.
const REWIND_STEP: u64 = 1000;

/// Development state; none of it is on disk.
#[derive(Default)]
pub(crate) struct Development {
    /// The id of each is its position plus one.
    snapshots: Mutex<Vec<Snapshot>>,
    /// Seconds; below zero when a block was given an earlier time than the clock's.
    time_offset: AtomicI64,
    /// Time of the next block; 0: not set.
    next_timestamp: AtomicU64,
    is_automining: AtomicBool,
}

#[derive(Clone, Copy)]
struct Snapshot {
    height: u64,
    block: B256,
    /// Of the state after the block, which may have been changed by hand.
    state_root: B256,
    time_offset: i64,
}

impl Development {
    /// The clock with the offset.
    pub(crate) fn clock(&self, now: u64) -> u64 {
        now.saturating_add_signed(self.time_offset.load(Ordering::Acquire))
    }

    pub(crate) fn next_timestamp(&self) -> Option<u64> {
        Some(self.next_timestamp.load(Ordering::Acquire)).filter(|timestamp| *timestamp > 0)
    }
}

impl Chain {
    /// Remembers the present height. Returns the id: 1, 2, and so on.
    pub fn snapshot(&self) -> u64 {
        let mut snapshots = self.development.snapshots.lock();
        let head = self.head();
        snapshots.push(Snapshot {
            height: head.number(),
            block: head.hash(),
            state_root: head.record.state_root,
            time_offset: self.development.time_offset.load(Ordering::Acquire),
        });
        snapshots.len() as u64
    }

    /// Goes back to a snapshot: blocks above it are deleted, changes of its state are undone, and the pool is emptied. The
    /// snapshot stays, later ones are forgotten. False when there is no such snapshot.
    pub fn revert(&self, id: u64) -> Result<bool, ChainError> {
        let HeadGuard { mut writer, .. } = self.lock_head();
        let Some(position) = id.checked_sub(1).and_then(|position| usize::try_from(position).ok()) else {
            return Ok(false);
        };
        // Not held while blocks are deleted: `evm_snapshot` runs on a worker, which must not wait. What it remembers
        // meanwhile is forgotten below.
        let Some(snapshot) = self.development.snapshots.lock().get(position).copied() else { return Ok(false) };
        self.go_back(&mut writer, snapshot.height)?;
        self.restore_state(&mut writer, &snapshot.block, snapshot.state_root)?;
        if self.config().keeps_time_offset {
            self.development.time_offset.store(snapshot.time_offset, Ordering::Release);
        }
        self.development.next_timestamp.store(0, Ordering::Release);
        self.development.snapshots.lock().truncate(position.saturating_add(1));
        Ok(true)
    }

    /// Goes back to the genesis and its original state, and forgets all snapshots and what was said about times.
    pub fn reset(&self) -> Result<(), ChainError> {
        let HeadGuard { mut writer, .. } = self.lock_head();
        self.go_back(&mut writer, 0)?;
        let genesis = self.head().hash();
        if let Some(root) = self.original_state_root(&genesis)? {
            self.restore_state(&mut writer, &genesis, root)?;
        }
        self.development.time_offset.store(0, Ordering::Release);
        self.development.next_timestamp.store(0, Ordering::Release);
        self.development.snapshots.lock().clear();
        Ok(())
    }

    /// Adds to the offset of the next block's time. Returns the total offset in seconds.
    pub fn increase_time(&self, seconds: u64) -> u64 {
        let offset = &self.development.time_offset;
        let add = |total: i64| Some(total.saturating_add_unsigned(seconds));
        // Always succeeds: there is always a sum.
        let _ = offset.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        self.time_offset()
    }

    /// Sets the time of the next block, in seconds since 1970. It must be after the head's.
    pub fn set_next_timestamp(&self, timestamp: u64) -> Result<(), MineError> {
        let head = self.head().record.block.header.timestamp;
        if timestamp <= head {
            return Err(MineError::Time { timestamp, head });
        }
        self.development.next_timestamp.store(timestamp, Ordering::Release);
        Ok(())
    }

    /// A block of this time was built when the clock said `now`: what was set for one block ends. Where the offset lasts,
    /// later blocks go on from a time that was set, or chosen for this block.
    pub(crate) fn end_time_setting(&self, timestamp: u64, now: u64, is_chosen: bool) {
        let was_set = self.development.next_timestamp.swap(0, Ordering::AcqRel) > 0 || is_chosen;
        if !self.config().keeps_time_offset {
            self.clear_time_offset();
        } else if was_set {
            let ahead = i64::try_from(i128::from(timestamp) - i128::from(now)).unwrap_or(i64::MAX);
            self.development.time_offset.store(ahead, Ordering::Release);
        }
    }

    /// Seconds that the next block's time is ahead of the clock.
    pub fn time_offset(&self) -> u64 {
        u64::try_from(self.development.time_offset.load(Ordering::Acquire)).unwrap_or_default()
    }

    /// Ends the offset. Returns what it was.
    pub fn clear_time_offset(&self) -> u64 {
        u64::try_from(self.development.time_offset.swap(0, Ordering::AcqRel)).unwrap_or_default()
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
        self.go_back(&mut self.lock_head().writer, height)
    }

    fn go_back(&self, writer: &mut Writer, height: u64) -> Result<(), ChainError> {
        let mut top = self.archive.store.highest_number()?.unwrap_or_default();
        loop {
            let lowest = top.saturating_sub(REWIND_STEP).max(height);
            self.delete_above(writer, lowest)?;
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
        self.archive.remember_deleted(&change.retracted);
        let generation = self.archive.store.delete_above(&Rewind { height, head: target.hash, flat: &flat })?;
        *writer = Writer::open(target.state_root, &self.archive.store, self.config().cache_bytes);
        self.archive.forget_all();
        self.publish(target, generation, &change, &[]);
        Ok(())
    }
}
