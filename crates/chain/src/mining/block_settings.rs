//! Settings of the blocks that this node builds, and the time of the next block. A developer may change them while the node
//! runs. They are not stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use rhizome_primitives::{Address, U256};

use crate::config::ChainConfig;
use crate::head::Head;

/// The settings. The configuration holds where nothing was chosen.
pub(crate) struct BlockSettings {
    config: Arc<ChainConfig>,
    chosen: Mutex<ChosenSettings>,
    /// Number of changes of the chosen settings.
    changes: AtomicU64,
    /// Seconds ahead of the clock; negative if a block got an earlier time than the clock's.
    time_offset: AtomicI64,
    /// Time of the next block. 0: not set.
    next_timestamp: AtomicU64,
    is_automining: AtomicBool,
}

/// Settings chosen at run time.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ChosenSettings {
    coinbase: Option<Address>,
    minimum_gas_price: Option<U256>,
    gas_limit: Option<u64>,
    /// Seconds from a block to the next one.
    block_interval: Option<u64>,
}

impl BlockSettings {
    pub(crate) fn new(config: Arc<ChainConfig>) -> Self {
        Self {
            config,
            chosen: Mutex::default(),
            changes: AtomicU64::new(0),
            time_offset: AtomicI64::new(0),
            next_timestamp: AtomicU64::new(0),
            is_automining: AtomicBool::new(false),
        }
    }

    /// Returns the receiver of the fees.
    pub(crate) fn coinbase(&self) -> Address {
        self.chosen.lock().coinbase.unwrap_or(self.config.coinbase)
    }

    /// Sets the receiver of the fees.
    pub(crate) fn set_coinbase(&self, coinbase: Address) {
        self.choose(|chosen| chosen.coinbase = Some(coinbase));
    }

    /// Returns the minimum gas price that blocks move toward, in wei.
    pub(crate) fn minimum_gas_price(&self) -> U256 {
        self.chosen.lock().minimum_gas_price.unwrap_or(self.config.minimum_gas_price)
    }

    /// Sets the minimum gas price that blocks move toward, in wei.
    pub(crate) fn set_minimum_gas_price(&self, price: U256) {
        self.choose(|chosen| chosen.minimum_gas_price = Some(price));
    }

    /// Returns the gas limit that blocks move toward.
    pub(crate) fn target_gas_limit(&self) -> u64 {
        self.chosen.lock().gas_limit.unwrap_or(self.config.target_gas_limit)
    }

    /// Sets the gas limit that blocks move toward.
    pub(crate) fn set_target_gas_limit(&self, gas_limit: u64) {
        self.choose(|chosen| chosen.gas_limit = Some(gas_limit));
    }

    /// Returns the fixed number of seconds from a block to the next one.
    pub(crate) fn block_interval(&self) -> Option<u64> {
        self.chosen.lock().block_interval
    }

    /// Fixes the seconds from a block to the next one, or leaves them to the clock. Returns the previous setting.
    pub(crate) fn set_block_interval(&self, seconds: Option<u64>) -> Option<u64> {
        let before = self.block_interval();
        self.choose(|chosen| chosen.block_interval = seconds);
        before
    }

    /// Returns the chosen settings and the time offset, for a snapshot.
    pub(crate) fn save(&self) -> (ChosenSettings, i64) {
        (*self.chosen.lock(), self.time_offset.load(Ordering::Acquire))
    }

    /// Restores the settings of a snapshot. The time offset only if it is kept between blocks.
    pub(crate) fn restore(&self, (chosen, time_offset): (ChosenSettings, i64)) {
        if self.config.keeps_time_offset {
            self.time_offset.store(time_offset, Ordering::Release);
        }
        self.next_timestamp.store(0, Ordering::Release);
        self.choose(|current| *current = chosen);
    }

    /// Returns the time offset and the time of the next block.
    pub(crate) fn save_time(&self) -> (i64, u64) {
        (self.time_offset.load(Ordering::Acquire), self.next_timestamp.load(Ordering::Acquire))
    }

    /// Restores the time offset and the time of the next block.
    pub(crate) fn restore_time(&self, (time_offset, next_timestamp): (i64, u64)) {
        self.time_offset.store(time_offset, Ordering::Release);
        self.next_timestamp.store(next_timestamp, Ordering::Release);
    }

    /// Forgets everything that was chosen.
    pub(crate) fn reset(&self) {
        self.time_offset.store(0, Ordering::Release);
        self.next_timestamp.store(0, Ordering::Release);
        self.choose(|chosen| *chosen = ChosenSettings::default());
    }

    fn choose(&self, change: impl FnOnce(&mut ChosenSettings)) {
        change(&mut self.chosen.lock());
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Changes with each chosen setting. Pending blocks and templates of another version are outdated.
    pub(crate) fn version(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Whether mining is on.
    pub(crate) fn is_automining(&self) -> bool {
        self.is_automining.load(Ordering::Acquire)
    }

    /// Switches mining on or off.
    pub(crate) fn set_automine(&self, is_on: bool) {
        self.is_automining.store(is_on, Ordering::Release);
    }

    /// Returns the time of the next block on `head`: the set time, the fixed interval, or the clock with the offset, but after
    /// the parent. A fixed clock shows the time of the parent.
    pub(crate) fn timestamp_after(&self, head: &Head, now: u64) -> u64 {
        let parent = head.record.block.header.timestamp;
        if let Some(timestamp) = self.next_timestamp() {
            return timestamp.max(parent.saturating_add(1));
        }
        if let Some(interval) = self.block_interval() {
            return parent.saturating_add(interval);
        }
        if self.config.has_fixed_clock {
            return parent.saturating_add(self.time_offset());
        }
        self.clock(now).max(parent.saturating_add(1))
    }

    /// Returns the clock with the offset.
    fn clock(&self, now: u64) -> u64 {
        now.saturating_add_signed(self.time_offset.load(Ordering::Acquire))
    }

    fn next_timestamp(&self) -> Option<u64> {
        Some(self.next_timestamp.load(Ordering::Acquire)).filter(|timestamp| *timestamp > 0)
    }

    /// Sets the time of the next block, in seconds since 1970.
    pub(crate) fn set_next_timestamp(&self, timestamp: u64) {
        self.next_timestamp.store(timestamp, Ordering::Release);
    }

    /// Sets the clock: the next block has this time, plus the seconds that pass until it is built. Returns the seconds by which
    /// the clock moved ahead.
    pub(crate) fn set_clock(&self, timestamp: u64, now: u64) -> u64 {
        let moved = timestamp.saturating_sub(self.clock(now));
        // With a fixed clock or interval the next block follows its parent, not the clock.
        if self.config.has_fixed_clock || self.block_interval().is_some() {
            self.next_timestamp.store(timestamp, Ordering::Release);
        } else {
            self.time_offset.store(seconds_ahead(timestamp, now), Ordering::Release);
            self.next_timestamp.store(0, Ordering::Release);
        }
        moved
    }

    /// Adds to the time of the next block on `head`. Returns the total offset in seconds.
    pub(crate) fn increase_time(&self, head: &Head, seconds: u64) -> u64 {
        if let Some(interval) = self.block_interval() {
            let planned = head.record.block.header.timestamp.saturating_add(interval);
            let planned = self.next_timestamp().unwrap_or(planned);
            self.next_timestamp.store(planned.saturating_add(seconds), Ordering::Release);
        }
        let add = |total: i64| Some(total.saturating_add_unsigned(seconds));
        // Always succeeds: there is always a sum.
        let _ = self.time_offset.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        self.time_offset()
    }

    /// Returns the seconds that the next block's time is ahead of the clock.
    pub(crate) fn time_offset(&self) -> u64 {
        u64::try_from(self.time_offset.load(Ordering::Acquire)).unwrap_or_default()
    }

    /// Ends the offset. Returns the previous one.
    pub(crate) fn clear_time_offset(&self) -> u64 {
        u64::try_from(self.time_offset.swap(0, Ordering::AcqRel)).unwrap_or_default()
    }

    /// Ends the time settings for one block: a block with this time was built when the clock said `now`. If offsets are kept,
    /// later blocks continue from a time that was set, chosen for this block, or that followed from a fixed interval.
    pub(crate) fn end_time_setting(&self, timestamp: u64, now: u64, is_chosen: bool) {
        let was_set = self.next_timestamp.swap(0, Ordering::AcqRel) > 0 || is_chosen;
        if !self.config.keeps_time_offset {
            self.clear_time_offset();
        } else if was_set || self.block_interval().is_some() {
            self.time_offset.store(seconds_ahead(timestamp, now), Ordering::Release);
        }
    }
}

fn seconds_ahead(timestamp: u64, now: u64) -> i64 {
    i64::try_from(i128::from(timestamp) - i128::from(now)).unwrap_or(i64::MAX)
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, ChainConfig, Clock, DataDir, MineError};
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
    fn a_fixed_interval_follows_the_parent_and_then_the_clock_continues() {
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
    fn chosen_settings_apply_until_a_snapshot_is_restored() {
        let chain = open(|_config| {});
        let (ours, other) = (chain.coinbase(), Address::repeat_byte(7));
        let floor = chain.spec().constants.min_gas_limit;
        let id = chain.snapshot().unwrap();
        let pending = |chain: &Chain| chain.pending_block(NOW).unwrap().block.header.clone();
        let before = pending(&chain);
        chain.set_coinbase(other);
        chain.set_minimum_gas_price(U256::from(9));
        assert_eq!([chain.set_target_gas_limit(floor - 1), chain.set_target_gas_limit(floor)], [false, true]);
        let after = pending(&chain);
        assert_eq!((after.coinbase_address(), after.min_gas_price()), (other, U256::from(1)));
        chain.mine(NOW).unwrap();
        assert_eq!(chain.head().record.block.header.coinbase_address(), other);
        assert!(chain.revert(id).unwrap());
        assert_eq!(pending(&chain).mining_base_hash(), before.mining_base_hash());
        chain.set_coinbase(other);
        chain.reset().unwrap();
        assert_eq!((chain.coinbase(), chain.target_gas_limit() > floor), (ours, true));
    }

    #[test]
    fn a_template_is_built_again_for_another_coinbase() {
        let chain = open(|_config| {});
        chain.set_automine(true);
        let before = chain.block_template(NOW).unwrap().unwrap().hash;
        assert_eq!(chain.block_template(NOW).unwrap().unwrap().hash, before);
        chain.set_coinbase(Address::repeat_byte(7));
        assert_ne!(chain.block_template(NOW).unwrap().unwrap().hash, before);
    }
}
