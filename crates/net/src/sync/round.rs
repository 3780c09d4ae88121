//! Download of the headers of one peer's chain, with the help of others that have the same blocks.

use super::peers::PeerKey;
use crate::peer::Peer;
use rhizome_chain::{ChainedHeader, HeaderRun};
use rhizome_wire::rsk::BlockIdentifier;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Distance of the blocks of a skeleton.
pub(super) const CHUNK: u64 = 192;
/// Maximum number of identifiers in a skeleton.
const MAX_SKELETON: usize = 24;

/// Download of the headers up to the best block of a peer.
pub(super) struct HeaderRound {
    /// Distinguishes results of this round from those of an earlier one.
    pub(super) id: u64,
    /// Peer with the best claim.
    pub(super) leader: PeerKey,
    /// Its best block by its own account.
    pub(super) target: BlockIdentifier,
    pub(super) stage: RoundStage,
    /// Time since which the budget of the leader does not allow the request of the stage.
    pub(super) unasked_since: Option<Instant>,
    /// The last common block was searched for.
    pub(super) has_searched: bool,
    /// Last header that is verified, the parent of the next chunk.
    pub(super) base: Option<Arc<ChainedHeader>>,
    /// Verified headers of a branch that is not heavier yet.
    pub(super) candidate: Vec<Arc<ChainedHeader>>,
    /// Last number of each chunk of the branch, with the peer that delivered it.
    pub(super) sources: Vec<(u64, Arc<Peer>)>,
    pub(super) chunks: VecDeque<HeaderChunk>,
    /// A chunk is being added to the chain.
    pub(super) is_appending: bool,
}

/// Step of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundStage {
    /// Binary search for the last common block: `low` is common, `high` is not.
    Search { low: u64, high: u64 },
    /// Waits for the skeleton from a height on.
    Skeleton { start: u64 },
    /// Downloads headers.
    Headers,
}

/// Headers between two blocks of a skeleton.
pub(super) struct HeaderChunk {
    pub(super) end: BlockIdentifier,
    pub(super) count: u32,
    pub(super) state: ChunkState,
    /// Peers that have the last block of the chunk.
    pub(super) servers: Vec<PeerKey>,
}

pub(super) enum ChunkState {
    Missing,
    Requested(PeerKey),
    Verified(PeerKey, HeaderRun),
}

impl HeaderRound {
    pub(super) fn new(id: u64, leader: PeerKey, target: BlockIdentifier, start: u64) -> HeaderRound {
        HeaderRound {
            id,
            leader,
            target,
            stage: RoundStage::Skeleton { start },
            unasked_since: None,
            has_searched: false,
            base: None,
            candidate: Vec::new(),
            sources: Vec::new(),
            chunks: VecDeque::new(),
            is_appending: false,
        }
    }

    /// Plans the chunks of a skeleton above its block at `known`.
    pub(super) fn plan(&mut self, skeleton: &[BlockIdentifier], known: usize) {
        self.stage = RoundStage::Headers;
        let above = skeleton.iter().zip(skeleton.iter().skip(1)).skip(known);
        self.chunks = above
            .map(|(below, end)| HeaderChunk {
                end: *end,
                // Checked by `is_skeleton`: at most 192.
                count: (end.number - below.number) as u32,
                state: ChunkState::Missing,
                servers: vec![self.leader],
            })
            .collect();
    }

    /// Notes that a peer has the blocks of its skeleton.
    pub(super) fn add_server(&mut self, key: PeerKey, skeleton: &[BlockIdentifier]) {
        for chunk in &mut self.chunks {
            if skeleton.contains(&chunk.end) && !chunk.servers.contains(&key) {
                chunk.servers.push(key);
            }
        }
    }

    pub(super) fn chunk(&mut self, end: &BlockIdentifier) -> Option<&mut HeaderChunk> {
        self.chunks.iter_mut().find(|chunk| chunk.end == *end)
    }

    /// Makes a chunk missing again that a peer was asked for; the peer is not asked for it again.
    pub(super) fn release(&mut self, end: &BlockIdentifier, key: PeerKey) {
        if let Some(chunk) = self.chunk(end)
            && matches!(chunk.state, ChunkState::Requested(asked) if asked == key)
        {
            chunk.state = ChunkState::Missing;
            chunk.servers.retain(|server| *server != key);
        }
    }

    /// Takes the next chunk if it is verified and none is being added.
    pub(super) fn take_verified(&mut self) -> Option<(PeerKey, HeaderRun)> {
        let is_ready = matches!(self.chunks.front()?.state, ChunkState::Verified(..));
        if self.is_appending || !is_ready {
            return None;
        }
        match self.chunks.pop_front()?.state {
            ChunkState::Verified(key, run) => Some((key, run)),
            _ => None,
        }
    }

    /// Whether a chunk has no peer left that can be asked.
    pub(super) fn is_stuck(&self) -> bool {
        self.chunks.iter().any(|chunk| matches!(chunk.state, ChunkState::Missing) && chunk.servers.is_empty())
    }
}

/// Whether identifiers are what an honest peer sends for a height: blocks 192 apart from the one at or below the height on,
/// the last one anywhere up to 192 above the one before.
pub(super) fn is_skeleton(skeleton: &[BlockIdentifier], start: u64) -> bool {
    let Some((last, inner)) = skeleton.split_last() else { return false };
    let first = start / CHUNK * CHUNK;
    let is_regular = (0..).zip(inner).all(|(index, block)| block.number == first + index * CHUNK);
    let before = inner.last().map_or(0, |block| block.number);
    // At the best block the last one may repeat the one before.
    let is_near = last.number >= before && last.number - before <= CHUNK;
    !inner.is_empty() && skeleton.len() <= MAX_SKELETON && is_regular && is_near
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::B256;

    fn skeleton(numbers: &[u64]) -> Vec<BlockIdentifier> {
        numbers
            .iter()
            .map(|&number| BlockIdentifier { hash: B256::left_padding_from(&number.to_be_bytes()), number })
            .collect()
    }

    #[test]
    fn skeletons_of_the_reference_are_accepted() {
        assert!(is_skeleton(&skeleton(&[0, 192, 384, 426]), 0));
        assert!(is_skeleton(&skeleton(&[384, 426]), 400));
        assert!(is_skeleton(&skeleton(&[384, 384]), 384));
        for wrong in [&[][..], &[0], &[0, 193], &[192, 384], &[0, 384], &[0, 192, 100]] {
            assert!(!is_skeleton(&skeleton(wrong), 0), "{wrong:?}");
        }
    }

    #[test]
    fn chunks_lie_between_the_blocks_of_a_skeleton() {
        let mut round = HeaderRound::new(1, 1, skeleton(&[426])[0], 0);
        let blocks = skeleton(&[0, 192, 384, 426]);
        round.plan(&blocks, 1);
        let chunks: Vec<(u64, u32)> = round.chunks.iter().map(|chunk| (chunk.end.number, chunk.count)).collect();
        assert_eq!(chunks, [(384, 192), (426, 42)]);
        round.add_server(2, &skeleton(&[0, 192, 384, 400]));
        assert_eq!(round.chunks[0].servers, [1, 2]);
        assert_eq!(round.chunks[1].servers, [1]);
        round.chunks[1].state = ChunkState::Requested(1);
        round.release(&blocks[3], 1);
        assert!(round.is_stuck());
    }
}
