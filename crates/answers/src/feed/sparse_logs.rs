//! Blocks that a feed with a filter of logs passes over, found in the log index.

use crate::error::RpcError;
use crate::feed::cursor::FeedCursor;
use crate::node::Node;
use rhizome_chain::LogFilter;
use rhizome_primitives::B256;

/// Blocks of the first part of the index that a page looks up; each further one is twice as long.
const FIRST_BLOCKS: u64 = 1_024;
/// Blocks of the longest part. Bounds the memory.
const MOST_BLOCKS: u64 = 262_144;

/// A part of the chain, as the index had it.
#[derive(Default)]
struct SearchedPart {
    /// First block behind the part.
    end: u64,
    /// Numbers of its blocks that may have a matching log, ascending.
    candidates: Vec<u64>,
    /// The head before the search.
    head: (u64, B256),
}

/// Search for the blocks of a page.
pub(crate) struct SparseLogs<'f> {
    filter: &'f LogFilter,
    part: SearchedPart,
    /// Length of the next part.
    length: u64,
}

/// Next block for a client.
pub(crate) enum NextBlock {
    /// The block behind its place.
    Following,
    /// A block further on: the client has all up to this place.
    Behind(FeedCursor),
    /// The best chain changed meanwhile.
    Changed,
}

impl<'f> SparseLogs<'f> {
    pub(crate) fn new(filter: &'f LogFilter) -> Self {
        Self { filter, part: SearchedPart::default(), length: FIRST_BLOCKS }
    }

    /// Passes over blocks without matching logs behind a place on the best chain, a whole block.
    ///
    /// The index has all executed blocks, those beside the best chain, too. So the blocks up to the head before the search have no other
    /// matching logs if that head is on the best chain after it.
    pub(crate) fn next(&mut self, node: &Node, place: &FeedCursor) -> Result<NextBlock, RpcError> {
        let chain = node.chain();
        let first = place.number.saturating_add(1);
        if first < chain.first_receipts() {
            return Ok(NextBlock::Following);
        }
        if first >= self.part.end {
            let head = chain.head();
            let last = head.number().min(place.number.saturating_add(self.length));
            let Some(candidates) = chain.blocks_with_logs(self.filter, first, last)? else {
                return Ok(NextBlock::Following);
            };
            self.part = SearchedPart { end: last.saturating_add(1), candidates, head: (head.number(), head.hash()) };
            self.length = MOST_BLOCKS.min(self.length * 2);
        }
        let SearchedPart { end, candidates, head } = &self.part;
        let next = candidates.get(candidates.partition_point(|number| *number < first)).unwrap_or(end);
        let target = next.saturating_sub(1);
        if target <= place.number {
            return Ok(NextBlock::Following);
        }
        let record = chain.main_block(target)?;
        let is_main = |number, hash| Ok::<_, RpcError>(chain.main_hash(number)? == Some(hash));
        match record {
            Some(record) if is_main(place.number, place.hash)? && is_main(head.0, head.1)? => {
                Ok(NextBlock::Behind(FeedCursor::behind(&record)))
            }
            _ => {
                self.part = SearchedPart::default();
                Ok(NextBlock::Changed)
            }
        }
    }
}
