//! States of earlier blocks that a directory keeps, and the removal of older ones.
//!
//! A marker row names the oldest kept state. Rows of `changes` and `history` of that block and of blocks below it are not read
//! any more, and a compaction drops them when it reaches them. Whole files of `changes` are deleted at once, because their
//! rows are in the order of blocks. No row is deleted by a write: that would cost as much as adding it.
//!
//! Order: the marker is visible to readers, then in the log, then on the disk, and only then rows disappear. A reader
//! compares the marker after its reads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use rhizome_primitives::B256;
use rocksdb::{BottommostLevelCompaction, CompactOptions, WriteBatch, properties};

use crate::StorageError;
use crate::change_set::ChangeSet;
use crate::columns::{self, CHANGES, FIRST_RECEIPTS_KEY, FLAT, HEIGHTS, HISTORY, META, OLDEST_STATE_KEY, TRIE, VALUES};
use crate::database::Database;
use crate::disk_probe::{PROBE_BYTES, is_disk_full};
use crate::engine::DATABASE_FOLDER;
use crate::node_files::NodeFileError;
use crate::record;
use crate::value_references::ReferenceChanges;

/// Ranges of keys that one compaction step of a column covers at most.
const COMPACTION_STEPS: usize = 64;

/// The oldest kept state, as readers see it.
#[derive(Default)]
pub(crate) struct KeptStates {
    oldest: AtomicU64,
    /// The same number in the marker row. Lower during a write.
    written: AtomicU64,
    /// Number of the first block whose receipts are stored.
    first_receipts: AtomicU64,
}

/// A step of the pruning, read ahead of the write.
#[derive(Debug)]
pub struct PruningPlan {
    /// Number of the oldest block whose state is kept before the step.
    pub(crate) from: u64,
    /// The same number after the step.
    oldest: u64,
    /// Number of the branch for which the plan holds.
    pub(crate) branch: u64,
    references: ReferenceChanges,
}

impl PruningPlan {
    /// Reads what the step to a block deletes.
    pub(crate) fn read(database: &Database, from: u64, oldest: u64, branch: u64) -> Result<Self, StorageError> {
        let mut plan = Self { from, oldest, branch, references: ReferenceChanges::default() };
        if !database.engine()?.counts_values || oldest <= from {
            return Ok(plan);
        }
        let first = columns::position_key(from.saturating_add(1), &B256::ZERO);
        let last = columns::position_key(oldest, &B256::repeat_byte(0xff));
        database.visit_range(CHANGES, &first, Some(&last), |key, row| {
            let damaged = || StorageError::damaged_row(CHANGES, key, "cannot be decoded");
            let changes = ChangeSet::decode(row).ok_or_else(damaged)?;
            let (number, hash) = key.split_at_checked(8).ok_or_else(damaged)?;
            let entries = database.decoded(HEIGHTS, number, record::decode_heights)?.unwrap_or_default();
            match entries.iter().any(|entry| entry.is_main && entry.hash.as_slice() == hash) {
                true => plan.references.pass_set(&changes),
                false => plan.references.remove_set(&changes),
            }
            Ok(())
        })?;
        Ok(plan)
    }
}

impl KeptStates {
    /// Reads the marker of a database that was just opened: everything that its log had is on the disk.
    pub(crate) fn load(&self, database: &Database) -> Result<(), StorageError> {
        let number = |row: &[u8]| row.try_into().ok().map(u64::from_be_bytes);
        let oldest = database.decoded(META, OLDEST_STATE_KEY, number)?.unwrap_or_default();
        self.oldest.store(oldest, Ordering::SeqCst);
        self.written.store(oldest, Ordering::SeqCst);
        database.settings.dropped.raise(oldest);
        let first = database.decoded(META, FIRST_RECEIPTS_KEY, number)?.unwrap_or_default();
        self.first_receipts.store(first, Ordering::SeqCst);
        Ok(())
    }

    /// Returns the number of the first block whose receipts are stored.
    pub(crate) fn first_receipts(&self) -> u64 {
        self.first_receipts.load(Ordering::SeqCst)
    }

    /// Returns the number of the oldest block whose state is kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::SeqCst)
    }

    /// Fails if the state after a block is not kept. Readers call this after their reads.
    pub(crate) fn check(&self, number: u64) -> Result<(), StorageError> {
        let oldest = self.oldest();
        if number < oldest { Err(StorageError::StateNotKept { number, oldest }) } else { Ok(()) }
    }

    /// Writes the marker. Older states cannot be read from then on.
    pub(crate) fn raise(&self, database: &Database, plan: PruningPlan) -> Result<(), StorageError> {
        database.check_writable()?;
        let mut batch = WriteBatch::default();
        plan.references.add_to_batch(database, &mut batch)?;
        batch.put_cf(database.engine()?.column(META)?, OLDEST_STATE_KEY, plan.oldest.to_be_bytes());
        self.oldest.store(plan.oldest, Ordering::SeqCst);
        let written = database.write_batch(batch);
        match written {
            Ok(()) => self.written.store(plan.oldest, Ordering::SeqCst),
            // Nothing disappears.
            Err(_) => self.oldest.store(plan.from, Ordering::SeqCst),
        }
        written
    }

    /// Lets rows below the marker disappear, after the marker is on the disk.
    pub(crate) fn drop_rows(&self, database: &Database) -> Result<(), StorageError> {
        database.check_writable()?;
        let (written, engine) = (self.written.load(Ordering::SeqCst), database.engine()?);
        if !database.settings.is_temporary {
            let synced = engine.db.flush_wal(true);
            synced.map_err(|source| database.begin_fault(NodeFileError::Engine(source), PROBE_BYTES))?;
        }
        database.settings.dropped.raise(written);
        let last = columns::position_key(written, &B256::repeat_byte(0xff));
        let deleted = engine.db.delete_file_in_range_cf(engine.column(CHANGES)?, &[][..], &last[..]);
        deleted.map_err(|source| database.begin_fault(NodeFileError::Engine(source), PROBE_BYTES))
    }
}

/// Compacts the columns of the state, of changes and of history, which drops all rows below the marker and all rows that later
/// ones replace. `on_step` gets finished and planned steps, and returns false to end the compaction.
pub(crate) fn compact(database: &Database, mut on_step: impl FnMut(usize, usize) -> bool) -> Result<(), StorageError> {
    // Compactions that a damaged file has stopped count no more failures.
    database.write_probe()?;
    let failures = failures(database)?;
    let mut options = CompactOptions::default();
    options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    options.set_exclusive_manual_compaction(false);
    let mut ranges = Vec::new();
    for column in [CHANGES, HISTORY, TRIE, FLAT, VALUES] {
        let mut bounds = file_bounds(database, column)?;
        bounds.insert(0, None);
        let ends = bounds.iter().skip(1).cloned().chain([None]).collect::<Vec<_>>();
        ranges.extend(bounds.into_iter().zip(ends).map(|(start, end)| (column, start, end)));
    }
    let count = ranges.len();
    for (done, (column, start, end)) in ranges.into_iter().enumerate() {
        let engine = database.engine()?;
        engine.db.compact_range_cf_opt(engine.column(column)?, start.as_deref(), end.as_deref(), &options);
        check_compaction(database, column, failures)?;
        if !on_step(done + 1, count) {
            break;
        }
    }
    Ok(())
}

/// Returns the number of failed compactions. The engine counts a failure and does not return it.
fn failures(database: &Database) -> Result<u64, StorageError> {
    database.engine_number(META, properties::BACKGROUND_ERRORS)
}

/// Fails if a compaction has failed since the first of these numbers of failures.
fn check_compaction(database: &Database, column: &'static str, before: u64) -> Result<(), StorageError> {
    if failures(database)? == before {
        return Ok(());
    }
    let dir = database.dir();
    let source = format!("the column {column} could not be compacted ({DATABASE_FOLDER}/LOG has the reason)").into();
    if is_disk_full(dir, columns::STATE_FILE_BYTES as usize) {
        return Err(StorageError::DiskFull { dir: dir.to_path_buf(), source });
    }
    // After a damaged file, of this or of another column, writes fail with its name.
    database.write_probe()?;
    Err(StorageError::WriteFailed { dir: dir.to_path_buf(), source })
}

/// Returns keys that divide a column into ranges of some files each, in order.
fn file_bounds(database: &Database, column: &'static str) -> Result<Vec<Option<Vec<u8>>>, StorageError> {
    let files = database.engine()?.db.live_files();
    let files = files.map_err(|source| database.engine_error("list files", source))?;
    let keys = files.into_iter().filter(|file| file.column_family_name == column).filter_map(|file| file.start_key);
    let keys: Vec<Vec<u8>> = keys.collect::<BTreeSet<_>>().into_iter().collect();
    let step = keys.len().div_ceil(COMPACTION_STEPS).max(1);
    Ok(keys.into_iter().step_by(step).skip(1).map(Some).collect())
}
