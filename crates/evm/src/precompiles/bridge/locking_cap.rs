//! How much may be locked (RSKIP-134, bridge chapter 9.7).

use super::cells;
use super::federation::word;
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_primitives::I256;

/// How many times the present cap the next one may be.
const LARGEST_STEP: i64 = 2;

impl Invocation<'_, '_> {
    /// In satoshis. Asking sets the initial value.
    pub(super) fn locking_cap(&mut self) -> Result<u64> {
        if let Some(cap) = self.memory.locking_cap {
            return Ok(cap);
        }
        let cap = self.read_u64(cells::LOCKING_CAP)?.unwrap_or(self.constants.initial_locking_cap);
        self.memory.locking_cap = Some(cap);
        Ok(cap)
    }

    pub(super) fn increase_locking_cap(&mut self, cap: I256) -> Result<Answer> {
        let cap = i64::try_from(cap).ok().filter(|cap| *cap > 0).ok_or(Failure::Argument)?;
        if !self.constants.locking_cap_change.knows(&self.sender()) {
            return Ok(word(0));
        }
        let present = i64::try_from(self.locking_cap()?).ok().ok_or(Failure::Call)?;
        let is_increase = cap >= present && cap <= present.checked_mul(LARGEST_STEP).ok_or(Failure::Call)?;
        if is_increase {
            self.memory.locking_cap = Some(cap.unsigned_abs());
        }
        Ok(word(u64::from(is_increase)))
    }
}
