//! What a developer does with a chain: going back, moving the clock, choosing when blocks are mined.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use rhizome_primitives::{Address, B256, U256};
use rhizome_storage::Rewind;
use rhizome_trie::diff;

use crate::head::branch_change::BranchChange;
use crate::import::import_state::ImportState;
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
    chosen: Mutex<ChosenSettings>,
    /// Counts the changes of what is chosen.
    choices: AtomicU64,
}

/// What a developer has chosen for the blocks that this node builds; the configuration stands for what is not chosen.
#[derive(Debug, Default, Clone, Copy)]
struct ChosenSettings {
    coinbase: Option<Address>,
    minimum_gas_price: Option<U256>,
    gas_limit: Option<u64>,
    /// Seconds from a block to the next one.
    block_interval: Option<u64>,
}

#[derive(Clone, Copy)]
struct Snapshot {
    height: u64,
    block: B256,
    /// Of the state after the block, which may have been changed by hand.
    state_root: B256,
    time_offset: i64,
    chosen: ChosenSettings,
}

impl Development {
    /// The clock with the offset.
    pub(crate) fn clock(&self, now: u64) -> u64 {
        now.saturating_add_signed(self.time_offset.load(Ordering::Acquire))
    }

    pub(crate) fn next_timestamp(&self) -> Option<u64> {
        Some(self.next_timestamp.load(Ordering::Acquire)).filter(|timestamp| *timestamp > 0)
    }

    /// Another number after each change of what is chosen for later blocks.
    pub(crate) fn choices(&self) -> u64 {
        self.choices.load(Ordering::Acquire)
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
            chosen: *self.development.chosen.lock(),
        });
        snapshots.len() as u64
    }

    /// The snapshots that can be gone back to: id, height and hash of the block.
    pub fn snapshots(&self) -> Vec<(u64, u64, B256)> {
        let snapshots = self.development.snapshots.lock();
        (1..).zip(snapshots.iter()).map(|(id, snapshot)| (id, snapshot.height, snapshot.block)).collect()
    }

    /// Goes back to a snapshot: blocks above it are deleted, changes of its state and what was chosen for later blocks are
    /// undone, and the pool is emptied. The snapshot stays, later ones are forgotten. False when there is no such snapshot.
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
        self.choose(|chosen| *chosen = snapshot.chosen);
        self.development.snapshots.lock().truncate(position.saturating_add(1));
        Ok(true)
    }

    /// Goes back to the genesis and its original state, and forgets all snapshots and what was chosen for later blocks.
    pub fn reset(&self) -> Result<(), ChainError> {
        let HeadGuard { mut writer, .. } = self.lock_head();
        self.go_back(&mut writer, 0)?;
        let genesis = self.head().hash();
        if let Some(root) = self.original_state_root(&genesis)? {
            self.restore_state(&mut writer, &genesis, root)?;
        }
        self.development.time_offset.store(0, Ordering::Release);
        self.development.next_timestamp.store(0, Ordering::Release);
        self.choose(|chosen| *chosen = ChosenSettings::default());
        self.development.snapshots.lock().clear();
        Ok(())
    }

    /// Adds to the offset of the next block's time. Returns the total offset in seconds.
    pub fn increase_time(&self, seconds: u64) -> u64 {
        if let Some(interval) = self.block_interval() {
            let planned = self.head().record.block.header.timestamp.saturating_add(interval);
            let planned = self.development.next_timestamp().unwrap_or(planned);
            self.development.next_timestamp.store(planned.saturating_add(seconds), Ordering::Release);
        }
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

    /// Sets the clock: the next block has this time, and as much more as passes until it is built. `now` is what the
    /// machine's clock says. Returns by how many seconds the clock was moved ahead. The time must be after the head's.
    pub fn set_time(&self, timestamp: u64, now: u64) -> Result<u64, MineError> {
        let moved = timestamp.saturating_sub(self.development.clock(now));
        self.set_next_timestamp(timestamp)?;
        // Otherwise the next block goes by its parent and not by the clock.
        if !self.config().has_fixed_clock && self.block_interval().is_none() {
            self.development.time_offset.store(difference(timestamp, now), Ordering::Release);
            self.development.next_timestamp.store(0, Ordering::Release);
        }
        Ok(moved)
    }

    /// Receiver of the fees of the blocks that this node builds.
    pub fn coinbase(&self) -> Address {
        self.development.chosen.lock().coinbase.unwrap_or(self.config().coinbase)
    }

    /// Sets the receiver of the fees.
    pub fn set_coinbase(&self, coinbase: Address) {
        self.choose(|chosen| chosen.coinbase = Some(coinbase));
    }

    /// Minimum gas price that built blocks move toward, in wei.
    pub fn minimum_gas_price(&self) -> U256 {
        self.development.chosen.lock().minimum_gas_price.unwrap_or(self.config().minimum_gas_price)
    }

    /// Sets the minimum gas price that built blocks move toward.
    pub fn set_minimum_gas_price(&self, price: U256) {
        self.choose(|chosen| chosen.minimum_gas_price = Some(price));
    }

    /// Gas limit that built blocks move toward.
    pub fn target_gas_limit(&self) -> u64 {
        self.development.chosen.lock().gas_limit.unwrap_or(self.config().target_gas_limit)
    }

    /// Sets the gas limit that built blocks move toward. False when no block may have so little.
    pub fn set_target_gas_limit(&self, gas_limit: u64) -> bool {
        let is_allowed = gas_limit >= self.spec().constants.min_gas_limit;
        if is_allowed {
            self.choose(|chosen| chosen.gas_limit = Some(gas_limit));
        }
        is_allowed
    }

    /// Seconds from a block to the next one, when they are fixed.
    pub fn block_interval(&self) -> Option<u64> {
        self.development.chosen.lock().block_interval
    }

    /// Fixes the seconds from a block to the next one, or leaves them to the clock. Returns what was fixed before.
    pub fn set_block_interval(&self, seconds: Option<u64>) -> Option<u64> {
        let before = self.block_interval();
        self.choose(|chosen| chosen.block_interval = seconds);
        before
    }

    /// Changes what is chosen for later blocks; drafts and work that were made before are outdated.
    fn choose(&self, change: impl FnOnce(&mut ChosenSettings)) {
        change(&mut self.development.chosen.lock());
        self.pool().follow_target(self.target_gas_limit());
        self.development.choices.fetch_add(1, Ordering::AcqRel);
        self.drafts.outdate();
    }

    /// A block of this time was built when the clock said `now`: what was set for one block ends. Where the offset lasts,
    /// later blocks go on from a time that was set, chosen for this block, or that followed from a fixed interval.
    pub(crate) fn end_time_setting(&self, timestamp: u64, now: u64, is_chosen: bool) {
        let was_set = self.development.next_timestamp.swap(0, Ordering::AcqRel) > 0 || is_chosen;
        if !self.config().keeps_time_offset {
            self.clear_time_offset();
        } else if was_set || self.block_interval().is_some() {
            self.development.time_offset.store(difference(timestamp, now), Ordering::Release);
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

    fn go_back(&self, writer: &mut ImportState, height: u64) -> Result<(), ChainError> {
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

    fn delete_above(&self, writer: &mut ImportState, height: u64) -> Result<(), ChainError> {
        let head = self.head();
        let target = match head.number() <= height {
            true => Arc::clone(&head.record),
            false => self.archive.main_record(height)?.ok_or(ChainError::MissingHeight { number: height })?,
        };
        let flat = diff(writer.trie(), &writer.trie_at(target.state_root))?;
        let change = BranchChange::plan(&self.archive, &head.record, &target)?;
        self.archive.remember_deleted(&change.retracted);
        let generation = self.archive.store.delete_above(&Rewind { height, head: target.hash, flat: &flat })?;
        *writer = ImportState::open(target.state_root, &self.archive.store, self.config().cache_bytes);
        self.archive.forget_all();
        self.publish(target, generation, &change, &[]);
        Ok(())
    }
}

/// Seconds from `now` to a time.
fn difference(timestamp: u64, now: u64) -> i64 {
    i64::try_from(i128::from(timestamp) - i128::from(now)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainConfig, Clock, DataDir};
    use rhizome_primitives::ChainSpec;

    const NOW: u64 = 1_700_000_000;

    fn open(change: impl FnOnce(&mut ChainConfig)) -> Arc<Chain> {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.clock = Clock::new(|| NOW);
        config.keeps_time_offset = true;
        change(&mut config);
        Chain::open(config).unwrap()
    }

    fn mined_at(chain: &Chain, now: u64) -> u64 {
        chain.mine(now).unwrap().block.header.timestamp
    }

    #[test]
    fn a_fixed_interval_goes_by_the_parent_and_leaves_the_clock_where_it_ended() {
        let chain = open(|_config| {});
        assert_eq!(mined_at(&chain, NOW), NOW);
        assert_eq!(chain.set_block_interval(Some(600)), None);
        assert_eq!([mined_at(&chain, NOW), mined_at(&chain, NOW + 5)], [NOW + 600, NOW + 1200]);
        chain.increase_time(50);
        assert_eq!([mined_at(&chain, NOW), mined_at(&chain, NOW)], [NOW + 1850, NOW + 2450]);
        assert_eq!(chain.set_block_interval(None), Some(600));
        assert_eq!(mined_at(&chain, NOW + 7), NOW + 2457);
    }

    #[test]
    fn the_clock_is_set_ahead_and_never_behind_the_head() {
        let chain = open(|_config| {});
        mined_at(&chain, NOW);
        assert_eq!(chain.set_time(NOW + 1000, NOW).unwrap(), 1000);
        assert_eq!([mined_at(&chain, NOW + 3), mined_at(&chain, NOW + 4)], [NOW + 1003, NOW + 1004]);
        assert!(matches!(chain.set_time(NOW + 1004, NOW), Err(MineError::Time { .. })));
        // Back, but after the head.
        assert_eq!(chain.set_time(NOW + 1005, NOW + 100).unwrap(), 0);
        assert_eq!(mined_at(&chain, NOW + 100), NOW + 1005);
    }

    #[test]
    fn a_fixed_clock_can_be_set_for_the_next_block() {
        let chain = open(|config| config.has_fixed_clock = true);
        chain.set_time(77, NOW).unwrap();
        assert_eq!(mined_at(&chain, NOW), 77);
    }

    #[test]
    fn what_is_chosen_goes_into_drafts_and_blocks_until_a_snapshot_takes_it_back() {
        let chain = open(|_config| {});
        let (ours, other) = (chain.coinbase(), Address::repeat_byte(7));
        let floor = chain.spec().constants.min_gas_limit;
        let id = chain.snapshot();
        let draft = |chain: &Chain| chain.pending_block(NOW).unwrap().block.header.clone();
        let before = draft(&chain);
        chain.set_coinbase(other);
        chain.set_minimum_gas_price(U256::from(9));
        assert_eq!([chain.set_target_gas_limit(floor - 1), chain.set_target_gas_limit(floor)], [false, true]);
        let after = draft(&chain);
        assert_eq!((after.coinbase_address(), after.min_gas_price()), (other, U256::from(1)));
        chain.mine(NOW).unwrap();
        assert_eq!(chain.head().record.block.header.coinbase_address(), other);
        assert!(chain.revert(id).unwrap());
        assert_eq!(draft(&chain).mining_base_hash(), before.mining_base_hash());
        chain.set_coinbase(other);
        chain.reset().unwrap();
        assert_eq!((chain.coinbase(), chain.target_gas_limit() > floor), (ours, true));
    }

    #[test]
    fn work_for_other_miners_is_built_again_for_another_coinbase() {
        let chain = open(|_config| {});
        chain.set_automine(true);
        let before = chain.block_template(NOW).unwrap().unwrap().hash;
        assert_eq!(chain.block_template(NOW).unwrap().unwrap().hash, before);
        chain.set_coinbase(Address::repeat_byte(7));
        assert_ne!(chain.block_template(NOW).unwrap().unwrap().hash, before);
    }
}
