//! The blocks at and below the pivot that the next blocks refer to: headers for the difficulty and fork detection, uncles, and the
//! fees that REMASC pays later (docs/spec/p2p-additions.md, E).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rhizome_primitives::{B256, Block, ChainSpec, U256};

use super::StatePivot;
use crate::import::prepared_block::PreparedBlock;

/// File of the blocks, descending: length and encoding of each.
const FILE: &str = "blocks";
/// Blocks below the pivot that are needed, as many as the reference downloads.
const BELOW_PIVOT: u64 = 6_000;

/// The blocks that are there, from the pivot down.
#[derive(Default)]
pub(super) struct BlockLog {
    count: u64,
    /// Number and hash of the block below the last one; `None` before the first one.
    next: Option<(u64, B256)>,
    /// Difficulties of the blocks and their uncles.
    difficulty: U256,
}

impl BlockLog {
    /// Reads the blocks of the last run. Blocks that do not follow from the pivot are cut off.
    pub(super) fn open(folder: &Path, pivot: &StatePivot, spec: &ChainSpec) -> io::Result<Self> {
        let mut log = Self::default();
        let mut length = 0;
        for raw in read_records(folder)? {
            let fits = Block::decode(&raw, spec).is_ok_and(|block| log.push(pivot, &block, &block.hash()));
            if !fits {
                break;
            }
            length += raw.len() as u64 + 4;
        }
        let path = folder.join(FILE);
        if path.exists() {
            OpenOptions::new().write(true).open(path)?.set_len(length)?;
        }
        Ok(log)
    }

    /// Returns the number of blocks.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the difficulties of the blocks and their uncles.
    pub(super) fn difficulty(&self) -> U256 {
        self.difficulty
    }

    /// Returns number and hash of the block that comes next; `None` after the last one.
    pub(super) fn next_of(&self, pivot: &StatePivot) -> Option<(u64, B256)> {
        let (number, hash) = self.next.unwrap_or((pivot.number, pivot.hash));
        (number >= pivot.number.saturating_sub(BELOW_PIVOT).max(1)).then_some((number, hash))
    }

    fn push(&mut self, pivot: &StatePivot, block: &Block, hash: &B256) -> bool {
        let header = &block.header;
        let (true, Some(parent)) = (self.next_of(pivot) == Some((header.number, *hash)), header.parent()) else {
            return false;
        };
        self.count += 1;
        self.difficulty = self.difficulty.saturating_add(own_difficulty(block));
        self.next = Some((header.number.saturating_sub(1), parent));
        true
    }

    /// Appends blocks, descending, up to a block that is not next. Returns the number of appended ones.
    pub(super) fn add(&mut self, folder: &Path, pivot: &StatePivot, blocks: &[PreparedBlock]) -> io::Result<usize> {
        let (mut added, mut records, before) = (0, Vec::new(), (self.count, self.next, self.difficulty));
        for block in blocks {
            if !self.push(pivot, &block.block, &block.hash) {
                break;
            }
            // A block fits into a message of the wire.
            records.extend_from_slice(&(block.raw.len() as u32).to_be_bytes());
            records.extend_from_slice(&block.raw);
            added += 1;
        }
        let file = OpenOptions::new().create(true).append(true).open(folder.join(FILE))?;
        let length = file.metadata()?.len();
        if let Err(error) = (&file).write_all(&records) {
            (self.count, self.next, self.difficulty) = before;
            file.set_len(length)?;
            return Err(error);
        }
        Ok(added)
    }
}

/// Returns the encodings of the blocks, descending.
pub(super) fn read_records(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let content = match fs::read(folder.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let (mut records, mut rest) = (Vec::new(), &content[..]);
    while let Some((length, after)) = rest.split_first_chunk::<4>()
        && let Ok(length) = usize::try_from(u32::from_be_bytes(*length))
        && let Some((raw, after)) = after.split_at_checked(length)
    {
        records.push(raw.to_vec());
        rest = after;
    }
    Ok(records)
}

/// Returns the difficulty of a block and its uncles.
pub(super) fn own_difficulty(block: &Block) -> U256 {
    let uncles = block.uncles.iter().map(|uncle| uncle.difficulty_value());
    uncles.fold(block.header.difficulty_value(), U256::saturating_add)
}
