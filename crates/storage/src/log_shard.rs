//! Rows of the log index: their keys, and the blocks of a shard as a list or a bit set.

use std::iter;

use rhizome_primitives::{Address, B256, Log};

/// Number of blocks in a shard. A full shard takes 512 bytes.
pub const LOG_SHARD_BLOCKS: u64 = 4096;

const BIT_SET_BYTES: usize = 512;
const KEY_BYTES: usize = 21;
/// Number of topics that a log can have.
pub(crate) const TOPIC_POSITIONS: usize = 4;

/// Position and value, compressed to 17 bytes. A collision of two values only costs a check of the receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting([u8; 17]);

impl Posting {
    pub(crate) fn address(address: &Address) -> Self {
        Self::fold(0, &B256::left_padding_from(address.as_slice()))
    }

    pub(crate) fn topic(position: usize, topic: &B256) -> Self {
        // Positions are 0 to 3.
        Self::fold(position as u8 + 1, topic)
    }

    fn fold(kind: u8, value: &B256) -> Self {
        let (high, low) = value.split_at(16);
        let number = |half: &[u8]| half.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        // Any odd factor separates values with swapped halves.
        let folded = number(low).wrapping_add(number(high).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut posting = [kind; 17];
        posting[1..].copy_from_slice(&folded.to_be_bytes());
        Self(posting)
    }

    /// Returns true for one of 64 blocks, which rewrites the row instead of adding a merge operand: a read has to
    /// combine all operands since the last rewrite. The choice is pseudorandom, so that no regular pattern of blocks
    /// avoids it.
    pub(crate) fn rewrites_row_at(&self, number: u64) -> bool {
        let chosen = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        chosen == u64::from(self.0[16] & 63)
    }

    pub(crate) fn key(&self, shard: u32) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        key[..17].copy_from_slice(&self.0);
        key[17..].copy_from_slice(&shard.to_be_bytes());
        key
    }
}

/// Returns the postings of a block's logs, sorted and without duplicates.
pub(crate) fn postings<'a>(logs: impl Iterator<Item = &'a Log>) -> Vec<Posting> {
    let mut postings = Vec::new();
    for log in logs {
        postings.push(Posting::address(&log.address));
        postings
            .extend(log.topics.iter().take(TOPIC_POSITIONS).enumerate().map(|(at, topic)| Posting::topic(at, topic)));
    }
    postings.sort_unstable();
    postings.dedup();
    postings
}

/// Returns the shard of a block and the merge operand that adds the block to it. Numbers stay far below 2^44.
pub(crate) fn shard_and_offset(number: u64) -> (u32, [u8; 2]) {
    ((number / LOG_SHARD_BLOCKS) as u32, ((number % LOG_SHARD_BLOCKS) as u16).to_be_bytes())
}

/// Merge operator of the column: the union of all operands.
pub(crate) fn merge<'a>(existing: Option<&[u8]>, operands: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut shard = ShardBlocks::default();
    existing.into_iter().for_each(|row| shard.add(row));
    operands.for_each(|row| shard.add(row));
    shard.encode()
}

/// Blocks of one shard as a bit set.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ShardBlocks([u64; 64]);

impl Default for ShardBlocks {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl ShardBlocks {
    pub(crate) fn add(&mut self, row: &[u8]) {
        if row.len() == BIT_SET_BYTES {
            for (word, bytes) in self.0.iter_mut().zip(row.chunks_exact(8)) {
                *word |= bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            }
        } else {
            for offset in row.chunks_exact(2) {
                let offset = usize::from(offset[0]) << 8 | usize::from(offset[1]);
                if let Some(word) = self.0.get_mut(offset / 64) {
                    *word |= 1 << (offset % 64);
                }
            }
        }
    }

    fn encode(&self) -> Vec<u8> {
        if self.count() * 2 >= BIT_SET_BYTES {
            self.0.iter().flat_map(|word| word.to_be_bytes()).collect()
        } else {
            self.offsets().flat_map(|offset| (offset as u16).to_be_bytes()).collect()
        }
    }

    pub(crate) fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().zip((0_u64..).step_by(64)).flat_map(|(word, base)| bits(*word).map(move |bit| base + bit))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Keeps the blocks that are in both sets. Returns false if none is left.
    pub(crate) fn intersect(&mut self, other: &Self) -> bool {
        self.0.iter_mut().zip(&other.0).for_each(|(word, only)| *word &= only);
        self.count() > 0
    }

    /// Keeps the blocks from `from` to `to`; `first` is the first block of the shard. Returns false if none is left.
    pub(crate) fn clip(&mut self, first: u64, from: u64, to: u64) -> bool {
        // All bits from a position on.
        let tail =
            |position: u64| u32::try_from(position).ok().and_then(|bits| u64::MAX.checked_shl(bits)).unwrap_or(0);
        for (word, base) in self.0.iter_mut().zip((first..).step_by(64)) {
            let above = to.checked_add(1).map_or(0, |end| tail(end.saturating_sub(base)));
            *word &= tail(from.saturating_sub(base)) & !above;
        }
        self.count() > 0
    }
}

/// Iterates over the positions of the bits that are set, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = u64> {
    iter::from_fn(move || {
        let lowest = u64::from(word.trailing_zeros());
        (word != 0).then(|| {
            word &= word - 1;
            lowest
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_bit_set_once_that_is_smaller() {
        let mut row = Vec::new();
        for count in 0..LOG_SHARD_BLOCKS {
            let (shard, operand) = shard_and_offset(7 * LOG_SHARD_BLOCKS + count);
            assert_eq!(shard, 7);
            row = merge(Some(&row), [operand.as_slice(), operand.as_slice()].into_iter());
            assert_eq!(row.len(), ((count + 1) * 2).min(512) as usize);
        }
        let mut shard = ShardBlocks::default();
        shard.add(&row);
        assert!(shard.offsets().eq(0..LOG_SHARD_BLOCKS));
    }

    #[test]
    fn a_shard_is_clipped_to_a_range() {
        let first = 3 * LOG_SHARD_BLOCKS;
        let last = first + LOG_SHARD_BLOCKS - 1;
        let blocks = [0, 1, 63, 64, 65, 127, 128, 2048, 4094, 4095];
        let row: Vec<u8> = blocks.iter().flat_map(|block| shard_and_offset(*block).1).collect();
        let bounds = blocks.iter().flat_map(|block| [first + block - 1, first + block, first + block + 1]);
        let bounds: Vec<u64> = bounds.chain([0, last + 1, last + 65, u64::MAX - 1, u64::MAX]).collect();
        for (from, to) in bounds.iter().flat_map(|from| bounds.iter().map(move |to| (*from, *to))) {
            let mut shard = ShardBlocks::default();
            shard.add(&row);
            let expected = || blocks.iter().copied().filter(|block| (from..=to).contains(&(first + block)));
            assert_eq!(shard.clip(first, from, to), expected().next().is_some(), "{from} {to}");
            assert!(shard.offsets().eq(expected()), "{from} {to}");
        }
    }

    #[test]
    fn rows_are_rewritten_regularly_for_any_pattern_of_blocks() {
        for (value, stride) in (0..=255).flat_map(|value| [1, 2, 3, 5, 64, 100].map(|stride| (value, stride))) {
            let posting = Posting::address(&Address::repeat_byte(value));
            let whole = (0..6400).filter(|at| posting.rewrites_row_at(7 + at * stride)).count();
            assert!((30..300).contains(&whole), "{value} {stride}: {whole}");
        }
    }

    #[test]
    fn the_same_value_is_posted_once_for_each_position() {
        let topic = B256::repeat_byte(5);
        let log = Log { address: Address::repeat_byte(5), topics: vec![topic, topic], data: Default::default() };
        assert_eq!(postings([&log, &log].into_iter()).len(), 3);
    }
}
