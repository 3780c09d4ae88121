//! The index of inner calls: the accounts that inner calls of a block meet, so that the address index has them, too.
//!
//! The column `calls` has a row for each block that was executed while the index was on, on the best chain or beside it. Rows of the
//! address index follow from block, receipts and this row, so that they join and leave it without an execution. Blocks that were
//! stored without the index are executed again later, upwards, each on the state before it. A row of the column `default` has the
//! last block whose batch moved the index, the blocks that are still missing, and the first block from which none is left out.

use std::ops::Range;

use rhizome_primitives::B256;
use rocksdb::WriteBatch;

use crate::address_index;
use crate::address_rows::AddressRows;
use crate::columns::{CALL_INDEX_KEY, CALLS, META};
use crate::inner_accounts::InnerAccounts;
use crate::write::{BlockWrite, HeadChange};
use crate::{AddressIndex, StorageError, Store};

/// The index of inner calls of a database.
pub struct CallIndex<'a> {
    store: &'a Store,
}

/// Missing blocks that were executed again, or are left out, ahead of the write.
pub struct CallPlan {
    /// Blocks that are missing before the write.
    pub missing: Range<u64>,
    /// The first block that is missing after it.
    pub next: u64,
    /// First block from which no block of the plan is left out because the state before it is not kept; 0: none is left out.
    pub complete_from: u64,
    /// Number of the branch for which the plan holds.
    pub branch: u64,
    /// Number and hash of the executed blocks, and accounts of their inner calls.
    pub blocks: Vec<(u64, B256, InnerAccounts)>,
}

/// Progress of the index.
#[derive(Clone)]
struct CallIndexProgress {
    /// Number and hash of the last block whose batch moved the index.
    tip: (u64, B256),
    missing: Range<u64>,
    /// First block from which no indexed block is left out.
    complete_from: u64,
}

impl<'a> CallIndex<'a> {
    /// Returns the index of a database; `None` if it is switched off.
    pub fn new(store: &'a Store) -> Option<Self> {
        store.database.settings.options.has_call_index.then_some(Self { store })
    }

    /// Brings the index in line with the blocks that were stored while it was off. `head`: number and hash of the head; `first`: number
    /// of the first block that can be indexed. One writer at a time.
    pub fn begin(&self, head: (u64, B256), first: u64) -> Result<(), StorageError> {
        let end = head.0.saturating_add(1);
        let progress = match self.progress()? {
            Some(progress) if progress.tip == head => return Ok(()),
            Some(progress) if self.store.main_hash(progress.tip.0)? == Some(progress.tip.1) => {
                let CallIndexProgress { missing, tip, complete_from } = progress;
                let start = if missing.is_empty() { tip.0.saturating_add(1) } else { missing.start };
                CallIndexProgress { tip: head, missing: start.max(first)..end, complete_from }
            }
            // Blocks with a row are not executed again.
            _ => CallIndexProgress { tip: head, missing: first..end, complete_from: first },
        };
        let mut batch = WriteBatch::default();
        self.put_progress(&mut batch, &progress)?;
        self.store.database.write_batch(batch)
    }

    /// Returns the blocks that are still missing; `None` before [`CallIndex::begin`].
    pub fn missing(&self) -> Result<Option<Range<u64>>, StorageError> {
        Ok(self.progress()?.map(|progress| progress.missing))
    }

    /// Returns the number of the first block from which no block of the best chain is left out, besides the missing ones; `None` before
    /// [`CallIndex::begin`].
    pub fn complete_from(&self) -> Result<Option<u64>, StorageError> {
        Ok(self.progress()?.map(|progress| progress.complete_from))
    }

    /// Writes the rows of a plan, in both indexes. Returns false if the plan is outdated. Only for the writer of the chain.
    pub fn write(&self, plan: CallPlan) -> Result<bool, StorageError> {
        let is_current = plan.branch.is_multiple_of(2) && plan.branch == self.store.branch();
        let Some(mut progress) = self.progress()?.filter(|progress| is_current && progress.missing == plan.missing)
        else {
            return Ok(false);
        };
        self.store.database.check_writable()?;
        let unindexed = AddressIndex::missing_blocks(self.store)?;
        let mut batch = WriteBatch::default();
        let mut rows = AddressRows::new();
        for (number, hash, inner) in &plan.blocks {
            put_accounts(self.store, &mut batch, hash, inner)?;
            // The address index adds missing blocks with the row that is written here.
            if !unindexed.contains(number) {
                address_index::add_rows_with(self.store, *number, hash, inner, &mut rows)?;
            }
        }
        address_index::put_rows(self.store, &mut batch, rows)?;
        progress.missing.start = plan.next;
        progress.complete_from = progress.complete_from.max(plan.complete_from);
        self.put_progress(&mut batch, &progress)?;
        self.store.database.write_batch(batch)?;
        Ok(true)
    }

    fn progress(&self) -> Result<Option<CallIndexProgress>, StorageError> {
        self.store.database.decoded(META, CALL_INDEX_KEY, |row| {
            let (number, row) = row.split_first_chunk()?;
            let (hash, row) = row.split_first_chunk::<32>()?;
            let ([start, end, complete_from], []) = row.as_chunks::<8>() else { return None };
            Some(CallIndexProgress {
                tip: (u64::from_be_bytes(*number), B256::from(*hash)),
                missing: u64::from_be_bytes(*start)..u64::from_be_bytes(*end),
                complete_from: u64::from_be_bytes(*complete_from),
            })
        })
    }

    fn put_progress(&self, batch: &mut WriteBatch, progress: &CallIndexProgress) -> Result<(), StorageError> {
        let CallIndexProgress { tip: (number, hash), missing, complete_from } = progress;
        let mut row = number.to_be_bytes().to_vec();
        row.extend_from_slice(hash.as_slice());
        [missing.start, missing.end, *complete_from].iter().for_each(|word| row.extend_from_slice(&word.to_be_bytes()));
        batch.put_cf(self.store.database.engine()?.column(META)?, CALL_INDEX_KEY, row);
        Ok(())
    }

    /// Moves the tip, with blocks of the best chain that have no row.
    fn move_tip(&self, batch: &mut WriteBatch, tip: (u64, B256), without_row: &[u64]) -> Result<(), StorageError> {
        let Some(mut progress) = self.progress()? else { return Ok(()) };
        progress.tip = tip;
        for number in without_row {
            let missing = &progress.missing;
            progress.missing = match missing.is_empty() {
                true => *number..number.saturating_add(1),
                false => missing.start.min(*number)..missing.end.max(number.saturating_add(1)),
            };
        }
        self.put_progress(batch, &progress)
    }
}

/// Adds the row of a block.
pub(crate) fn put_accounts(
    store: &Store,
    batch: &mut WriteBatch,
    hash: &B256,
    accounts: &InnerAccounts,
) -> Result<(), StorageError> {
    batch.put_cf(store.database.engine()?.column(CALLS)?, hash, accounts.encode());
    Ok(())
}

/// Moves the index to the last of several children of the head.
pub(crate) fn add_children(
    store: &Store,
    batch: &mut WriteBatch,
    writes: &[BlockWrite<'_>],
) -> Result<(), StorageError> {
    let Some((index, last)) = CallIndex::new(store).zip(writes.last()) else { return Ok(()) };
    index.move_tip(batch, (last.number, last.hash), &[])
}

/// Moves the index to the last enacted block. `new`: the block that is written with the batch.
pub(crate) fn move_head(
    store: &Store,
    batch: &mut WriteBatch,
    change: &HeadChange<'_>,
    new: Option<&BlockWrite<'_>>,
) -> Result<(), StorageError> {
    let (Some(index), Some(tip)) = (CallIndex::new(store), change.enacted.last()) else { return Ok(()) };
    let mut without_row = Vec::new();
    let is_new = |hash: &B256| new.is_some_and(|write| write.hash == *hash);
    for (number, hash) in change.enacted.iter().filter(|(_, hash)| !is_new(hash)) {
        // The block was executed while the index was off.
        if store.inner_accounts(hash)?.is_none() {
            without_row.push(*number);
        }
    }
    index.move_tip(batch, *tip, &without_row)
}

/// Moves the index to a new head, which is lower.
pub(crate) fn move_back(store: &Store, batch: &mut WriteBatch, head: (u64, B256)) -> Result<(), StorageError> {
    CallIndex::new(store).map_or(Ok(()), |index| index.move_tip(batch, head, &[]))
}
