//! Numbers of references to long values in a directory with current nodes.
//!
//! A reference is a key whose value after the oldest kept state is the long value, or a change in a stored change set that
//! leads to it. States, history rows and change sets that can be read refer to no other values. A value whose last
//! reference goes is deleted in the same batch.

use std::collections::BTreeMap;

use rhizome_primitives::B256;
use rocksdb::WriteBatch;

use crate::StorageError;
use crate::change_set::{ChangeSet, StoredValue, StoredValueView};
use crate::columns::{self, VALUES};
use crate::database::Database;

/// Differences of the numbers of references, by hash of the value.
#[derive(Debug, Default)]
pub(crate) struct ReferenceChanges(BTreeMap<B256, i64>);

impl ReferenceChanges {
    fn add(&mut self, value: &StoredValue, amount: i64) {
        if let Some(StoredValueView::Reference { hash, .. }) = StoredValue::view(value.row()) {
            let count = self.0.entry(hash).or_default();
            *count = count.saturating_add(amount);
        }
    }

    /// Adds the references of a change set that is written.
    pub(crate) fn add_set(&mut self, changes: &ChangeSet) {
        changes.iter().for_each(|(_, change)| self.add(&change.after, 1));
    }

    /// Removes the references of a change set that is deleted and is not part of the oldest kept state.
    pub(crate) fn remove_set(&mut self, changes: &ChangeSet) {
        changes.iter().for_each(|(_, change)| self.add(&change.after, -1));
    }

    /// Moves the oldest kept state over a block of the best chain: its new values replace the old ones there.
    pub(crate) fn pass_set(&mut self, changes: &ChangeSet) {
        changes.iter().for_each(|(_, change)| self.add(&change.before, -1));
    }

    /// Adds the new numbers to a batch, and the deletion of values without a reference. A directory without numbers keeps all
    /// values.
    pub(crate) fn add_to_batch(self, database: &Database, batch: &mut WriteBatch) -> Result<(), StorageError> {
        let engine = database.engine()?;
        if !engine.counts_values {
            return Ok(());
        }
        let column = engine.column(VALUES)?;
        for (hash, change) in self.0.into_iter().filter(|(_, change)| *change != 0) {
            let key = columns::references_key(&hash);
            let number = |row: &[u8]| row.try_into().ok().map(i64::from_be_bytes);
            let count = database.decoded(VALUES, &key, number)?.unwrap_or_default().saturating_add(change);
            if count > 0 {
                batch.put_cf(column, key, count.to_be_bytes());
            } else {
                batch.delete_cf(column, key);
                batch.delete_cf(column, hash);
            }
        }
        Ok(())
    }
}
