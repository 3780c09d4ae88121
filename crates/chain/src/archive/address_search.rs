//! Transactions of an address, page by page, from the address index.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use rhizome_primitives::Address;
use rhizome_storage::{AddressIndex, CallIndex, SearchOrder};

use crate::archive::Archive;
use crate::archive::reads::MinedTransaction;
use crate::error::ChainError;

/// Blocks in which transactions are searched. The block itself is not part of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRange {
    /// Blocks below a number, the highest first.
    Before(u64),
    /// Blocks above a number, the lowest first.
    After(u64),
}

/// Transactions of an address in consecutive blocks.
#[derive(Debug, Clone, Default)]
pub struct AddressPage {
    /// The transactions, in the order of the search; those of a block in the same order.
    pub transactions: Vec<MinedTransaction>,
    /// Whether the rest of the range has transactions of the address.
    pub has_more: bool,
}

/// Why a search has no result.
#[derive(Debug, thiserror::Error)]
pub enum AddressSearchError {
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The index is switched off.
    #[error("the address index is switched off")]
    Off,
    /// The index is being built.
    #[error("the address index is being built: blocks {first} to {last} are missing")]
    Incomplete {
        /// Number of the first missing block.
        first: u64,
        /// Number of the last missing block.
        last: u64,
    },
    /// The inner calls of stored blocks are being added.
    #[error("the address index is being built: the inner calls of blocks {first} to {last} are missing")]
    WithoutCalls {
        /// Number of the first missing block.
        first: u64,
        /// Number of the last missing block.
        last: u64,
    },
}

impl From<rhizome_storage::StorageError> for AddressSearchError {
    fn from(error: rhizome_storage::StorageError) -> Self {
        Self::Chain(error.into())
    }
}

/// Returns the number of blocks of the best chain that the index still misses; `None` if it is switched off.
pub(crate) fn missing_blocks(archive: &Archive) -> Result<Option<u64>, ChainError> {
    let Some(index) = AddressIndex::new(&archive.store) else { return Ok(None) };
    let missing = index.missing()?.unwrap_or_default();
    Ok(Some(missing.end.saturating_sub(missing.start)))
}

/// Blocks whose inner calls are not in the address index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnindexedCalls {
    /// Number of blocks that are still missing.
    pub missing: u64,
    /// First block from which none is left out. The states before earlier ones were not kept.
    pub complete_from: u64,
}

/// Returns the blocks whose inner calls are not indexed; `None` if inner calls are not indexed at all.
pub(crate) fn unindexed_calls(archive: &Archive) -> Result<Option<UnindexedCalls>, ChainError> {
    let Some(index) = CallIndex::new(&archive.store) else { return Ok(None) };
    let missing = index.missing()?.unwrap_or_default();
    let complete_from = index.complete_from()?.unwrap_or_default();
    Ok(Some(UnindexedCalls { missing: missing.end.saturating_sub(missing.start), complete_from }))
}

/// Returns a page of at least `count` transactions, if there are as many: a block is never divided.
pub(crate) fn page(
    archive: &Archive,
    address: &Address,
    range: AddressRange,
    count: usize,
) -> Result<AddressPage, AddressSearchError> {
    let index = AddressIndex::new(&archive.store).ok_or(AddressSearchError::Off)?;
    if let Some(missing) = index.missing()?.filter(|missing| !missing.is_empty()) {
        return Err(AddressSearchError::Incomplete { first: missing.start, last: missing.end.saturating_sub(1) });
    }
    let without_calls = CallIndex::new(&archive.store).map(|index| index.missing()).transpose()?.flatten();
    if let Some(missing) = without_calls.filter(|missing| !missing.is_empty()) {
        return Err(AddressSearchError::WithoutCalls { first: missing.start, last: missing.end.saturating_sub(1) });
    }
    loop {
        let branch = archive.store.branch();
        let page = read_page(archive, &index, address, range, count)?;
        // Blocks may have left the best chain between two reads.
        if branch.is_multiple_of(2) && archive.store.branch() == branch {
            return Ok(page);
        }
        thread::yield_now();
    }
}

fn read_page(
    archive: &Archive,
    index: &AddressIndex<'_>,
    address: &Address,
    range: AddressRange,
    count: usize,
) -> Result<AddressPage, AddressSearchError> {
    let (numbers, order) = match range {
        AddressRange::Before(number) => (0..number, SearchOrder::Descending),
        AddressRange::After(number) => (number.saturating_add(1)..u64::MAX, SearchOrder::Ascending),
    };
    let mut blocks = Vec::new();
    let (mut found, mut has_more) = (0, false);
    index.visit(address, numbers, order, |number, indexes| {
        if found >= count {
            has_more = true;
            return Ok(ControlFlow::Break(()));
        }
        found += indexes.len();
        blocks.push((number, indexes));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut page = AddressPage { transactions: Vec::with_capacity(found), has_more };
    for (number, mut indexes) in blocks {
        let Some(record) = archive.main_record(number)? else { continue };
        if order == SearchOrder::Descending {
            indexes.reverse();
        }
        let indexes = indexes.into_iter().filter_map(|index| usize::try_from(index).ok());
        let is_present = |index: &usize| *index < record.block.transactions.len();
        page.transactions
            .extend(indexes.filter(is_present).map(|index| MinedTransaction { record: Arc::clone(&record), index }));
    }
    Ok(page)
}
