//! Blocks that cannot be imported yet: without a known parent, or later than the clock allows (docs/spec/p2p-additions.md, F).
//! Both stores are bounded.

use std::collections::{BTreeMap, HashMap};

use rhizome_primitives::B256;

use crate::import::prepared_block::PreparedBlock;

/// Maximum number of blocks without a parent.
const MAX_ORPHANS: usize = 512;
/// Maximum size of these blocks in bytes.
const MAX_ORPHAN_BYTES: usize = 64 << 20;
/// Maximum number of these blocks from one source.
const MAX_ORPHANS_OF_SOURCE: usize = 64;
/// Maximum number of blocks of the future.
const MAX_FUTURE: usize = 16;

/// Blocks whose parent is not known. `S` identifies the source of a block.
pub struct OrphanBlocks<S> {
    blocks: HashMap<B256, OrphanBlock<S>>,
    bytes: usize,
}

struct OrphanBlock<S> {
    block: PreparedBlock,
    parent: B256,
    source: S,
}

impl<S> Default for OrphanBlocks<S> {
    fn default() -> Self {
        Self { blocks: HashMap::new(), bytes: 0 }
    }
}

impl<S: PartialEq> OrphanBlocks<S> {
    /// Keeps a block. Above a limit the block that is furthest from the head is dropped, which may be this one: then the result is
    /// false. A block that is kept already stays with its first source.
    pub fn insert(&mut self, block: PreparedBlock, source: S, head: u64) -> bool {
        let (hash, Some(parent)) = (block.hash(), block.block().header.parent()) else { return false };
        if self.blocks.contains_key(&hash) {
            return true;
        }
        self.bytes += block.raw.len();
        let is_of_source = |orphan: &OrphanBlock<S>| orphan.source == source;
        let of_source = self.blocks.values().filter(|orphan| is_of_source(orphan)).count();
        let evicted = if of_source >= MAX_ORPHANS_OF_SOURCE { self.furthest(head, is_of_source) } else { None };
        self.blocks.insert(hash, OrphanBlock { block, parent, source });
        if let Some(evicted) = evicted {
            self.remove(&evicted);
        }
        while (self.blocks.len() > MAX_ORPHANS || self.bytes > MAX_ORPHAN_BYTES)
            && let Some(furthest) = self.furthest(head, |_| true)
        {
            self.remove(&furthest);
        }
        self.blocks.contains_key(&hash)
    }

    fn furthest(&self, head: u64, is_counted: impl Fn(&OrphanBlock<S>) -> bool) -> Option<B256> {
        let counted = self.blocks.iter().filter(|(_, orphan)| is_counted(orphan));
        let distance = |orphan: &OrphanBlock<S>| orphan.block.block().header.number.abs_diff(head);
        counted.max_by_key(|(hash, orphan)| (distance(orphan), **hash)).map(|(hash, _)| *hash)
    }

    fn remove(&mut self, hash: &B256) -> Option<OrphanBlock<S>> {
        let removed = self.blocks.remove(hash)?;
        self.bytes -= removed.block.raw.len();
        Some(removed)
    }

    /// Whether a block is kept.
    pub fn contains(&self, hash: &B256) -> bool {
        self.blocks.contains_key(hash)
    }

    /// Returns the first ancestor of a kept block that is not kept.
    pub fn missing_ancestor(&self, hash: &B256) -> Option<B256> {
        let mut missing = self.blocks.get(hash)?.parent;
        while let Some(orphan) = self.blocks.get(&missing) {
            missing = orphan.parent;
        }
        Some(missing)
    }

    /// Removes and returns the children of a block.
    pub fn take_children(&mut self, parent: &B256) -> Vec<(PreparedBlock, S)> {
        let is_child = |orphan: &OrphanBlock<S>| orphan.parent == *parent;
        let children: Vec<B256> =
            self.blocks.iter().filter(|(_, orphan)| is_child(orphan)).map(|(hash, _)| *hash).collect();
        children.iter().filter_map(|hash| self.remove(hash)).map(|orphan| (orphan.block, orphan.source)).collect()
    }

    /// Drops blocks below a height: they cannot join the chain any more.
    pub fn drop_below(&mut self, number: u64) {
        let is_below = |orphan: &OrphanBlock<S>| orphan.block.block().header.number < number;
        let below: Vec<B256> =
            self.blocks.iter().filter(|(_, orphan)| is_below(orphan)).map(|(hash, _)| *hash).collect();
        for hash in below {
            self.remove(&hash);
        }
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether no block is kept.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// Blocks with a time that the clock does not allow yet, by the time at which they are tried again.
pub struct FutureBlocks<S> {
    blocks: BTreeMap<(u64, B256), (PreparedBlock, S)>,
}

impl<S> Default for FutureBlocks<S> {
    fn default() -> Self {
        Self { blocks: BTreeMap::new() }
    }
}

impl<S> FutureBlocks<S> {
    /// Keeps a block until `due`, in seconds since 1970. Above the limit the block that is due last is dropped.
    pub fn insert(&mut self, block: PreparedBlock, source: S, due: u64) {
        self.blocks.insert((due, block.hash()), (block, source));
        if self.blocks.len() > MAX_FUTURE {
            self.blocks.pop_last();
        }
    }

    /// Removes and returns a block that is due.
    pub fn take_due(&mut self, now: u64) -> Option<(PreparedBlock, S)> {
        let first = self.blocks.first_entry()?;
        let (due, _) = *first.key();
        if due <= now { Some(first.remove()) } else { None }
    }

    /// Returns the time at which the next block is due.
    pub fn next_due(&self) -> Option<u64> {
        self.blocks.first_key_value().map(|((due, _), _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{Block, ChainSpec, Header};

    fn block(number: u64, parent: B256, extra: usize) -> PreparedBlock {
        let mut header = Header::new(number, &ChainSpec::regtest());
        header.parent_hash = parent.to_vec().into();
        header.extra_data = vec![0; extra].into();
        PreparedBlock::new(Block { header, transactions: Vec::new(), uncles: Vec::new() })
    }

    fn unknown(number: u64) -> B256 {
        B256::left_padding_from(&number.to_be_bytes())
    }

    #[test]
    fn a_run_of_orphans_is_taken_child_by_child() {
        let mut orphans = OrphanBlocks::default();
        let first = block(5, unknown(4), 0);
        let second = block(6, first.hash(), 0);
        let (first_hash, second_hash) = (first.hash(), second.hash());
        assert!(orphans.insert(second, 1, 0));
        assert_eq!(orphans.missing_ancestor(&second_hash), Some(first_hash));
        assert!(orphans.insert(first, 2, 0));
        assert_eq!(orphans.missing_ancestor(&second_hash), Some(unknown(4)));
        let children = orphans.take_children(&unknown(4));
        assert_eq!(
            children.iter().map(|(block, source)| (block.hash(), *source)).collect::<Vec<_>>(),
            [(first_hash, 2)]
        );
        assert_eq!(orphans.take_children(&first_hash).len(), 1);
        assert!(orphans.is_empty());
        assert_eq!(orphans.bytes, 0);
    }

    #[test]
    fn orphans_are_bounded_by_number_source_and_bytes() {
        let mut orphans = OrphanBlocks::default();
        for number in 0..1_000 {
            orphans.insert(block(number + 2, unknown(number), 0), number, 0);
        }
        assert_eq!(orphans.len(), MAX_ORPHANS);
        assert!(!orphans.insert(block(5_000, unknown(1), 0), 5_000, 0), "the furthest from the head");
        let mut orphans = OrphanBlocks::default();
        for number in 0..1_000 {
            orphans.insert(block(1_000 - number, unknown(number), 0), 7, 0);
        }
        assert_eq!(orphans.len(), MAX_ORPHANS_OF_SOURCE);
        let mut orphans = OrphanBlocks::default();
        for number in 0..100 {
            orphans.insert(block(100 - number, unknown(number), 1 << 20), number, 0);
        }
        assert_eq!(orphans.len(), 63);
        orphans.drop_below(u64::MAX);
        assert_eq!((orphans.len(), orphans.bytes), (0, 0));
    }

    #[test]
    fn future_blocks_come_back_in_order_when_they_are_due() {
        let mut future = FutureBlocks::default();
        for due in (0..20).rev() {
            future.insert(block(due + 1, unknown(due), 0), (), due);
        }
        assert_eq!(future.blocks.len(), MAX_FUTURE);
        assert_eq!(future.next_due(), Some(0));
        let taken: Vec<u64> =
            std::iter::from_fn(|| future.take_due(3)).map(|(block, ())| block.block().header.number).collect();
        assert_eq!(taken, [1, 2, 3, 4]);
        assert_eq!(future.next_due(), Some(4));
    }
}
