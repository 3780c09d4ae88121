//! Changes of the state by a branch beside the best chain.

use std::sync::Arc;

use rhizome_storage::{BranchOverlay, ChangeSet, StorageError, StoredValue};

/// Changes from the state of the head to that of the last written block of a branch.
#[derive(Clone, Default)]
pub(crate) struct BranchChanges {
    /// Changes that are not in the overlay.
    pub(crate) recent: ChangeSet,
    /// Present for a branch whose changes exceeded the memory for them.
    pub(crate) overlay: Option<Arc<BranchOverlay>>,
}

impl BranchChanges {
    /// Returns the value of a key after the last written block; `None` if it is that of the head.
    pub(crate) fn value(&self, key: &[u8]) -> Result<Option<StoredValue>, StorageError> {
        match (self.recent.get(key), &self.overlay) {
            (Some(change), _) => Ok(Some(change.after.clone())),
            (None, Some(overlay)) => overlay.value(key),
            (None, None) => Ok(None),
        }
    }

    /// Visits the changed keys that begin with a prefix, some of them twice.
    pub(crate) fn visit_keys(&self, prefix: &[u8], mut visit: impl FnMut(&[u8])) -> Result<(), StorageError> {
        self.recent.below(prefix).for_each(|(key, _)| visit(key));
        self.overlay.as_ref().map_or(Ok(()), |overlay| overlay.visit_keys(prefix, visit))
    }
}
