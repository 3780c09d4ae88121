//! Sorted files with the rows of a state that comes from peers. They are written while the state arrives, and become part of the
//! database together (`takeover.rs`).

use std::path::{Path, PathBuf};

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::yield_processor;
use rocksdb::Cache;

use crate::change_set::StoredValue;
use crate::columns::{self, FLAT, TRIE, VALUES};
use crate::database::Database;
use crate::node_files::NodeFileError;
use crate::{StorageError, table_file};

/// Columns of a state.
pub(crate) const COLUMNS: [&str; 3] = [TRIE, FLAT, VALUES];
/// Approximate size of a row.
const ROW_BYTES: usize = 100;
/// Keys that are compared between two looks at the clock.
const COMPARED_AT_ONCE: usize = 64;

/// Rows of a part of a state, in any order.
#[derive(Debug, Default)]
pub struct StateRows {
    /// Trie nodes: row key of the position (see `NodePosition::row_key`) and message.
    pub nodes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Keys of the trie with their values, long ones included.
    pub entries: Vec<(Vec<u8>, Bytes)>,
    /// Long values by their Keccak hash.
    pub values: Vec<(B256, Vec<u8>)>,
}

/// Writes the rows as files of a folder, one for each column that has rows. Replaces files with the same name. A file that was not
/// written to its end is the caller's to notice.
pub(crate) fn write(database: &Database, folder: &Path, name: &str, rows: StateRows) -> Result<(), StorageError> {
    let StateRows { mut nodes, entries, mut values } = rows;
    let count = nodes.len() + entries.len() + values.len();
    let stored = |(key, value): (Vec<u8>, Bytes)| {
        yield_processor();
        (key, StoredValue::new(Some(&value)))
    };
    let mut flat: Vec<(Vec<u8>, StoredValue)> = entries.into_iter().map(stored).collect();
    sort_by_key(&mut nodes);
    sort_by_key(&mut flat);
    sort_by_key(&mut values);
    // Code that several contracts have.
    values.dedup_by(|a, b| a.0 == b.0);
    let write = || {
        let path = |column| state_file(folder, name, column);
        let cache = &database.settings.cache;
        write_table(cache, TRIE, &path(TRIE), nodes)?;
        write_table(cache, FLAT, &path(FLAT), flat)?;
        write_table(cache, VALUES, &path(VALUES), values)
    };
    write().map_err(|error| database.begin_fault(error, count * ROW_BYTES))
}

fn sort_by_key<K: Ord, V>(rows: &mut [(K, V)]) {
    let mut compared = 0_usize;
    rows.sort_unstable_by(|(one, _), (other, _)| {
        compared += 1;
        if compared.is_multiple_of(COMPARED_AT_ONCE) {
            yield_processor();
        }
        one.cmp(other)
    });
}

/// Drops each row after it is written: dropping all of them takes some milliseconds.
fn write_table<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    cache: &Cache,
    column: &'static str,
    path: &Path,
    rows: Vec<(K, V)>,
) -> Result<(), NodeFileError> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = rows.into_iter().inspect(|_| yield_processor());
    table_file::write(path, &columns::state_file_options(cache, column).map_err(NodeFileError::Engine)?, rows)
}

/// Makes the files with a name part of the database, and removes them from the folder.
pub(crate) fn ingest(database: &Database, folder: &Path, name: &str) -> Result<(), StorageError> {
    let engine = database.engine()?;
    for column in COLUMNS {
        let path = state_file(folder, name, column);
        // No rows, or an earlier attempt has ingested it.
        if !path.exists() {
            continue;
        }
        let ingested = table_file::ingest(&engine.db, engine.column(column)?, &path);
        ingested.map_err(|error| database.begin_fault(error, ROW_BYTES))?;
    }
    Ok(())
}

fn state_file(folder: &Path, name: &str, column: &str) -> PathBuf {
    folder.join(format!("{name}.{column}.sst"))
}
