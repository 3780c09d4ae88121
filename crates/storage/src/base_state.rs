//! The state that a fork begins with: values of keys that no block of the fork has written. They are in another chain, and read
//! when they are needed.
//!
//! The database of a fork has rows for written keys only; the row of a deleted key is empty. Change sets and history say
//! "unwritten" for the value before the first write, so a way back leads to the value of the other chain again. Slots of an
//! account that the fork has deleted cannot be listed: a mark hides them ([`keys::hiding_key`]), which is a key like any
//! other.

use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{PriorValues, StateDelta, StateError, StateReader, keys};

use crate::StorageError;
use crate::change_set::{ChangeSet, StoredValue};

/// State of the other chain at the block that a fork begins at; absent in a chain with its own genesis.
#[derive(Clone, Default)]
pub struct BaseState(Option<Arc<dyn StateReader>>);

impl BaseState {
    pub(crate) fn new(base: Arc<dyn StateReader>) -> Self {
        Self(Some(base))
    }

    /// Returns true in a fork.
    pub fn is_fork(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the value of an unwritten key. `is_present` returns whether another key has a value in the same view.
    pub(crate) fn value<E: From<StorageError>>(
        &self,
        key: &[u8],
        is_present: impl FnOnce(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<Bytes>, E> {
        self.read(key, is_present, |base| base.get(key))
    }

    /// Returns length and Keccak hash of the value of an unwritten key. `is_present`: see [`BaseState::value`].
    pub(crate) fn length_and_hash<E: From<StorageError>>(
        &self,
        key: &[u8],
        is_present: impl FnOnce(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<(usize, B256)>, E> {
        self.read(key, is_present, |base| base.length_and_hash(key))
    }

    fn read<T, E: From<StorageError>>(
        &self,
        key: &[u8],
        is_present: impl FnOnce(&[u8]) -> Result<bool, E>,
        read: impl FnOnce(&dyn StateReader) -> Result<Option<T>, StateError>,
    ) -> Result<Option<T>, E> {
        let Some(base) = &self.0 else { return Ok(None) };
        let is_hidden = keys::hiding_key(key).map(|mark| is_present(&mark)).transpose()?.unwrap_or_default();
        if is_hidden {
            return Ok(None);
        }
        Ok(read(&**base).map_err(|error| StorageError::Base(Box::new(error)))?)
    }

    /// In a fork, adds the marks that hide the slots of accounts that a delta deletes as a whole.
    pub fn hide_deleted(&self, delta: &mut StateDelta, state: &dyn StateReader) -> Result<(), StateError> {
        if self.is_fork() { delta.hide_deleted(state) } else { Ok(()) }
    }

    /// Returns the changes that a delta makes to a state. The delta must not delete accounts as a whole. `prior_values`: values of the
    /// state for all writes in order, if they are known; without them each is read, 2 % of an import.
    pub fn changes(
        &self,
        state: &dyn StateReader,
        delta: &StateDelta,
        prior_values: Option<&PriorValues>,
    ) -> Result<ChangeSet, StateError> {
        let Some(base) = &self.0 else {
            // A deletion adds writes.
            return match prior_values.map(PriorValues::iter).filter(|values| values.len() == delta.writes.len()) {
                Some(mut values) => ChangeSet::of_stored(delta, |_key| Ok(StoredValue::new(values.next().flatten()))),
                None => ChangeSet::of(delta, |key| state.get(key)),
            };
        };
        ChangeSet::of_stored(delta, |key| {
            let value = state.get(key)?;
            let mark = keys::hiding_key(key).map(|mark| state.get(&mark)).transpose()?.flatten();
            // A written key with the value that it had before is as good as unwritten.
            let is_unwritten = match mark {
                Some(_) => value.is_none(),
                None => value == base.get(key)?,
            };
            Ok(if is_unwritten { StoredValue::unwritten() } else { StoredValue::new(value.as_ref()) })
        })
    }
}
