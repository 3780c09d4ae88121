//! Which trie keys were read and written (RSKIP-144). What is rolled back stays recorded.

use crate::hash_maps::HashSet;
use rhizome_primitives::U256;

use super::AccountId;
use super::account::AccountIndex;
use crate::tracing::TouchedSlots;

/// A trie key, as the [`super::State`] that recorded it names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessKey {
    pub(super) account: AccountIndex,
    pub(super) part: Part,
}

/// The part of an account that has a trie key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Account,
    Mark,
    Code,
    Cell(U256),
}

/// Some trie keys.
pub type AccessKeys = HashSet<AccessKey>;

/// The trie keys that some transactions touched. Sets of one [`super::State`] can be compared, others not.
#[derive(Debug, Clone, Default)]
pub struct AccessSet {
    reads: AccessKeys,
    writes: AccessKeys,
}

impl AccessSet {
    /// Keys whose value, length, hash or absence was looked at.
    pub fn reads(&self) -> &AccessKeys {
        &self.reads
    }

    /// Keys written, also with the value that they had.
    pub fn writes(&self) -> &AccessKeys {
        &self.writes
    }

    /// True if one side wrote a key that the other one read or wrote.
    pub fn conflicts_with(&self, other: &AccessSet) -> bool {
        !(self.writes.is_disjoint(&other.writes)
            && self.writes.is_disjoint(&other.reads)
            && self.reads.is_disjoint(&other.writes))
    }

    /// Takes over what another set holds.
    pub fn merge(&mut self, other: AccessSet) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }

    pub(super) fn read(&mut self, account: AccountIndex, part: Part) {
        self.reads.insert(AccessKey { account, part });
    }

    pub(super) fn write(&mut self, account: AccountIndex, part: Part) {
        self.writes.insert(AccessKey { account, part });
    }
}

impl super::State {
    /// The accounts and cells in a set that this state has recorded. The sender of REMASC transactions has no address.
    pub(crate) fn touched(&self, access: &AccessSet) -> TouchedSlots {
        let mut touched = TouchedSlots::new();
        for key in access.reads.union(&access.writes) {
            let AccountId::Address(address) = self.id_at(key.account) else { continue };
            let slots = touched.entry(address).or_default();
            if let Part::Cell(slot) = key.part {
                slots.insert(slot);
            }
        }
        touched
    }

    /// From now on records every access; what was recorded before is dropped.
    pub fn start_tracking(&mut self) {
        self.access = Some(Box::default());
    }

    /// Ends recording and returns what was recorded, empty if nothing was being recorded.
    pub fn stop_tracking(&mut self) -> AccessSet {
        self.access.take().map(|access| *access).unwrap_or_default()
    }

    #[inline]
    pub(super) fn note_read(&mut self, account: AccountIndex, part: Part) {
        if let Some(access) = &mut self.access {
            access.read(account, part);
        }
    }

    #[inline]
    pub(super) fn note_write(&mut self, account: AccountIndex, part: Part) {
        if let Some(access) = &mut self.access {
            access.write(account, part);
        }
    }
}
