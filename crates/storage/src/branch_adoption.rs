//! Adoption of a long branch: the rows of the head move to its tip in several batches.
//!
//! A row names the tip from the first batch to the last. A kill in between leaves a head on one of the two branches and that row, and
//! the next start goes on to the tip. The nodes of the tip are in the overlay and in the column of current nodes together, at any
//! point: they are looked up by hash in both.

use std::mem;
use std::sync::Arc;

use rocksdb::WriteBatch;

use crate::branch_overlay::BranchOverlay;
use crate::columns::{ADOPTED_BRANCH_KEY, FLUSHED_KEY, META, TRIE};
use crate::options::NodeVersions;
use crate::record::FlushedTrie;
use crate::write::HeadChange;
use crate::{StorageError, Store};

/// Size of a batch of trie nodes in bytes.
const BATCH_BYTES: usize = 4 << 20;

/// Move of the head to the tip of a long branch, whose blocks are all executed and stored.
pub struct BranchAdoption<'a> {
    store: &'a Store,
    tip: FlushedTrie,
    overlay: Arc<BranchOverlay>,
}

impl<'a> BranchAdoption<'a> {
    /// Begins the move to a tip. From here on it is finished, by this process or the next one. No checkpoint is made meanwhile.
    pub fn begin(store: &'a Store, tip: FlushedTrie, overlay: Arc<BranchOverlay>) -> Result<Self, StorageError> {
        overlay.persist()?;
        let mut batch = WriteBatch::default();
        batch.put_cf(store.database.engine()?.column(META)?, ADOPTED_BRANCH_KEY, tip.encode());
        let _no_checkpoint = store.adoption.write();
        store.database.write_batch(batch)?;
        Ok(Self { store, tip, overlay })
    }

    /// Returns the move that was interrupted, if there is one.
    pub fn resume(store: &'a Arc<Store>) -> Result<Option<Self>, StorageError> {
        let Some(tip) = store.adopted_branch()? else { return Ok(None) };
        Ok(Some(Self { store, tip, overlay: BranchOverlay::reopen(store)? }))
    }

    /// Returns the tip of the branch.
    pub fn tip(&self) -> FlushedTrie {
        self.tip
    }

    /// Moves the head by some blocks. Returns the generation of the flat state after the write.
    pub fn move_head(&self, change: &HeadChange<'_>) -> Result<u64, StorageError> {
        self.store.move_head(change)
    }

    /// Makes the trie of the tip, which is the head now, the flushed one, and ends the move.
    pub fn finish(self) -> Result<(), StorageError> {
        let Self { store, tip, overlay } = self;
        let mut batch = WriteBatch::default();
        if store.node_versions() == NodeVersions::Current {
            overlay.visit_nodes(|position, message| {
                let engine = store.database.engine()?;
                let column = engine.column(TRIE)?;
                match message.is_empty() {
                    true => batch.delete_cf(column, position),
                    false => batch.put_cf(column, position, message),
                }
                if batch.size_in_bytes() < BATCH_BYTES {
                    return Ok(());
                }
                store.database.write_batch(mem::take(&mut batch))
            })?;
            batch.put_cf(store.database.engine()?.column(META)?, FLUSHED_KEY, tip.encode());
        }
        batch.delete_cf(store.database.engine()?.column(META)?, ADOPTED_BRANCH_KEY);
        store.database.write_batch(batch)?;
        // A loss of power must not bring the row back without the folder.
        if !store.database.settings.is_temporary {
            store.flush()?;
        }
        drop(overlay);
        BranchOverlay::discard(store)
    }
}
