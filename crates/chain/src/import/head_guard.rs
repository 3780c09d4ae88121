//! The exclusive right to move the head.
//!
//! Whatever chooses another best block, or another state after it, holds a [`HeadGuard`] from its first look at the head
//! until the new head is published: imports, mining, going back, changes of the state by hand. So nothing is built on a head
//! that is gone when it is written. Readers never take it. Locks that are taken while it is held: works, then the pool's.

use parking_lot::MutexGuard;

use crate::import::import_state::ImportState;
use crate::import::prepared_block::PreparedBlock;
use crate::{Chain, ImportError, ImportOutcome};

/// Held by whatever moves the head, one at a time. The methods of [`Chain`] that move the head take it themselves, so they
/// must not be called while it is held.
pub struct HeadGuard<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) writer: MutexGuard<'a, ImportState>,
}

impl Chain {
    /// Waits until nothing else moves the head, and keeps it from moving.
    pub fn lock_head(&self) -> HeadGuard<'_> {
        HeadGuard { chain: self, writer: self.writer.lock() }
    }
}

impl HeadGuard<'_> {
    /// [`Chain::import_prepared`].
    pub(crate) fn import(&mut self, prepared: PreparedBlock) -> Result<ImportOutcome, ImportError> {
        self.chain.import_with(&mut self.writer, prepared)
    }
}
