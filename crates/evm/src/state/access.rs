//! The trie keys that were read and written (RSKIP-144). An access stays recorded if its change is reverted.

use std::collections::{BTreeMap, BTreeSet};

use crate::hash_maps::HashSet;
use rhizome_primitives::{Address, U256};

use super::account::AccountIndex;
use super::account_id::AccountId;

/// A trie key, valid for the [`super::State`] that recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessKey {
    pub(super) account: AccountIndex,
    pub(super) part: AccountPart,
}

/// A part of an account with a separate trie key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum AccountPart {
    Account,
    Mark,
    Code,
    Slot(U256),
}

/// Addresses with the storage slots that were read or written.
pub(crate) type TouchedSlots = BTreeMap<Address, BTreeSet<U256>>;

/// A set of trie keys.
pub type AccessKeys = HashSet<AccessKey>;

/// The trie keys that some transactions read and wrote. Only sets of the same [`super::State`] can be compared.
#[derive(Debug, Clone, Default)]
pub struct AccessSet {
    reads: AccessKeys,
    writes: AccessKeys,
}

impl AccessSet {
    /// Returns the keys whose value, length, hash or absence was read.
    pub fn reads(&self) -> &AccessKeys {
        &self.reads
    }

    /// Returns the keys that were written, also with an equal value.
    pub fn writes(&self) -> &AccessKeys {
        &self.writes
    }

    /// Whether one set has written a key that the other set has read or written.
    pub fn conflicts_with(&self, other: &AccessSet) -> bool {
        !(self.writes.is_disjoint(&other.writes)
            && self.writes.is_disjoint(&other.reads)
            && self.reads.is_disjoint(&other.writes))
    }

    /// Adds the keys of another set.
    pub fn merge(&mut self, other: AccessSet) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }

    pub(super) fn read(&mut self, account: AccountIndex, part: AccountPart) {
        self.reads.insert(AccessKey { account, part });
    }

    pub(super) fn write(&mut self, account: AccountIndex, part: AccountPart) {
        self.writes.insert(AccessKey { account, part });
    }

    /// Returns the accounts with their slots. `id_of` names the account of an index.
    pub(super) fn touched(&self, id_of: impl Fn(AccountIndex) -> AccountId) -> TouchedSlots {
        let mut touched = TouchedSlots::new();
        for key in self.reads.union(&self.writes) {
            let AccountId::Address(address) = id_of(key.account) else { continue };
            let slots = touched.entry(address).or_default();
            if let AccountPart::Slot(slot) = key.part {
                slots.insert(slot);
            }
        }
        touched
    }
}
