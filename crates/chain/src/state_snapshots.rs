//! Read-only copies of the state at agreed heights, which peers download (docs/spec/p2p.md, 10).
//!
//! A snapshot is a checkpoint of the database (hard links) whose trie was moved to its block by change sets, in parts that are flushed
//! there one by one; its other columns are emptied. The importer takes no part in it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rhizome_primitives::{B256, Bytes};
use rhizome_storage::{ChainIdentity, CurrentNodes, Durability, FlushedTrie, NodeVersions, Store, StoreOptions};
use rhizome_trie::snap_chunk::{BuiltChunk, CHUNK_SIZE, build_chunk};
use rhizome_trie::{NodePosition, NodeSource, SourceError, SourceNode, Trie, WantedNode};

use crate::archive::Archive;
use crate::archive::derived_trie::{apply_difference, read_changes};
use crate::archive::record::BlockRecord;
use crate::config::SnapshotHeights;
use crate::error::ChainError;
use crate::head::publisher::HeadPublisher;
use crate::upkeep::UpkeepTask;

/// Folder of the snapshots in the data directory.
const FOLDER: &str = "snapshots";
/// Folder of the snapshot that is being made, in that folder.
const UNFINISHED: &str = "unfinished";
/// Number of snapshots that are kept.
const KEPT: usize = 2;
/// Memory and files of an open snapshot.
const CACHE_BYTES: usize = 8 << 20;
const WRITE_BUFFER_BYTES: usize = 8 << 20;
const MAX_OPEN_FILES: i32 = 256;
/// Changes that are applied at once to the trie of a copy. In between the thread may end: they read ten nodes each.
const CHANGES_AT_ONCE: usize = 1024;
/// Changed keys after which the trie of a copy is flushed, and nodes of it that stay in memory then.
const FLUSHED_KEYS: usize = 8192;
const KEPT_NODES: usize = 1 << 17;
/// Time between two looks at the head.
const PAUSE: Duration = Duration::from_secs(1);
/// Time before a snapshot that could not be made is tried again.
const RETRY: Duration = Duration::from_secs(60);

/// The state after a block, unchanged while it is held.
pub struct StateSnapshot {
    number: u64,
    hash: B256,
    root: B256,
    nodes: Arc<dyn NodeSource>,
    /// Present if the nodes are those of a folder; absent if they are found by hash in the database.
    folder: Option<Arc<SnapshotFolder>>,
}

impl StateSnapshot {
    /// Returns the snapshot of a block of a directory with all versions of nodes.
    pub(crate) fn with_all_versions(archive: &Archive, record: &BlockRecord) -> Self {
        let (number, hash, root) = (record.number(), record.hash, record.state_root);
        Self { number, hash, root, nodes: Arc::clone(archive.trie(root).source()), folder: None }
    }

    /// Returns number and hash of the block.
    pub fn block(&self) -> (u64, B256) {
        (self.number, self.hash)
    }

    /// Returns the state root.
    pub fn root(&self) -> B256 {
        self.root
    }

    /// Opens the trie. Its nodes are read from the disk, and kept in memory until it is dropped.
    pub fn trie(&self) -> Trie {
        match self.folder {
            Some(_) => Trie::open_by_position(self.root, Arc::clone(&self.nodes)),
            None => Trie::open(self.root, Arc::clone(&self.nodes)),
        }
    }

    /// Returns the chunk of snap synchronization that starts at a byte offset; `None` beyond the end of the trie.
    pub fn chunk(&self, from: u64) -> Result<Option<BuiltChunk>, ChainError> {
        Ok(build_chunk(&self.trie(), from, from.saturating_add(CHUNK_SIZE))?)
    }
}

/// Folder of a snapshot. Removed with the last reader of a snapshot that is not wanted any more.
struct SnapshotFolder {
    path: PathBuf,
    is_obsolete: AtomicBool,
}

/// The nodes of a snapshot.
struct SnapshotNodes {
    /// Present until the drop: the database is closed before its folder is removed.
    nodes: Option<CurrentNodes>,
    folder: Arc<SnapshotFolder>,
}

impl NodeSource for SnapshotNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.nodes.as_ref().map_or(Ok(None), |nodes| nodes.get(hash))
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.nodes.as_ref().map_or(Ok(None), |nodes| nodes.node(wanted))
    }

    fn nodes_below(&self, position: NodePosition<'_>, wanted: &B256) -> Result<Vec<Bytes>, SourceError> {
        self.nodes.as_ref().map_or(Ok(Vec::new()), |nodes| nodes.nodes_below(position, wanted))
    }
}

impl Drop for SnapshotNodes {
    fn drop(&mut self) {
        self.nodes = None;
        if self.folder.is_obsolete.load(Ordering::Acquire) {
            // A rest is removed at the next start.
            drop(fs::remove_dir_all(&self.folder.path));
        }
    }
}

/// The snapshots that are kept, highest first.
type KeptSnapshots = Mutex<Vec<Arc<StateSnapshot>>>;

/// The thread that makes and removes snapshots. Ends when it is dropped.
pub(crate) struct SnapshotMaker {
    kept: Arc<KeptSnapshots>,
    /// Present until the thread is to end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SnapshotMaker {
    /// Starts the thread for a data directory with current nodes.
    pub(crate) fn start(work: SnapshotWork) -> Result<Self, ChainError> {
        let kept = Arc::clone(&work.kept);
        let (stop, stopped) = channel();
        let run = move || {
            let mut work = work;
            work.open_existing();
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                work.step(&stopped);
            }
        };
        let thread = thread::Builder::new().name("store-snapshots".into()).spawn(run);
        let thread = Some(thread.map_err(|source| ChainError::Thread { source })?);
        Ok(Self { kept, stop: Some(stop), thread })
    }

    /// Returns the snapshots, highest first.
    pub(crate) fn snapshots(&self) -> Vec<Arc<StateSnapshot>> {
        self.kept.lock().clone()
    }
}

impl Drop for SnapshotMaker {
    /// Waits until the thread has ended: it holds databases open.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            drop(thread.join());
        }
    }
}

/// Work of the thread.
pub(crate) struct SnapshotWork {
    folder: PathBuf,
    heights: SnapshotHeights,
    archive: Arc<Archive>,
    publisher: Arc<HeadPublisher>,
    identity: ChainIdentity,
    options: StoreOptions,
    kept: Arc<KeptSnapshots>,
    /// Blocks whose snapshot could not be made, with the time of the last attempt.
    failed: HashMap<B256, Instant>,
}

impl SnapshotWork {
    pub(crate) fn new(
        dir: &Path,
        heights: SnapshotHeights,
        archive: Arc<Archive>,
        publisher: Arc<HeadPublisher>,
    ) -> Self {
        let identity = archive.store.identity().clone();
        let (folder, kept) = (dir.join(FOLDER), Arc::default());
        let options = StoreOptions {
            cache_bytes: CACHE_BYTES,
            write_buffer_bytes: WRITE_BUFFER_BYTES,
            max_open_files: MAX_OPEN_FILES,
            node_versions: NodeVersions::Current,
            durability: Durability::Process,
            ..StoreOptions::default()
        };
        Self { folder, heights, archive, publisher, identity, options, kept, failed: HashMap::new() }
    }

    /// Opens the snapshots of earlier runs and removes all other files.
    fn open_existing(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            match self.open(&path) {
                Ok(Some(snapshot)) => self.kept.lock().push(snapshot),
                // It is made again.
                Ok(None) | Err(_) => drop(fs::remove_dir_all(&path)),
            }
        }
    }

    /// Opens a finished snapshot; `None` for another folder.
    fn open(&self, path: &Path) -> Result<Option<Arc<StateSnapshot>>, ChainError> {
        if path.file_name().is_none_or(|name| name == UNFINISHED) {
            return Ok(None);
        }
        let store = Arc::new(Store::open(path, &self.identity, &self.options)?);
        let Some(FlushedTrie { number, hash, root }) = store.flushed_trie()? else { return Ok(None) };
        let folder = Arc::new(SnapshotFolder { path: path.to_path_buf(), is_obsolete: AtomicBool::new(false) });
        let nodes = SnapshotNodes { nodes: Some(CurrentNodes::new(&store)), folder: Arc::clone(&folder) };
        Ok(Some(Arc::new(StateSnapshot { number, hash, root, nodes: Arc::new(nodes), folder: Some(folder) })))
    }

    /// Makes the snapshots that are missing and whose states are kept, and removes the other ones. A failed one is tried again later.
    fn step(&mut self, stopped: &Receiver<()>) {
        let head = self.publisher.head().number();
        for number in self.heights.latest(head).take(KEPT) {
            let Ok(Some(record)) = self.archive.main_record(number) else { continue };
            let is_kept = self.kept.lock().iter().any(|snapshot| snapshot.hash == record.hash);
            let is_late = self.failed.get(&record.hash).is_some_and(|failed| failed.elapsed() < RETRY);
            let is_below_history = number < self.archive.store.oldest_state();
            if is_kept || is_late || is_below_history {
                continue;
            }
            match self.make(&record, stopped) {
                Ok(snapshot) => {
                    self.failed.remove(&record.hash);
                    self.kept.lock().extend(snapshot);
                }
                Err(_) if is_stopped(stopped) => return,
                Err(error) => {
                    let failure = format!("block {number}: {error}");
                    self.archive.upkeep.note_attempt(UpkeepTask::Snapshots, Some(&failure));
                    self.failed.insert(record.hash, Instant::now());
                }
            }
        }
        self.failed.retain(|_, failed| failed.elapsed() < 2 * RETRY);
        if self.failed.is_empty() {
            self.archive.upkeep.note_attempt(UpkeepTask::Snapshots, None);
        }
        self.remove_old();
    }

    /// Keeps the highest snapshots of blocks of the best chain.
    fn remove_old(&self) {
        let is_main = |snapshot: &StateSnapshot| self.archive.is_main(snapshot.number, &snapshot.hash).unwrap_or(true);
        let mut kept = self.kept.lock();
        let (mut main, mut old): (Vec<_>, Vec<_>) = kept.drain(..).partition(|snapshot| is_main(snapshot));
        main.sort_by_key(|snapshot| Reverse(snapshot.number));
        old.extend(main.split_off(main.len().min(KEPT)));
        *kept = main;
        for folder in old.iter().filter_map(|snapshot| snapshot.folder.as_ref()) {
            folder.is_obsolete.store(true, Ordering::Release);
        }
    }

    /// Makes the snapshot of a block of the best chain, whose state must be kept.
    fn make(
        &self,
        record: &Arc<BlockRecord>,
        stopped: &Receiver<()>,
    ) -> Result<Option<Arc<StateSnapshot>>, ChainError> {
        let unfinished = self.folder.join(UNFINISHED);
        remove_folder(&unfinished)?;
        fs::create_dir_all(&unfinished)?;
        self.archive.store.copy_to(&unfinished)?;
        let moved = self.move_copy(&unfinished, record, stopped);
        moved.map_err(|error| self.archive.state_failure(record.number(), error))?;
        let path = self.folder.join(format!("{}-{:x}", record.number(), record.hash));
        remove_folder(&path)?;
        fs::rename(&unfinished, &path)?;
        self.open(&path)
    }

    /// Moves the trie of a copy of the database to a block. Fails once the thread is to end.
    fn move_copy(&self, folder: &Path, record: &Arc<BlockRecord>, stopped: &Receiver<()>) -> Result<(), ChainError> {
        Store::empty_all_but_trie(folder, &self.options)?;
        let copy = Arc::new(Store::open(folder, &self.identity, &self.options)?);
        let Some(flushed) = copy.flushed_trie()? else { return Ok(()) };
        let mut trie = Trie::open_by_position(flushed.root, Arc::new(CurrentNodes::new(&copy)));
        let from = self.archive.known_record(&flushed.hash)?;
        let flush = |trie: &mut Trie| {
            // The copy has no name before it is at the block.
            let at = FlushedTrie { number: record.number(), hash: record.hash, root: trie.root_hash() };
            copy.flush_trie(trie.flush(), at)
        };
        let rest = read_changes(&self.archive, &from, record, |part| {
            if is_stopped(stopped) {
                return Err(ChainError::ImporterStopped);
            }
            if part.len() >= CHANGES_AT_ONCE {
                mem::take(part).apply_to(&mut trie)?;
            }
            if trie.changed_keys() >= FLUSHED_KEYS {
                flush(&mut trie)?;
                trie.evict(KEPT_NODES);
            }
            Ok(())
        })?;
        apply_difference(&mut trie, &rest, record)?;
        flush(&mut trie)?;
        Ok(copy.flush()?)
    }
}

/// Whether the thread is to end.
fn is_stopped(stopped: &Receiver<()>) -> bool {
    stopped.try_recv() == Err(TryRecvError::Disconnected)
}

/// Removes the snapshots of a data directory, which no chain has open.
pub(crate) fn remove_all(dir: &Path) -> io::Result<()> {
    remove_folder(&dir.join(FOLDER))
}

/// Returns the size of the files of all snapshots that only snapshots have, in bytes.
pub(crate) fn disk_bytes(dir: &Path) -> u64 {
    let (mut bytes, mut shared, mut pending) = (0, HashMap::new(), vec![dir.join(FOLDER)]);
    while let Some(folder) = pending.pop() {
        // Folders and files may vanish meanwhile.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                pending.push(entry.path());
                continue;
            }
            let Some((file, links)) = links_of(&found) else {
                bytes += found.len();
                continue;
            };
            let seen: &mut u64 = shared.entry(file).or_default();
            *seen += 1;
            bytes += if *seen == links { found.len() } else { 0 };
        }
    }
    bytes
}

/// Returns the number of a file and that of its names; `None` on systems without these numbers.
#[cfg(unix)]
fn links_of(file: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((file.ino(), file.nlink()))
}

#[cfg(not(unix))]
fn links_of(_file: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
