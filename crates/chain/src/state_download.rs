//! Download of the state after a block, in chunks of its trie (docs/spec/p2p.md, 10), and its takeover without execution
//! (docs/spec/p2p-additions.md, E).
//!
//! Each chunk is verified against the state root of the header before it is written to a file of its segment. A segment that is
//! complete becomes sorted files of rows. After the last one the database takes all files over, the whole trie is walked, and the
//! block becomes the head. Everything is in one folder, so a download continues after a kill with the chunks that are missing.

mod blocks;
mod segment;
mod takeover;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_primitives::rlp::{decode_list, list, put_bytes, put_u64, read_u64};
use rhizome_primitives::{B256, ChainSpec, DecodeError, Rule, U256};
use rhizome_storage::{NodeVersions, Store};
use rhizome_trie::snap_chunk::{CHUNK_SIZE, SnapChunkError, verify_chunk};

use crate::error::ChainError;
use blocks::BlockLog;
use segment::{SEGMENT_CHUNKS, Segment};

pub(crate) use takeover::{finish_after_kill, take_over};

/// Folder of the download in the data directory.
const FOLDER: &str = "snap";
/// File of the pivot and the size of its trie.
const PIVOT: &str = "pivot";
/// Size of a trie above which no download is planned: that of main net is 1 % of it.
const MAX_TRIE_SIZE: u64 = 1 << 40;

/// Block whose state is downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatePivot {
    /// Number of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: B256,
    /// State root of its header.
    pub root: B256,
}

/// Reason why a chunk or a block was not added.
#[derive(Debug, thiserror::Error)]
pub enum StateDownloadError {
    /// The chunk does not belong to the state.
    #[error(transparent)]
    Chunk(#[from] SnapChunkError),
    /// The state is larger than any.
    #[error("a state of {0} bytes")]
    Size(u64),
    /// A failure of this node.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl From<io::Error> for StateDownloadError {
    fn from(error: io::Error) -> Self {
        Self::Chain(error.into())
    }
}

/// Extent of the part of a download that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateProgress {
    /// Number of the pivot.
    pub pivot: u64,
    /// Verified chunks on the disk.
    pub chunks: u64,
    /// All chunks; 0 before the first one has arrived.
    pub total_chunks: u64,
    /// Bytes of the trie in the chunks on the disk.
    pub bytes: u64,
    /// Size of the trie in bytes; 0 before the first chunk has arrived.
    pub total_bytes: u64,
    /// Blocks at and below the pivot on the disk.
    pub blocks: u64,
}

/// Download of one state. Chunks may be added from several threads at once.
pub struct StateDownload {
    pivot: StatePivot,
    folder: PathBuf,
    store: Arc<Store>,
    spec: Arc<ChainSpec>,
    plan: Mutex<ChunkPlan>,
    blocks: Mutex<BlockLog>,
}

/// Chunks that are there.
#[derive(Default)]
struct ChunkPlan {
    /// Size of the trie; known from the first chunk on.
    trie_size: Option<u64>,
    segments: Vec<Segment>,
}

impl ChunkPlan {
    /// Number of chunks; 1 before the first one has arrived.
    fn count(&self) -> u64 {
        self.trie_size.map_or(1, |size| size / CHUNK_SIZE + 1)
    }

    /// Plans the segments of a trie. `open` gets the first chunk of a segment and their number.
    fn set_size(&mut self, size: u64, open: impl Fn(u64, u64) -> io::Result<Segment>) -> io::Result<()> {
        self.trie_size = Some(size);
        let count = self.count();
        let starts = (0..count).step_by(SEGMENT_CHUNKS);
        let open = |start: u64| open(start, (count - start).min(SEGMENT_CHUNKS as u64));
        self.segments = starts.map(open).collect::<io::Result<_>>()?;
        Ok(())
    }

    fn progress(&self, pivot: u64, blocks: u64) -> StateProgress {
        let chunks = self.segments.iter().map(Segment::received).sum();
        let total_bytes = self.trie_size.unwrap_or_default();
        StateProgress {
            pivot,
            chunks,
            total_chunks: self.trie_size.map_or(0, |_| self.count()),
            bytes: total_bytes.min(CHUNK_SIZE * chunks),
            total_bytes,
            blocks,
        }
    }

    fn segment(&mut self, index: u64) -> Option<&mut Segment> {
        self.segments.get_mut(usize::try_from(index).ok()? / SEGMENT_CHUNKS)
    }
}

impl StateDownload {
    /// Whether the state after a block can be downloaded: the root in its header is that of the trie, and the directory holds
    /// current trie nodes.
    pub(crate) fn is_possible(store: &Store, spec: &ChainSpec, number: u64) -> bool {
        store.node_versions() == NodeVersions::Current && spec.rules(number).is_active(Rule::Rskip126)
    }

    /// Begins a download. Deletes an unfinished download.
    pub(crate) fn begin(store: &Arc<Store>, spec: &Arc<ChainSpec>, pivot: StatePivot) -> io::Result<Self> {
        let folder = store.dir().join(FOLDER);
        remove(&folder)?;
        fs::create_dir_all(&folder)?;
        write_pivot(&folder, &pivot, None)?;
        Ok(Self::with(store, spec, folder, pivot, ChunkPlan::default(), BlockLog::default()))
    }

    /// Continues the download that the last run left; `None` if there is none.
    pub(crate) fn resume(store: &Arc<Store>, spec: &Arc<ChainSpec>) -> Result<Option<Self>, ChainError> {
        let folder = store.dir().join(FOLDER);
        let Some((pivot, size)) = read_pivot(&folder)? else { return Ok(None) };
        let mut plan = ChunkPlan::default();
        if let Some(size) = size {
            plan.set_size(size, |start, count| Segment::open(&folder, start, count))?;
        }
        let blocks = BlockLog::open(&folder, &pivot, spec)?;
        Ok(Some(Self::with(store, spec, folder, pivot, plan, blocks)))
    }

    /// Returns how much is there of the download that the last run left; `None` if there is none. Changes nothing.
    pub(crate) fn stored_progress(store: &Store) -> Result<Option<StateProgress>, ChainError> {
        let folder = store.dir().join(FOLDER);
        let Some((pivot, size)) = read_pivot(&folder)? else { return Ok(None) };
        let mut plan = ChunkPlan::default();
        if let Some(size) = size {
            plan.set_size(size, |start, count| Segment::read(&folder, start, count))?;
        }
        Ok(Some(plan.progress(pivot.number, blocks::read_records(&folder)?.len() as u64)))
    }

    fn with(
        store: &Arc<Store>,
        spec: &Arc<ChainSpec>,
        folder: PathBuf,
        pivot: StatePivot,
        plan: ChunkPlan,
        blocks: BlockLog,
    ) -> Self {
        let (store, spec) = (Arc::clone(store), Arc::clone(spec));
        Self { pivot, folder, store, spec, plan: Mutex::new(plan), blocks: Mutex::new(blocks) }
    }

    /// Returns the block whose state this is.
    pub fn pivot(&self) -> StatePivot {
        self.pivot
    }

    /// Returns how much is there.
    pub fn progress(&self) -> StateProgress {
        let blocks = self.blocks.lock().len();
        self.plan.lock().progress(self.pivot.number, blocks)
    }

    /// Returns the indexes of up to `count` chunks, lowest first, that are not there and not `excluded`. Chunk `n` begins at byte
    /// `n` times [`CHUNK_SIZE`].
    pub fn missing(&self, count: usize, excluded: impl Fn(u64) -> bool) -> Vec<u64> {
        let plan = self.plan.lock();
        let all: Box<dyn Iterator<Item = u64> + '_> = match plan.trie_size {
            None => Box::new(0..1),
            Some(_) => Box::new(plan.segments.iter().filter(|one| !one.is_done()).flat_map(Segment::missing)),
        };
        all.filter(|index| !excluded(*index)).take(count).collect()
    }

    /// Whether all chunks and blocks are there, and all segments are rows.
    pub fn is_complete(&self) -> bool {
        let plan = self.plan.lock();
        plan.trie_size.is_some()
            && plan.segments.iter().all(Segment::is_done)
            && self.blocks.lock().next_of(&self.pivot).is_none()
    }

    /// Verifies a chunk and writes it. A chunk that is there already has no effect. The last chunk of a segment takes up to seconds.
    pub fn add_chunk(&self, index: u64, chunk: &[u8], is_complete: bool) -> Result<(), StateDownloadError> {
        let from = index.saturating_mul(CHUNK_SIZE);
        let verified = verify_chunk(self.pivot.root, chunk, from, from.saturating_add(CHUNK_SIZE), is_complete)?;
        let mut plan = self.plan.lock();
        if plan.trie_size.is_none() {
            if verified.trie_size > MAX_TRIE_SIZE {
                return Err(StateDownloadError::Size(verified.trie_size));
            }
            write_pivot(&self.folder, &self.pivot, Some(verified.trie_size))?;
            plan.set_size(verified.trie_size, |start, count| Segment::open(&self.folder, start, count))?;
        }
        drop(verified);
        let Some(segment) = plan.segment(index) else { return Ok(()) };
        if !segment.add(&self.folder, index, chunk, is_complete)? {
            return Ok(());
        }
        drop(plan);
        self.finish_segment(index)
    }

    /// Makes the segment of a chunk rows, all of whose chunks are there. A chunk that the disk has changed is missing again.
    fn finish_segment(&self, index: u64) -> Result<(), StateDownloadError> {
        let start = index - index % SEGMENT_CHUNKS as u64;
        let built = segment::write_rows(&self.store, &self.folder, start, self.pivot.root)?;
        let mut plan = self.plan.lock();
        if let Some(segment) = plan.segment(index) {
            match built {
                Some(nodes) => segment.set_done(&self.folder, nodes)?,
                None => segment.clear(&self.folder)?,
            }
        }
        Ok(())
    }

    /// Makes complete segments rows that the last run did not get to.
    pub fn finish_segments(&self) -> Result<(), StateDownloadError> {
        let full: Vec<u64> = self.plan.lock().segments.iter().filter(|one| one.is_full()).map(Segment::start).collect();
        full.into_iter().try_for_each(|start| self.finish_segment(start))
    }

    /// Returns number and hash of the next block that is needed, downwards from the pivot; `None` if all are there.
    pub fn next_block(&self) -> Option<(u64, B256)> {
        self.blocks.lock().next_of(&self.pivot)
    }

    /// Returns the sum of the difficulties of the blocks that are there, and of their uncles.
    pub fn difficulty_of_blocks(&self) -> U256 {
        self.blocks.lock().difficulty()
    }

    /// Adds encoded blocks, descending, of which the first one must be [`StateDownload::next_block`]; stops before a block that
    /// does not fit. Lists must have been compared with the header. Returns the number of added blocks.
    pub fn add_blocks(&self, blocks: &[crate::PreparedBlock]) -> Result<usize, ChainError> {
        Ok(self.blocks.lock().add(&self.folder, &self.pivot, blocks)?)
    }

    /// Deletes everything.
    pub(crate) fn discard(store: &Store) -> io::Result<()> {
        remove(&store.dir().join(FOLDER))
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Replaces a file: after a crash it has the old content or the new one.
fn replace_file(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!("{name}.new"));
    fs::write(&fresh, content)?;
    fs::rename(&fresh, folder.join(name))
}

fn write_pivot(folder: &Path, pivot: &StatePivot, trie_size: Option<u64>) -> io::Result<()> {
    let mut fields = Vec::new();
    put_u64(&mut fields, pivot.number);
    put_bytes(&mut fields, pivot.hash.as_slice());
    put_bytes(&mut fields, pivot.root.as_slice());
    put_u64(&mut fields, trie_size.unwrap_or_default());
    replace_file(folder, PIVOT, &list(&fields))
}

/// Reads the pivot and the size of its trie. A damaged file is none: the download begins again.
fn read_pivot(folder: &Path) -> io::Result<Option<(StatePivot, Option<u64>)>> {
    let content = match fs::read(folder.join(PIVOT)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    let read = || -> Result<_, DecodeError> {
        let [number, hash, root, size] = decode_list(&content)?.exactly("pivot")?;
        let hash_of =
            |bytes: &[u8]| B256::try_from(bytes).or(Err(DecodeError::FieldLength { field: "pivot", got: bytes.len() }));
        let number = read_u64(number.bytes(), u64::MAX, "pivot number")?;
        let pivot = StatePivot { number, hash: hash_of(hash.bytes())?, root: hash_of(root.bytes())? };
        let size = read_u64(size.bytes(), MAX_TRIE_SIZE, "trie size")?;
        Ok((pivot, (size > 0).then_some(size)))
    };
    Ok(read().ok())
}
