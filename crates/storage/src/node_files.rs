//! The files that hold the trie's nodes, and the lists of where each one lies.
//!
//! Nodes are never changed and never deleted, so their bytes are appended to a file as they come and stay there. Only
//! the lists (`node_index.rs`) are sorted, and merged so that there are few of them: 16 bytes a node are moved
//! a few times, its message never.
//!
//! Which files count, and up to which byte, is one row of the database. It changes in one batch with the deletion of
//! the packs whose nodes have been filed, after everything that it names has reached the disk. What a crash leaves
//! besides is overwritten or removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::NodeBatch;
use rocksdb::{ColumnFamily, DB, WriteBatch, WriteOptions};

use crate::columns::{NODE_FILES_KEY, NODES, PACKS};
use crate::node_index::{Entry, NodeIndex, Place, damaged, merged, prefix};
use crate::positioned::PositionedFile;

/// Lists of one level that become one of the next.
const LISTS_A_LEVEL: usize = 4;
/// A file with so many bytes takes no more. A quarter of what a place can address: what is filed at a time always fits.
const FULL_BYTES: u32 = 1 << 30;
const BUFFER_BYTES: usize = 1 << 20;
const DATA: &str = "data";
const INDEX: &str = "index";

/// The node files of a database. Reads are free of locks but for a moment; one thread adds, one merges.
pub(crate) struct NodeFiles {
    db: Arc<DB>,
    dir: PathBuf,
    is_temporary: bool,
    /// What readers go by.
    contents: RwLock<Arc<Contents>>,
    /// Held while the contents change.
    change: Mutex<()>,
    next_list: AtomicU64,
    is_closing: AtomicBool,
}

/// What counts.
#[derive(Clone, Default)]
struct Contents {
    data: Vec<Arc<File>>,
    /// Bytes of the last file that count.
    end: u32,
    lists: Vec<List>,
}

#[derive(Clone)]
struct List {
    number: u64,
    level: u8,
    index: Arc<NodeIndex>,
}

/// Why nodes were not filed.
#[derive(Debug)]
pub(crate) enum FilingError {
    Engine(rocksdb::Error),
    File(io::Error),
}

impl From<io::Error> for FilingError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl NodeFiles {
    /// Opens the files in a folder of their own, and removes what an interrupted run left there.
    pub(crate) fn open(db: &Arc<DB>, dir: PathBuf, is_temporary: bool) -> Result<Self, FilingError> {
        fs::create_dir_all(&dir)?;
        let column = db.cf_handle(NODES).ok_or_else(|| damaged("a column of nodes is missing"))?;
        let row = db.get_cf(column, NODE_FILES_KEY).map_err(FilingError::Engine)?;
        let contents = row.map_or_else(|| Ok(Contents::default()), |row| Contents::open(&dir, &row))?;
        remove_leftovers(&dir, &contents)?;
        let next_list = contents.lists.iter().map(|list| list.number + 1).max().unwrap_or_default();
        Ok(Self {
            db: Arc::clone(db),
            dir,
            is_temporary,
            contents: RwLock::new(Arc::new(contents)),
            change: Mutex::default(),
            next_list: AtomicU64::new(next_list),
            is_closing: AtomicBool::new(false),
        })
    }

    /// A node by its hash.
    pub(crate) fn get(&self, hash: &B256) -> io::Result<Option<Bytes>> {
        let contents = self.contents();
        for list in contents.lists.iter().rev() {
            for entry in list.index.find(hash.as_slice())? {
                let message = contents.read(entry.place())?;
                let found = keccak256(&message);
                if found == *hash {
                    return Ok(Some(message.into()));
                }
                // Two hashes may begin alike.
                if prefix(found.as_slice()) != prefix(hash.as_slice()) {
                    return Err(damaged("a node is not what it was"));
                }
            }
        }
        Ok(None)
    }

    /// Files the nodes of packs, and deletes the packs. One thread at a time.
    pub(crate) fn add<'a>(&self, packs: impl Iterator<Item = (u64, &'a NodeBatch)> + Clone) -> Result<(), FilingError> {
        let Contents { mut data, mut end, .. } = Contents::clone(&self.contents());
        if data.is_empty() || end >= FULL_BYTES {
            let path = data_path(&self.dir, data.len());
            data.push(Arc::new(File::options().create(true).truncate(true).read(true).write(true).open(path)?));
            end = 0;
        }
        let (Some(file), Ok(number)) = (data.last(), u16::try_from(data.len() - 1)) else {
            return Err(damaged("there are too many nodes").into());
        };
        let count = packs.clone().map(|(_, nodes)| nodes.len()).sum();
        let mut entries = Vec::with_capacity(count);
        let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
        let mut written = end;
        for (_, nodes) in packs.clone() {
            for node in nodes.iter() {
                // The trie refuses values of more than 2^24 - 1 bytes.
                let place = Place { file: number, offset: end, length: node.message.len() as u32 };
                entries.push(Entry::new(node.hash.as_slice(), place));
                end = end.checked_add(place.length).ok_or_else(|| damaged("too many nodes at a time"))?;
            }
            buffer.extend_from_slice(nodes.messages());
            if buffer.len() >= BUFFER_BYTES {
                file.write_all_at(&buffer, written.into())?;
                written = end;
                buffer.clear();
            }
        }
        file.write_all_at(&buffer, written.into())?;
        if !self.is_temporary {
            file.sync_data()?;
        }
        entries.sort_unstable();
        let list = self.write_list(0, entries.len() as u64, entries.into_iter().map(Ok))?;
        let mut batch = WriteBatch::default();
        let column = self.column(PACKS)?;
        packs.for_each(|(sequence, _)| batch.delete_cf(column, sequence.to_be_bytes()));
        self.change(batch, false, |contents| {
            contents.data = data;
            contents.end = end;
            contents.lists.push(list);
        })
    }

    /// Makes one list of several of a level, if there are enough.
    pub(crate) fn merge(&self) -> Result<(), FilingError> {
        let contents = self.contents();
        let Some((level, parts)) = contents.mergeable() else { return Ok(()) };
        let indexes: Vec<&NodeIndex> = parts.iter().map(|list| &*list.index).collect();
        let count = indexes.iter().map(|index| index.count()).sum();
        let entries = merged(&indexes)?.map(|entry| match self.is_closing.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => entry,
        });
        let merged = match self.write_list(level.saturating_add(1), count, entries) {
            // What is left is removed at the next start.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            merged => merged?,
        };
        let numbers: Vec<u64> = parts.iter().map(|list| list.number).collect();
        // The new row must be on the disk before the files are gone that the old one names.
        self.change(WriteBatch::default(), true, |contents| {
            contents.lists.retain(|list| !numbers.contains(&list.number));
            // Older than those which came meanwhile, but the order is of no importance.
            contents.lists.push(merged);
        })?;
        for number in numbers {
            fs::remove_file(list_path(&self.dir, number))?;
        }
        Ok(())
    }

    /// Whether nobody will open the files again.
    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Whether there is something to merge.
    pub(crate) fn can_merge(&self) -> bool {
        self.contents().mergeable().is_some()
    }

    /// Lets a merge that is under way come to its end soon, without a result.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Makes a copy of the database by `copy`, and then one of the files that belong to it, in `dir`.
    pub(crate) fn checkpoint(
        &self,
        dir: &Path,
        copy: impl FnOnce() -> Result<(), rocksdb::Error>,
    ) -> Result<(), FilingError> {
        let _unchanged = self.change.lock();
        let contents = self.contents();
        copy().map_err(FilingError::Engine)?;
        fs::create_dir_all(dir)?;
        for list in &contents.lists {
            fs::hard_link(list.index.path(), list_path(dir, list.number))?;
        }
        let Some(last) = contents.data.len().checked_sub(1) else { return Ok(()) };
        for number in 0..last {
            fs::hard_link(data_path(&self.dir, number), data_path(dir, number))?;
        }
        // The last one will grow, here and there.
        let mut original = io::Read::take(File::open(data_path(&self.dir, last))?, contents.end.into());
        let mut copied = File::create(data_path(dir, last))?;
        io::copy(&mut original, &mut copied)?;
        Ok(copied.sync_data()?)
    }

    /// Size of all files.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        let contents = self.contents();
        let mut bytes = contents.lists.iter().map(|list| list.index.bytes()).sum();
        for file in &contents.data {
            bytes += file.metadata()?.len();
        }
        Ok(bytes)
    }

    fn column(&self, name: &'static str) -> io::Result<&ColumnFamily> {
        self.db.cf_handle(name).ok_or_else(|| damaged("a column of nodes is missing"))
    }

    fn contents(&self) -> Arc<Contents> {
        Arc::clone(&self.contents.read())
    }

    fn write_list(&self, level: u8, count: u64, entries: impl Iterator<Item = io::Result<Entry>>) -> io::Result<List> {
        let number = self.next_list.fetch_add(1, Ordering::Relaxed);
        let index = NodeIndex::write(list_path(&self.dir, number), count, entries, !self.is_temporary)?;
        // The names, too. Windows has no folders that can be opened, and keeps names in its journal.
        if !self.is_temporary && cfg!(unix) {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(List { number, level, index: Arc::new(index) })
    }

    fn change(
        &self,
        mut batch: WriteBatch,
        is_synced: bool,
        change: impl FnOnce(&mut Contents),
    ) -> Result<(), FilingError> {
        let _alone = self.change.lock();
        let mut contents = Contents::clone(&self.contents());
        change(&mut contents);
        batch.put_cf(self.column(NODES)?, NODE_FILES_KEY, contents.encode());
        let mut options = WriteOptions::default();
        options.disable_wal(self.is_temporary);
        options.set_sync(is_synced && !self.is_temporary);
        self.db.write_opt(batch, &options).map_err(FilingError::Engine)?;
        *self.contents.write() = Arc::new(contents);
        Ok(())
    }
}

impl Contents {
    fn encode(&self) -> Vec<u8> {
        let mut row = Vec::new();
        row.extend_from_slice(&(self.data.len() as u32).to_be_bytes());
        row.extend_from_slice(&self.end.to_be_bytes());
        for list in &self.lists {
            row.extend_from_slice(&list.number.to_be_bytes());
            row.push(list.level);
            row.extend_from_slice(&list.index.count().to_be_bytes());
        }
        row
    }

    fn open(dir: &Path, row: &[u8]) -> io::Result<Self> {
        let malformed = || damaged("the row of the node files cannot be decoded");
        let (count, rest) = row.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (end, mut rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (count, end) = (u32::from_be_bytes(*count) as usize, u32::from_be_bytes(*end));
        let mut contents = Self { end, ..Self::default() };
        for number in 0..count {
            let file = File::options().read(true).write(true).open(data_path(dir, number))?;
            let least = if number + 1 == count { end } else { FULL_BYTES };
            if file.metadata()?.len() < least.into() {
                return Err(damaged("a file of nodes is too short"));
            }
            contents.data.push(Arc::new(file));
        }
        while let Some((number, tail)) = rest.split_first_chunk::<8>() {
            let ([level], tail) = tail.split_first_chunk::<1>().ok_or_else(malformed)?;
            let (count, tail) = tail.split_first_chunk::<8>().ok_or_else(malformed)?;
            let number = u64::from_be_bytes(*number);
            let index = Arc::new(NodeIndex::open(list_path(dir, number), u64::from_be_bytes(*count))?);
            contents.lists.push(List { number, level: *level, index });
            rest = tail;
        }
        if rest.is_empty() { Ok(contents) } else { Err(malformed()) }
    }

    fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        let file = self.data.get(usize::from(place.file)).ok_or_else(|| damaged("a node lies in no file"))?;
        let mut message = vec![0; place.length as usize];
        file.read_exact_at(&mut message, place.offset.into())?;
        Ok(message)
    }

    /// The lowest level with enough lists, and these.
    fn mergeable(&self) -> Option<(u8, Vec<&List>)> {
        let mut levels: Vec<u8> = self.lists.iter().map(|list| list.level).collect();
        levels.sort_unstable();
        let level = levels.chunk_by(|a, b| a == b).find(|same| same.len() >= LISTS_A_LEVEL)?.first().copied()?;
        Some((level, self.lists.iter().filter(|list| list.level == level).take(LISTS_A_LEVEL).collect()))
    }
}

fn data_path(dir: &Path, number: usize) -> PathBuf {
    dir.join(format!("{number:06}.{DATA}"))
}

fn list_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:06}.{INDEX}"))
}

/// Removes files that do not count. Any other name is none of ours.
fn remove_leftovers(dir: &Path, contents: &Contents) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let Some((number, kind)) = number.zip(path.extension().and_then(|kind| kind.to_str())) else { continue };
        let is_leftover = match kind {
            DATA => number >= contents.data.len() as u64,
            INDEX => contents.lists.iter().all(|list| list.number != number),
            _ => false,
        };
        if is_leftover {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
