//! Reads groups of blocks from several archives ahead of their import, and returns them in order.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rhizome_blobs::BlobError;

use crate::error::ArchiveError;
use crate::index::{BLOCKS_PER_GROUP, PartKind};
use crate::open_archive::{BlockGroup, OpenArchive};

/// Downloads from one archive at a time.
const DOWNLOADS_PER_ARCHIVE: usize = 2;
/// Most downloads at a time.
const MAX_DOWNLOADS: usize = 8;
/// Groups that are downloaded or wait for their import.
const GROUPS_AHEAD: u64 = 16;
/// Memory for groups ahead of the next one, in bytes.
const BYTES_AHEAD: u64 = 256 << 20;
/// Consecutive failures after which an archive is not read further.
const MAX_FAILURES: u32 = 3;
/// Time after which the group that the import waits for is read from another archive as well.
const PATIENCE: Duration = Duration::from_secs(3);
/// Interval between two questions whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(200);
/// Parts that an import needs: it makes the receipts itself.
const PARTS: [PartKind; 3] = [PartKind::Headers, PartKind::Bodies, PartKind::Difficulties];

/// Downloads of the groups from one block to another.
pub(crate) struct Downloads<'a> {
    sources: Vec<DownloadSource<'a>>,
    /// Number of the last block.
    last: u64,
    progress: Mutex<DownloadProgress>,
    changed: Condvar,
}

struct DownloadSource<'a> {
    archive: &'a OpenArchive,
    /// Consecutive failures.
    failures: AtomicU32,
    /// Failure after which it is not read further.
    fault: OnceLock<ArchiveError>,
}

struct DownloadProgress {
    /// Next group to download.
    claimed: u64,
    /// Next group to return.
    next: u64,
    /// Bytes of the groups that are downloaded or wait.
    bytes: u64,
    ready: BTreeMap<u64, (u64, Result<BlockGroup, ArchiveError>)>,
    /// Reads that have not ended: group, preferred archive, start. At most two for each thread.
    reads: Vec<(u64, usize, Instant)>,
    is_stopped: bool,
}

impl DownloadProgress {
    /// Claims the group that the import waits for if all reads of it take long and none prefers this archive.
    fn claim_overdue(&mut self, preferred: usize) -> Option<u64> {
        let group = self.next;
        let keeps = |read: &(u64, usize, Instant)| read.1 == preferred || read.2.elapsed() < PATIENCE;
        if self.ready.contains_key(&group) || self.reads.iter().any(|read| read.0 == group && keeps(read)) {
            return None;
        }
        self.reads.push((group, preferred, Instant::now()));
        Some(group)
    }
}

impl<'a> Downloads<'a> {
    /// Prepares the download of blocks `first` to `last`, extended to the start of the group of `first`.
    pub(crate) fn new(archives: &[&'a OpenArchive], first: u64, last: u64) -> Self {
        let first = first / BLOCKS_PER_GROUP;
        let source =
            |archive: &&'a OpenArchive| DownloadSource { archive, failures: AtomicU32::new(0), fault: OnceLock::new() };
        Self {
            sources: archives.iter().map(source).collect(),
            last,
            progress: Mutex::new(DownloadProgress {
                claimed: first,
                next: first,
                bytes: 0,
                ready: BTreeMap::new(),
                reads: Vec::new(),
                is_stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Starts the threads. They end after the last group, or when [`Downloads::stop`] is called.
    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let threads = (self.sources.len() * DOWNLOADS_PER_ARCHIVE).min(MAX_DOWNLOADS);
        for thread in 0..threads {
            scope.spawn(move || self.work(thread % self.sources.len()));
        }
    }

    /// Ends the threads and their downloads. The archives cannot be read until they are resumed.
    pub(crate) fn stop(&self) {
        self.progress.lock().is_stopped = true;
        self.sources.iter().for_each(|source| source.archive.cancel());
        self.changed.notify_all();
    }

    /// Waits for the next group. `None` behind the last one, and once `is_stopped`.
    pub(crate) fn next(&self, is_stopped: &dyn Fn() -> bool) -> Option<Result<BlockGroup, ArchiveError>> {
        let mut progress = self.progress.lock();
        loop {
            let next = progress.next;
            if next > self.last / BLOCKS_PER_GROUP || is_stopped() {
                return None;
            }
            if let Some((bytes, group)) = progress.ready.remove(&next) {
                progress.bytes = progress.bytes.saturating_sub(bytes);
                progress.next += 1;
                drop(progress);
                self.changed.notify_all();
                return Some(group);
            }
            self.changed.wait_for(&mut progress, STOP_CHECK);
        }
    }

    /// Returns, of each archive that was not read to the end, the failure that ended it.
    pub(crate) fn into_faults(self) -> Vec<ArchiveError> {
        self.sources.into_iter().filter_map(|source| source.fault.into_inner()).collect()
    }

    fn work(&self, preferred: usize) {
        while let Some(group) = self.claim(preferred) {
            self.fetch(group, preferred);
        }
    }

    /// Reads a claimed group. The first of several reads of a group counts, a failure only if no other one runs.
    fn fetch(&self, group: u64, preferred: usize) {
        let (bytes, read) = self.read(group, preferred);
        let mut progress = self.progress.lock();
        if let Some(ended) = progress.reads.iter().position(|read| (read.0, read.1) == (group, preferred)) {
            progress.reads.swap_remove(ended);
        }
        let is_late = group < progress.next || progress.ready.contains_key(&group);
        if is_late || (read.is_err() && progress.reads.iter().any(|other| other.0 == group)) {
            progress.bytes = progress.bytes.saturating_sub(bytes);
        } else {
            // Bytes that were announced before the download are counted already.
            progress.ready.insert(group, (bytes, read));
        }
        drop(progress);
        self.changed.notify_all();
    }

    /// Returns the next group to read. `None` when all were returned, or after a stop.
    fn claim(&self, preferred: usize) -> Option<u64> {
        let mut progress = self.progress.lock();
        loop {
            let group = progress.claimed;
            let last = self.last / BLOCKS_PER_GROUP;
            if progress.is_stopped || progress.next > last {
                return None;
            }
            if group <= last && group < progress.next + GROUPS_AHEAD {
                progress.claimed += 1;
                progress.reads.push((group, preferred, Instant::now()));
                return Some(group);
            }
            if let Some(overdue) = progress.claim_overdue(preferred) {
                return Some(overdue);
            }
            self.changed.wait_for(&mut progress, STOP_CHECK);
        }
    }

    /// Reads a group from the preferred archive, or from another archive. Returns it with the bytes that were counted.
    fn read(&self, group: u64, preferred: usize) -> (u64, Result<BlockGroup, ArchiveError>) {
        let first = group * BLOCKS_PER_GROUP;
        let last = self.last.min(first + BLOCKS_PER_GROUP - 1);
        let mut faults = Vec::new();
        let (before, from) = self.sources.split_at(preferred.min(self.sources.len()));
        for source in from.iter().chain(before) {
            // Archives that end below the others lack the last groups, or have them incomplete.
            let is_covered = source.archive.manifest().last() >= Some(last);
            if !is_covered || source.fault.get().is_some() {
                continue;
            }
            match self.read_from(source, group, last, preferred) {
                Ok(read) => {
                    source.failures.store(0, Ordering::Relaxed);
                    return (read.0, Ok(read.1));
                }
                // The import was stopped.
                Err(error @ ArchiveError::Blob(BlobError::Cancelled { .. })) => faults.push(error),
                Err(error) => {
                    let failures = source.failures.fetch_add(1, Ordering::Relaxed) + 1;
                    let is_given_up = error.is_lasting() || failures >= MAX_FAILURES;
                    faults.extend(if is_given_up { source.fault.set(error).err() } else { Some(error) });
                }
            }
        }
        (0, Err(ArchiveError::Unavailable { first, last, faults }))
    }

    fn read_from(
        &self,
        source: &DownloadSource<'_>,
        group: u64,
        last: u64,
        preferred: usize,
    ) -> Result<(u64, BlockGroup), ArchiveError> {
        let first = group * BLOCKS_PER_GROUP;
        let missing = || ArchiveError::damaged(source.archive.name(), format!("has no block {first}"));
        let file = source.archive.file_of(first)?.ok_or_else(missing)?;
        let in_file = (first - file.index.first) / BLOCKS_PER_GROUP;
        let bytes = file.group_bytes(in_file);
        self.reserve(group, bytes, preferred);
        match file.group(in_file, &PARTS) {
            Ok(mut read) => {
                // Another archive may end higher in this group.
                read.blocks.truncate(usize::try_from(last - first + 1).unwrap_or(usize::MAX));
                Ok((bytes, read))
            }
            Err(error) => {
                self.release(bytes);
                Err(error)
            }
        }
    }

    /// Waits until there is memory for a group. A group that the import waits for, or has, never waits.
    fn reserve(&self, group: u64, bytes: u64, preferred: usize) {
        let mut progress = self.progress.lock();
        while !progress.is_stopped && group > progress.next && progress.bytes + bytes > BYTES_AHEAD {
            // The groups ahead have the memory, and a slow archive reads the next group.
            if let Some(overdue) = progress.claim_overdue(preferred) {
                MutexGuard::unlocked(&mut progress, || self.fetch(overdue, preferred));
            } else {
                self.changed.wait_for(&mut progress, STOP_CHECK);
            }
        }
        progress.bytes += bytes;
    }

    fn release(&self, bytes: u64) {
        let mut progress = self.progress.lock();
        progress.bytes = progress.bytes.saturating_sub(bytes);
        drop(progress);
        self.changed.notify_all();
    }
}
