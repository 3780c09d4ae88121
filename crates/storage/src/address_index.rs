//! The address index: transactions of the best chain by the addresses that take part in them.
//!
//! A row lists the transactions of one block in which an address is sender, recipient, created contract or holder of moved tokens,
//! or which meet it in inner calls, if these are known (`call_index.rs`).
//! Rows join and leave the index with their block, in its batch. Blocks that were stored without the index are added later, upwards,
//! in separate batches. Two rows of the column `default` name the last block whose batch moved the index, and the blocks that are
//! still missing. When the index is switched on again, they show which blocks came meanwhile.

use std::ops::{ControlFlow, Range};

use rhizome_primitives::{Address, B256, DecodeError};
use rocksdb::{ReadOptions, WriteBatch};

use crate::address_rows::{self, AddressRows, IndexedBlock, KEY_BYTES};
use crate::columns::{self, ADDRESS_TIP_KEY, ADDRESSES, BLOCKS, META, MISSING_ADDRESSES_KEY, RECEIPTS};
use crate::inner_accounts::InnerAccounts;
use crate::write::{BlockWrite, HeadChange};
use crate::{StorageError, Store};

/// Above all keys.
const LAST_KEY: [u8; KEY_BYTES + 1] = [0xff; KEY_BYTES + 1];
/// Rows at which a plan ends.
const MAX_PLANNED_ROWS: usize = 1 << 16;

/// The address index of a database.
pub struct AddressIndex<'a> {
    store: &'a Store,
}

/// Order of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchOrder {
    /// From lower to higher blocks.
    Ascending,
    /// From higher to lower blocks.
    Descending,
}

/// Rows of blocks that are missing in the index, read ahead of the write.
pub struct AddressPlan {
    /// Blocks that are missing before the write.
    missing: Range<u64>,
    /// The first block that is missing after it.
    next: u64,
    /// Number of the branch for which the plan holds.
    branch: u64,
    rows: AddressRows,
}

impl<'a> AddressIndex<'a> {
    /// Returns the index of a database; `None` if it is switched off.
    pub fn new(store: &'a Store) -> Option<Self> {
        is_on(store).then_some(Self { store })
    }

    /// Returns the first address whose row of a stored block of the best chain is absent or does not follow from the block.
    /// `None` if all rows are right, or if the block is not in the index. The index may be switched off.
    pub fn wrong_row(store: &'a Store, number: u64, hash: &B256) -> Result<Option<Address>, StorageError> {
        let index = Self { store };
        let (Some(missing), Some((tip, tip_hash))) = (index.missing()?, index.tip()?) else { return Ok(None) };
        if number > tip || missing.contains(&number) || store.main_hash(tip)? != Some(tip_hash) {
            return Ok(None);
        }
        let mut rows = AddressRows::new();
        add_stored_rows(store, number, hash, &mut rows)?;
        for (key, expected) in rows {
            let is_right = store.database.with_row(ADDRESSES, &key, |row| row == Some(expected.as_slice()))?;
            if !is_right {
                return Ok(address_rows::address(&key));
            }
        }
        Ok(None)
    }

    /// Returns the blocks that are not indexed, also if the index is switched off.
    pub(crate) fn missing_blocks(store: &Store) -> Result<Range<u64>, StorageError> {
        Ok(AddressIndex { store }.missing()?.unwrap_or(0..u64::MAX))
    }

    /// Brings the index in line with the blocks that were stored while it was off. `head`: number and hash of the head; `first`: number
    /// of the first block that can be indexed. One writer at a time.
    pub fn begin(&self, head: (u64, B256), first: u64) -> Result<(), StorageError> {
        let end = head.0.saturating_add(1);
        let missing = match (self.missing()?, self.tip()?) {
            (Some(_), Some(tip)) if tip == head => return Ok(()),
            (Some(missing), Some((number, hash))) if self.store.main_hash(number)? == Some(hash) => {
                let indexed = if missing.is_empty() { number.saturating_add(1) } else { missing.start };
                Some(indexed.max(first)..end)
            }
            _ => None,
        };
        let engine = self.store.database.engine()?;
        let mut batch = WriteBatch::default();
        if missing.is_none() {
            // Nothing is indexed, or blocks have left the best chain while the index was off.
            batch.delete_range_cf(engine.column(ADDRESSES)?, &[][..], &LAST_KEY[..]);
        }
        self.put_missing(&mut batch, &missing.unwrap_or(first..end))?;
        put_tip(self.store, &mut batch, head)?;
        self.store.database.write_batch(batch)
    }

    /// Returns the blocks that are still missing; `None` before [`AddressIndex::begin`].
    pub fn missing(&self) -> Result<Option<Range<u64>>, StorageError> {
        self.store.database.decoded(META, MISSING_ADDRESSES_KEY, |row| {
            let (first, last) = row.split_at_checked(8)?;
            let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_be_bytes);
            Some(number(first)?..number(last)?)
        })
    }

    /// Reads the rows of the first missing blocks, at most of `blocks`. `None` if no block is missing.
    pub fn plan(&self, blocks: u64) -> Result<Option<AddressPlan>, StorageError> {
        let branch = self.store.branch();
        let Some(missing) = self.missing()?.filter(|missing| !missing.is_empty()) else { return Ok(None) };
        let mut rows = AddressRows::new();
        let mut next = missing.start;
        while next < missing.end.min(missing.start.saturating_add(blocks)) && rows.len() < MAX_PLANNED_ROWS {
            let Some(hash) = self.store.main_hash(next)? else {
                // The head went back: later blocks are indexed when they are written.
                next = missing.end;
                break;
            };
            add_stored_rows(self.store, next, &hash, &mut rows)?;
            next += 1;
        }
        Ok(Some(AddressPlan { missing, next, branch, rows }))
    }

    /// Adds the rows of a plan. Returns false if the plan is outdated. Only for the writer of the chain.
    pub fn write(&self, plan: AddressPlan) -> Result<bool, StorageError> {
        let AddressPlan { missing, next, branch, rows } = plan;
        let is_current = branch.is_multiple_of(2) && branch == self.store.branch();
        if !is_current || self.missing()?.as_ref() != Some(&missing) {
            return Ok(false);
        }
        self.store.database.check_writable()?;
        let mut batch = WriteBatch::default();
        put_rows(self.store, &mut batch, rows)?;
        self.put_missing(&mut batch, &(next..missing.end))?;
        self.store.database.write_batch(batch)?;
        Ok(true)
    }

    /// Visits the blocks of a range with transactions of an address, each with the indexes of the transactions, ascending, until
    /// `visit` breaks. The reader compares [`Store::branch`] before and after: if it was even and is unchanged, all blocks are of
    /// one chain.
    pub fn visit(
        &self,
        address: &Address,
        numbers: Range<u64>,
        order: SearchOrder,
        mut visit: impl FnMut(u64, Vec<u32>) -> Result<ControlFlow<()>, StorageError>,
    ) -> Result<(), StorageError> {
        let (first, end) = (address_rows::key(address, numbers.start), address_rows::key(address, numbers.end));
        if first >= end {
            return Ok(());
        }
        let mut options = ReadOptions::default();
        options.set_iterate_lower_bound(first);
        options.set_iterate_upper_bound(end);
        let engine = self.store.database.engine()?;
        let mut rows = engine.db.raw_iterator_cf_opt(engine.column(ADDRESSES)?, options);
        match order {
            SearchOrder::Ascending => rows.seek_to_first(),
            SearchOrder::Descending => rows.seek_to_last(),
        }
        while let Some((key, row)) = rows.item() {
            let decoded = address_rows::number(key).zip(address_rows::indexes(row));
            let (number, indexes) =
                decoded.ok_or_else(|| StorageError::damaged_row(ADDRESSES, key, "cannot be decoded"))?;
            if visit(number, indexes)?.is_break() {
                return Ok(());
            }
            match order {
                SearchOrder::Ascending => rows.next(),
                SearchOrder::Descending => rows.prev(),
            }
        }
        rows.status().map_err(|source| self.store.database.engine_error("read the address index", source))
    }

    fn tip(&self) -> Result<Option<(u64, B256)>, StorageError> {
        self.store.database.decoded(META, ADDRESS_TIP_KEY, |row| {
            let (number, hash) = row.split_at_checked(8)?;
            Some((u64::from_be_bytes(number.try_into().ok()?), B256::try_from(hash).ok()?))
        })
    }

    fn put_missing(&self, batch: &mut WriteBatch, missing: &Range<u64>) -> Result<(), StorageError> {
        let row = [missing.start.to_be_bytes(), missing.end.to_be_bytes()].concat();
        batch.put_cf(self.store.database.engine()?.column(META)?, MISSING_ADDRESSES_KEY, row);
        Ok(())
    }
}

/// Adds the rows of children of the head.
pub(crate) fn add_children(
    store: &Store,
    batch: &mut WriteBatch,
    writes: &[BlockWrite<'_>],
) -> Result<(), StorageError> {
    let Some(last) = writes.last().filter(|_| is_on(store)) else { return Ok(()) };
    let mut rows = AddressRows::new();
    for write in writes {
        add_rows(write, &mut rows)?;
    }
    put_rows(store, batch, rows)?;
    put_tip(store, batch, (last.number, last.hash))
}

/// Moves the index to the last enacted block. `new`: the block that is written with the batch.
pub(crate) fn move_head(
    store: &Store,
    batch: &mut WriteBatch,
    change: &HeadChange<'_>,
    new: Option<&BlockWrite<'_>>,
) -> Result<(), StorageError> {
    let Some(tip) = change.enacted.last().filter(|_| is_on(store)) else { return Ok(()) };
    let mut rows = AddressRows::new();
    for (number, hash) in change.enacted {
        match new.filter(|write| write.hash == *hash) {
            Some(write) => add_rows(write, &mut rows)?,
            None => add_stored_rows(store, *number, hash, &mut rows)?,
        }
    }
    delete_rows(store, batch, change.retracted)?;
    put_rows(store, batch, rows)?;
    put_tip(store, batch, *tip)
}

/// Removes the rows of blocks above a new head, which is lower.
pub(crate) fn move_back(
    store: &Store,
    batch: &mut WriteBatch,
    retracted: &[(u64, B256)],
    head: (u64, B256),
) -> Result<(), StorageError> {
    // Without blocks that leave, only blocks beside the best chain are deleted.
    if retracted.is_empty() || !is_on(store) {
        return Ok(());
    }
    delete_rows(store, batch, retracted)?;
    put_tip(store, batch, head)
}

fn is_on(store: &Store) -> bool {
    store.database.settings.options.has_address_index
}

fn add_rows(write: &BlockWrite<'_>, rows: &mut AddressRows) -> Result<(), StorageError> {
    let BlockWrite { number, raw, senders, receipts, inner_accounts, .. } = *write;
    let unknown = InnerAccounts::default();
    let inner = inner_accounts.unwrap_or(&unknown);
    let added = IndexedBlock { number, raw, senders, receipts, inner }.add_rows(rows);
    added.map_err(|error| undecodable(&write.hash, error))
}

/// Adds the rows of a stored block with receipts.
fn add_stored_rows(store: &Store, number: u64, hash: &B256, rows: &mut AddressRows) -> Result<(), StorageError> {
    add_rows_with(store, number, hash, &store.inner_accounts(hash)?.unwrap_or_default(), rows)
}

/// Adds the rows of a stored block with receipts and these accounts of inner calls.
pub(crate) fn add_rows_with(
    store: &Store,
    number: u64,
    hash: &B256,
    inner: &InnerAccounts,
    rows: &mut AddressRows,
) -> Result<(), StorageError> {
    let block = store.block(hash)?.ok_or(StorageError::Missing { column: BLOCKS, hash: *hash })?;
    let stored = store.receipts(hash)?.ok_or(StorageError::Missing { column: RECEIPTS, hash: *hash })?;
    let block = IndexedBlock { number, raw: &block.raw, senders: &block.senders, receipts: &stored.receipts, inner };
    block.add_rows(rows).map_err(|error| undecodable(hash, error))
}

fn undecodable(hash: &B256, _error: DecodeError) -> StorageError {
    StorageError::damaged_row(BLOCKS, hash.as_slice(), "cannot be decoded")
}

pub(crate) fn put_rows(store: &Store, batch: &mut WriteBatch, rows: AddressRows) -> Result<(), StorageError> {
    let engine = store.database.engine()?;
    let column = engine.column(ADDRESSES)?;
    rows.into_iter().for_each(|(key, row)| batch.put_cf(column, key, row));
    Ok(())
}

/// Deletes the rows of blocks that leave the best chain.
fn delete_rows(store: &Store, batch: &mut WriteBatch, retracted: &[(u64, B256)]) -> Result<(), StorageError> {
    let mut rows = AddressRows::new();
    for (number, hash) in retracted {
        add_stored_rows(store, *number, hash, &mut rows)?;
    }
    let engine = store.database.engine()?;
    let column = engine.column(ADDRESSES)?;
    rows.into_keys().for_each(|key| batch.delete_cf(column, key));
    Ok(())
}

fn put_tip(store: &Store, batch: &mut WriteBatch, (number, hash): (u64, B256)) -> Result<(), StorageError> {
    let row = columns::position_key(number, &hash);
    batch.put_cf(store.database.engine()?.column(META)?, ADDRESS_TIP_KEY, row);
    Ok(())
}
