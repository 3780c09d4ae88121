//! Probes of the free space on a disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Size of a probe for a write of unknown size, and the free space that reopening needs beyond the unwritten data.
pub(crate) const PROBE_BYTES: usize = 1 << 20;

/// Returns true if the disk has no room for `bytes`. RocksDB reports a full disk only as text, so the operating system
/// is asked.
pub(crate) fn is_disk_full(dir: &Path, bytes: usize) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    probe(dir, bytes).is_err_and(|error| full.contains(&error.kind()))
}

/// Writes and removes a probe file of `bytes` bytes.
pub(crate) fn probe(dir: &Path, bytes: usize) -> io::Result<()> {
    let path = dir.join("space.probe");
    let written = File::create(&path).and_then(|mut file| {
        let block = vec![0; 64 * 1024];
        for _ in 0..bytes / block.len() + 1 {
            file.write_all(&block)?;
        }
        file.sync_data()
    });
    let removed = fs::remove_file(&path);
    written.and(removed)
}
