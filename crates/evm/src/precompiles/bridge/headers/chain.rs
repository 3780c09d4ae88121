//! Adding a header: proof of work, difficulty, and which branch is the best (bridge chapter 5.3).

use super::super::constants::BitcoinRules;
use super::super::invocation::Invocation;
use super::store::StoredHeader;
use super::target;
use super::{Failure, Refusal, display_hash};
use crate::error::ExecError;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::U256;

/// Headers between two changes of the difficulty.
const INTERVAL: i32 = 2016;
/// Seconds that they should take.
const TIMESPAN: i64 = 1_209_600;
/// From this time on the testnet has its own rule.
const TESTNET_RULE_TIME: u32 = 1_329_264_000;
/// Seconds without a block after which the testnet allows the easiest target.
const TESTNET_PATIENCE: i64 = 1200;

type Verdict<T = ()> = std::result::Result<T, Refusal>;

fn require(is_good: bool) -> Verdict {
    if is_good { Ok(()) } else { Err(Refusal::Bad) }
}

impl Invocation<'_, '_> {
    /// Adds a header to the store, and to the main chain if it makes the best one.
    pub(super) fn add_header(&mut self, header: BitcoinHeader) -> Verdict {
        let head = self.best_header()?;
        let hash = display_hash(header.hash());
        if self.header(&hash)?.is_some() {
            return Ok(());
        }
        let limit = self.constants.target_limit;
        let target = target::decode(header.bits()).filter(|target| *target <= limit).ok_or(Refusal::Bad)?;
        require(U256::from_be_bytes(hash.0) <= target)?;
        let parent = self.header(&display_hash(header.previous()))?.ok_or(Refusal::Bad)?;
        self.check_difficulty(&parent, &header)?;
        let work = parent.work.checked_add(target::work(target)).ok_or(Refusal::Bad)?;
        let height = parent.height.checked_add(1).ok_or(Refusal::Bad)?;
        let added = StoredHeader { work, height, header };
        if parent == head {
            self.put(&added)?;
            return self.set_head(&added);
        }
        let branch = self.branch(&added, &parent, &head)?;
        if added.work > head.work {
            branch.iter().for_each(|header| self.index(header));
            self.put(&added)?;
            self.set_head(&added)
        } else {
            self.put(&added)
        }
    }

    /// The headers of a new branch above the fork, the highest first.
    fn branch(
        &mut self,
        added: &StoredHeader,
        parent: &StoredHeader,
        head: &StoredHeader,
    ) -> Verdict<Vec<StoredHeader>> {
        let mut branch = vec![added.clone()];
        let (mut new, mut old) = (parent.clone(), head.clone());
        while new != old {
            self.look_at_the_clock(&new)?;
            if old.height > new.height {
                old = self.parent(&old)?.ok_or(Refusal::Bad)?;
            } else {
                let below = self.parent(&new)?.ok_or(Refusal::Bad)?;
                branch.push(std::mem::replace(&mut new, below));
            }
        }
        Ok(branch)
    }

    fn check_difficulty(&mut self, parent: &StoredHeader, header: &BitcoinHeader) -> Verdict {
        let is_change = parent.height.wrapping_add(1) % INTERVAL == 0;
        let bits = parent.header.bits();
        match self.constants.bitcoin {
            BitcoinRules::Regtest => require(header.bits() == bits),
            BitcoinRules::Testnet if !is_change && header.time() > TESTNET_RULE_TIME => {
                self.check_testnet_difficulty(parent, header)
            }
            _ if is_change => self.check_change(parent, header),
            _ => require(header.bits() == bits),
        }
    }

    fn check_testnet_difficulty(&mut self, parent: &StoredHeader, header: &BitcoinHeader) -> Verdict {
        let pause = i64::from(header.time()) - i64::from(parent.header.time());
        if !(0..=TESTNET_PATIENCE).contains(&pause) {
            return Ok(());
        }
        let limit = Some(self.constants.target_limit);
        let mut cursor = parent.clone();
        while cursor.height != 0 && cursor.height % INTERVAL != 0 && target::decode(cursor.header.bits()) == limit {
            self.look_at_the_clock(&cursor)?;
            cursor = self.parent(&cursor)?.ok_or(Refusal::Bad)?;
        }
        require(target::decode(cursor.header.bits()) == target::decode(header.bits()))
    }

    /// Every 2016 headers the target follows the time that they took.
    fn check_change(&mut self, parent: &StoredHeader, header: &BitcoinHeader) -> Verdict {
        let mut first = parent.clone();
        for _ in 1..INTERVAL {
            self.look_at_the_clock(&first)?;
            first = self.parent(&first)?.ok_or(Refusal::Bad)?;
        }
        let span = i64::from(parent.header.time()) - i64::from(first.header.time());
        let span = U256::from(span.clamp(TIMESPAN / 4, TIMESPAN * 4).unsigned_abs());
        let present = target::decode(parent.header.bits()).ok_or(Refusal::Bad)?;
        // The limit has 224 bits, the span 23: the product fits.
        let next = present.saturating_mul(span) / U256::from(TIMESPAN.unsigned_abs());
        let next = next.min(self.constants.target_limit);
        let [size, ..] = header.bits().to_be_bytes();
        let mask = match usize::from(size).checked_sub(3) {
            Some(bytes) => U256::from(0xff_ffff).checked_shl(8 * bytes).unwrap_or_default(),
            None => U256::from(0xff_ffff >> (8 * (3 - u32::from(size)))),
        };
        require(target::encode(next & mask) == header.bits())
    }

    /// Walks are long; a local call has a deadline.
    fn look_at_the_clock(&self, at: &StoredHeader) -> Verdict {
        if at.height % 256 == 0 && self.ctx.deadline.has_passed() {
            return Err(Failure::Fatal(ExecError::DeadlineExceeded).into());
        }
        Ok(())
    }
}
