//! Layout, chain and node versions of a database, compared with the expected ones.

use std::fs;
use std::path::Path;

use rhizome_primitives::B256;
use rocksdb::{DB, Options, WriteBatch};

use crate::StorageError;
use crate::columns::{self, COUNTED_VALUES_KEY, IDENTITY_KEY, LAYOUT_KEY, META, NAMES, NODE_VERSIONS_KEY};
use crate::engine::{DATABASE_FOLDER, NODES_FOLDER, opening_error};
use crate::options::{ChainIdentity, NodeVersions};

/// Version of the layout of the columns.
pub const LAYOUT: u32 = 4;
/// File of a database that names its list of files. A new database has none.
pub(crate) const CURRENT_FILE: &str = "CURRENT";

/// Fails if the database folder of a data directory has files that opening it would spoil: RocksDB takes a folder without a list of files
/// for a new database and removes all others, and it adds columns to a database of another layout. With `is_read_only` a database whose
/// creation was interrupted is no chain.
pub(crate) fn check_folder(
    dir: &Path,
    expected: &ChainIdentity,
    node_versions: NodeVersions,
    is_read_only: bool,
) -> Result<(), StorageError> {
    let folder = dir.join(DATABASE_FOLDER);
    let damaged = |what: String| StorageError::Damaged { dir: dir.to_path_buf(), source: what.into() };
    if !has_list(dir)? {
        return Ok(());
    }
    let options = Options::default();
    // A damaged list fails the opening, too.
    let Ok(names) = DB::list_cf(&options, &folder) else { return Ok(()) };
    let unknown = names.iter().find(|name| !NAMES.contains(&name.as_str()));
    if unknown.is_none() && names.len() == NAMES.len() {
        return Ok(());
    }
    let db = DB::open_cf_for_read_only(&options, folder, [META], false);
    let db = db.map_err(|source| opening_error(dir, source, 0))?;
    match (stored_identity(&db)?, unknown) {
        (Some(found), _) => compare(&db, dir, &found, expected, node_versions),
        // A kill interrupted the making of the columns.
        (None, None) if is_read_only => Err(StorageError::NoChain { dir: dir.to_path_buf() }),
        (None, None) => Ok(()),
        (None, Some(unknown)) => Err(damaged(format!("it has a column {unknown}, and no identity"))),
    }
}

/// Returns whether a data directory has a database. Fails if it has files of one, but not the list of them.
pub(crate) fn has_list(dir: &Path) -> Result<bool, StorageError> {
    let folder = dir.join(DATABASE_FOLDER);
    if folder.join(CURRENT_FILE).exists() {
        return Ok(true);
    }
    match file_with_data(&folder).or_else(|| file_with_data(&folder.join(NODES_FOLDER))) {
        Some(file) => {
            let source = format!("{DATABASE_FOLDER}/{CURRENT_FILE} is missing, but not {file}").into();
            Err(StorageError::Damaged { dir: dir.to_path_buf(), source })
        }
        None => Ok(false),
    }
}

/// Returns the name of a file of rows or nodes in a folder.
fn file_with_data(folder: &Path) -> Option<String> {
    let has_data = |name: &String| [".sst", ".log", ".data"].iter().any(|ending| name.ends_with(ending));
    fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).find(has_data)
}

/// Reads layout and identity of a database, `None` if it is new.
pub(crate) fn stored_identity(db: &DB) -> Result<Option<(u32, ChainIdentity)>, StorageError> {
    let (Some(layout), Some(identity)) = (identity_row(db, LAYOUT_KEY)?, identity_row(db, IDENTITY_KEY)?) else {
        return Ok(None);
    };
    let damaged = |what| StorageError::Row { column: columns::META, key: String::new(), what };
    let layout = u32::from_be_bytes(layout.try_into().map_err(|_length| damaged("layout"))?);
    match identity.split_first() {
        Some((chain_id, genesis)) if genesis.len() == 32 => {
            Ok(Some((layout, ChainIdentity { chain_id: *chain_id, genesis: B256::from_slice(genesis) })))
        }
        _ => Err(damaged("identity")),
    }
}

/// Reads the versions of trie nodes of a database.
pub(crate) fn stored_versions(db: &DB) -> Result<NodeVersions, StorageError> {
    let row = identity_row(db, NODE_VERSIONS_KEY)?;
    let is_current = row.as_deref() == Some(NodeVersions::Current.row());
    Ok(if is_current { NodeVersions::Current } else { NodeVersions::All })
}

fn identity_row(db: &DB, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
    db.get(key).map_err(|source| StorageError::Engine { operation: "read the identity", source })
}

/// Compares the identity in the database with the expected one. A new database gets the expected one, unless it `is_read_only`.
pub(crate) fn check_identity(
    db: &DB,
    dir: &Path,
    expected: &ChainIdentity,
    node_versions: NodeVersions,
    is_read_only: bool,
) -> Result<(), StorageError> {
    let Some(found) = stored_identity(db)? else {
        if is_read_only {
            return Err(StorageError::NoChain { dir: dir.to_path_buf() });
        }
        let mut batch = WriteBatch::default();
        batch.put(LAYOUT_KEY, LAYOUT.to_be_bytes());
        let mut identity = vec![expected.chain_id];
        identity.extend_from_slice(expected.genesis.as_slice());
        batch.put(IDENTITY_KEY, identity);
        batch.put(NODE_VERSIONS_KEY, node_versions.row());
        if node_versions == NodeVersions::Current {
            batch.put(COUNTED_VALUES_KEY, []);
        }
        return db.write(batch).map_err(|source| StorageError::Engine { operation: "write the identity", source });
    };
    compare(db, dir, &found, expected, node_versions)
}

fn compare(
    db: &DB,
    dir: &Path,
    (layout, found): &(u32, ChainIdentity),
    expected: &ChainIdentity,
    node_versions: NodeVersions,
) -> Result<(), StorageError> {
    if *layout != LAYOUT {
        return Err(StorageError::WrongLayout { dir: dir.to_path_buf(), expected: LAYOUT, found: *layout });
    }
    if found != expected {
        let (dir, expected, found) = (dir.to_path_buf(), expected.clone(), found.clone());
        return Err(StorageError::WrongChain { dir, expected, found });
    }
    let found = stored_versions(db)?;
    if found != node_versions {
        let dir = dir.to_path_buf();
        return Err(StorageError::WrongNodeVersions { dir, expected: node_versions, found });
    }
    Ok(())
}
