use std::collections::HashSet;

use rhizome_primitives::B256;
use rhizome_trie::StateDelta;
use rocksdb::WriteBatch;

use crate::columns::{BLOCKS, HEAD_KEY, HEIGHTS, META, RECEIPTS, TRANSACTIONS};
use crate::record;
use crate::store::damaged;
use crate::write::original_root_key;
use crate::{StorageError, Store};

/// Return of the head to an earlier block of the best chain.
pub struct Rewind<'a> {
    /// Height of the new head.
    pub height: u64,
    /// Hash of the new head, on the best chain.
    pub head: B256,
    /// Difference between the state of the current head and the state of the new one.
    pub flat: &'a StateDelta,
}

impl Store {
    /// Deletes all blocks above a height, on the best chain and beside it, and sets the head, in one batch. Trie nodes
    /// and log postings stay: nodes are shared with other states, and postings are checked when they are read. Returns
    /// the generation of the flat state after the write.
    pub fn delete_above(&self, rewind: &Rewind<'_>) -> Result<u64, StorageError> {
        let mut batch = WriteBatch::default();
        let engine = self.engine()?;
        let (heights, blocks) = (engine.column(HEIGHTS)?, engine.column(BLOCKS)?);
        let (receipts, meta) = (engine.column(RECEIPTS)?, engine.column(META)?);
        let mut deleted: HashSet<B256> = HashSet::new();
        self.visit_range(HEIGHTS, &rewind.height.saturating_add(1).to_be_bytes(), None, |key, row| {
            let entries = record::decode_heights(row).ok_or_else(|| damaged(HEIGHTS, key, "cannot be decoded"))?;
            deleted.extend(entries.iter().map(|entry| entry.hash));
            batch.delete_cf(heights, key);
            Ok(())
        })?;
        for hash in &deleted {
            self.remove_locations(&mut batch, hash, &deleted)?;
            batch.delete_cf(blocks, hash);
            batch.delete_cf(receipts, hash);
            batch.delete_cf(meta, original_root_key(hash));
        }
        batch.put_cf(meta, HEAD_KEY, rewind.head);
        self.batch_flat(&mut batch, rewind.flat)?;
        self.main_hashes.change(|| self.write_new_head(batch))
    }

    fn remove_locations(
        &self,
        batch: &mut WriteBatch,
        block: &B256,
        deleted: &HashSet<B256>,
    ) -> Result<(), StorageError> {
        let engine = self.engine()?;
        let column = engine.column(TRANSACTIONS)?;
        let hashes = self.decoded(RECEIPTS, block.as_slice(), record::decode_transaction_hashes)?.unwrap_or_default();
        for hash in hashes {
            let mut locations = self.transaction_locations(&hash)?;
            locations.retain(|location| !deleted.contains(&location.block));
            if locations.is_empty() {
                batch.delete_cf(column, hash);
            } else {
                batch.put_cf(column, hash, record::encode_locations(&locations));
            }
        }
        Ok(())
    }
}
