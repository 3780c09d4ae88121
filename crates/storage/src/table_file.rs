//! Files with sorted rows that are written outside of the database and then become part of it.

use std::fs;
use std::io;
use std::path::Path;

use rocksdb::{ColumnFamily, DB, IngestExternalFileOptions, Options, SstFileWriter};

use crate::node_files::NodeFileError;

/// Writes rows, in the order of their keys, as a new file. Replaces a file with the same name.
pub(crate) fn write<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    path: &Path,
    options: &Options,
    mut rows: impl Iterator<Item = (K, V)>,
) -> Result<(), NodeFileError> {
    // A kill during an ingestion leaves this name on a file that is part of the database already. RocksDB would truncate that
    // file.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let mut table = SstFileWriter::create(options);
    let written = table.open(path).and_then(|()| {
        rows.try_for_each(|(key, row)| table.put(key, row))?;
        table.finish()
    });
    written.map_err(NodeFileError::Engine)
}

/// Makes a file part of a column, and removes its name.
pub(crate) fn ingest(db: &DB, column: &ColumnFamily, path: &Path) -> Result<(), NodeFileError> {
    let mut options = IngestExternalFileOptions::default();
    // RocksDB adds a second name to the file, then removes the first one.
    options.set_move_files(true);
    db.ingest_external_file_cf_opts(column, &options, vec![path]).map_err(NodeFileError::Engine)
}
