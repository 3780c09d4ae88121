//! Blocks ahead of the importer: which are missing, asked for, or ready.

use super::peers::PeerKey;
use rhizome_chain::{ChainedHeader, PreparedBlock};
use rhizome_wire::rsk::BlockIdentifier;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Maximum number of blocks ahead of the importer (docs/spec/p2p-additions.md, C.4).
const MAX_BLOCKS: usize = 2_048;
/// Encoded size of these blocks, in bytes, those asked for included, above which only the next ones are asked for. Decoded ones take up to five times as much.
const MAX_BYTES: usize = 16 << 20;
/// Blocks that are asked for above the size, if the importer has fewer to do: the others wait for them.
const NEXT_BLOCKS: u64 = 64;

/// Blocks of the best header chain from the first block that the importer does not have.
#[derive(Default)]
pub(super) struct BodyWindow {
    blocks: VecDeque<WindowBlock>,
    missing: BTreeSet<u64>,
    /// Blocks that the importer has not reported.
    importing: VecDeque<ImportingBlock>,
    /// Number of blocks that wait for an earlier one.
    ready: usize,
    /// Size of the ready and importing blocks.
    bytes: usize,
    /// Average size of the last blocks.
    average: usize,
}

/// Numbers of blocks ahead of the head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowLengths {
    /// Blocks that no peer was asked for.
    pub missing: usize,
    /// Blocks that a peer was asked for.
    pub requested: usize,
    /// Blocks that wait for an earlier one.
    pub ready: usize,
    /// Blocks in the queue of the importer.
    pub importing: usize,
}

struct WindowBlock {
    header: Arc<ChainedHeader>,
    state: BodyState,
    /// Peers that did not deliver the block.
    refused: Vec<PeerKey>,
}

enum BodyState {
    Missing,
    Requested(PeerKey),
    Ready(Box<PreparedBlock>),
}

/// A block that the importer has not reported.
#[derive(Debug, Clone, Copy)]
struct ImportingBlock {
    number: u64,
    size: usize,
}

impl BodyWindow {
    /// Returns the number of the next header to add; `None` while the window is full. `first` is that of an empty window.
    pub(super) fn next_number(&self, first: u64) -> Option<u64> {
        if self.blocks.len() + self.importing.len() >= MAX_BLOCKS {
            return None;
        }
        let last = self.blocks.back().map(|block| block.header.header.number);
        let last = last.or_else(|| self.importing.back().map(|block| block.number));
        Some(last.map_or(first, |last| last + 1))
    }

    /// Adds the header after the last one.
    pub(super) fn push(&mut self, header: Arc<ChainedHeader>) {
        self.missing.insert(header.header.number);
        self.blocks.push_back(WindowBlock { header, state: BodyState::Missing, refused: Vec::new() });
    }

    /// Returns missing blocks up to a height that a peer has not refused, lowest first.
    pub(super) fn missing(&self, key: PeerKey, up_to: u64) -> impl Iterator<Item = BlockIdentifier> + '_ {
        let first = self.blocks.front().map_or(0, |first| first.header.header.number);
        let up_to = match self.expected_bytes() >= MAX_BYTES {
            true if self.importing.len() as u64 >= NEXT_BLOCKS => 0,
            true => up_to.min(first + NEXT_BLOCKS),
            false => up_to,
        };
        let blocks = self.missing.range(..=up_to).filter_map(|&number| self.block(number));
        blocks.filter(move |block| !block.refused.contains(&key)).map(WindowBlock::identifier)
    }

    /// Returns the size of the blocks, with an estimate for requested blocks.
    fn expected_bytes(&self) -> usize {
        let requested = self.blocks.len().saturating_sub(self.missing.len() + self.ready);
        self.bytes.saturating_add(requested.saturating_mul(self.average))
    }

    /// Notes that a peer was asked for blocks.
    pub(super) fn request(&mut self, blocks: &[BlockIdentifier], key: PeerKey) {
        for block in blocks {
            self.missing.remove(&block.number);
            if let Some(block) = self.block_mut(block) {
                block.state = BodyState::Requested(key);
            }
        }
    }

    /// Makes blocks missing again that a peer was asked for. `is_refused`: the peer is not asked for them again, unless all others
    /// have refused them as well.
    pub(super) fn release(&mut self, blocks: &[BlockIdentifier], key: PeerKey, is_refused: bool) {
        for identifier in blocks {
            let Some(block) = self.block_mut(identifier) else { continue };
            if matches!(block.state, BodyState::Requested(asked) if asked == key) {
                block.state = BodyState::Missing;
                if is_refused {
                    block.refused.push(key);
                }
                self.missing.insert(identifier.number);
            }
        }
    }

    /// Lets peers be asked again for blocks that all have refused. `servers`: the peers, each with the height up to which it can be asked.
    pub(super) fn forgive(&mut self, servers: &[(PeerKey, u64)]) {
        for block in self.blocks.iter_mut().filter(|block| !block.refused.is_empty()) {
            let number = block.header.header.number;
            block.refused.retain(|refused| servers.iter().any(|(key, _)| key == refused));
            if servers.iter().all(|(key, serves)| *serves < number || block.refused.contains(key)) {
                block.refused.clear();
            }
        }
    }

    /// Returns the header of a block that a peer was asked for.
    pub(super) fn requested(&self, identifier: &BlockIdentifier, key: PeerKey) -> Option<Arc<ChainedHeader>> {
        let block = self.block(identifier.number).filter(|block| block.header.hash == identifier.hash)?;
        matches!(block.state, BodyState::Requested(asked) if asked == key).then(|| Arc::clone(&block.header))
    }

    /// Keeps a block for the importer. Blocks that are not in the window are dropped.
    pub(super) fn keep(&mut self, identifier: &BlockIdentifier, prepared: Box<PreparedBlock>) {
        let size = prepared.size();
        let Some(block) = self.block_mut(identifier) else { return };
        if !matches!(block.state, BodyState::Ready(_)) {
            block.state = BodyState::Ready(prepared);
            self.ready += 1;
            self.bytes += size;
            self.average = (7 * self.average + size) / 8;
            self.missing.remove(&identifier.number);
        }
    }

    /// Returns the next block for the importer if it is ready.
    pub(super) fn take_ready(&mut self) -> Option<(BlockIdentifier, Box<PreparedBlock>)> {
        let is_ready = self.blocks.front().is_some_and(|block| matches!(block.state, BodyState::Ready(_)));
        let block = if is_ready { self.blocks.pop_front()? } else { return None };
        self.ready -= 1;
        let identifier = block.identifier();
        let BodyState::Ready(prepared) = block.state else { return None };
        self.importing.push_back(ImportingBlock { number: identifier.number, size: prepared.size() });
        Some((identifier, prepared))
    }

    /// Notes that a block is on disk.
    pub(super) fn imported(&mut self, number: u64) {
        while self.importing.front().is_some_and(|block| block.number <= number)
            && let Some(block) = self.importing.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(block.size);
        }
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        *self = BodyWindow::default();
    }

    /// Whether no block is missing, asked for or waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.importing.is_empty()
    }

    /// Returns the numbers of blocks by their state.
    pub(super) fn lengths(&self) -> WindowLengths {
        WindowLengths {
            missing: self.missing.len(),
            requested: self.blocks.len().saturating_sub(self.missing.len() + self.ready),
            ready: self.ready,
            importing: self.importing.len(),
        }
    }

    fn block(&self, number: u64) -> Option<&WindowBlock> {
        self.blocks.get(self.index(number)?)
    }

    fn block_mut(&mut self, identifier: &BlockIdentifier) -> Option<&mut WindowBlock> {
        let index = self.index(identifier.number)?;
        self.blocks.get_mut(index).filter(|block| block.header.hash == identifier.hash)
    }

    fn index(&self, number: u64) -> Option<usize> {
        let first = self.blocks.front()?.header.header.number;
        usize::try_from(number.checked_sub(first)?).ok()
    }
}

impl WindowBlock {
    fn identifier(&self) -> BlockIdentifier {
        BlockIdentifier { hash: self.header.hash, number: self.header.header.number }
    }
}
