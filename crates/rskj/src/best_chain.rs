//! The heaviest chain among the blocks of a table.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;

use rhizome_primitives::rlp::{self, Item, saturating_u256};
use rhizome_primitives::{B256, DecodeError, U256};

use crate::error::RskjError;
use crate::row::{Row, ValueLocation};

/// Position of the difficulty in a header.
const DIFFICULTY_FIELD: usize = 7;
/// Position of the number, which follows it.
const NUMBER_FIELD: usize = 8;

/// A block of the heaviest chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainBlock {
    pub(crate) hash: B256,
    pub(crate) location: ValueLocation,
    /// Difficulty of the chain up to and including the block, uncles included.
    pub(crate) total_difficulty: u128,
}

/// Fields of a version of a row, as the search for the heaviest chain needs them.
#[derive(Debug, Clone, Copy)]
struct ScannedBlock {
    /// Difficulty of the block and its uncles; once connected of the chain up to it.
    weight: u128,
    hash: B256,
    /// First bytes of the parent's hash.
    parent: u64,
    sequence: u64,
    location: ValueLocation,
    number: u32,
    link: BlockLink,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockLink {
    /// The version is a deletion.
    Deleted,
    /// The chain below does not reach the genesis, or is not known yet.
    Loose,
    /// The chain below reaches the genesis.
    Connected,
}

/// The blocks of a table, in the order of a scan.
#[derive(Debug, Default)]
pub(crate) struct ChainScan {
    blocks: Vec<ScannedBlock>,
}

impl ChainScan {
    pub(crate) fn add(&mut self, dir: &Path, row: &Row<'_>) -> Result<(), RskjError> {
        let block = ScannedBlock::new(row);
        let hash = || row.key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.blocks.push(block.ok_or_else(|| RskjError::Row { dir: dir.to_owned(), hash: hash() })?);
        Ok(())
    }

    /// Returns the heaviest chain from a genesis, by number.
    pub(crate) fn heaviest_chain(self, dir: &Path, genesis: B256) -> Result<Vec<ChainBlock>, RskjError> {
        let mut blocks = self.blocks;
        blocks.sort_unstable_by_key(|block| (block.hash, Reverse(block.sequence)));
        blocks.dedup_by_key(|block| block.hash);
        blocks.retain(|block| block.link != BlockLink::Deleted);
        blocks.sort_unstable_by_key(|block| (block.number, block.hash));
        let mut best: Option<usize> = None;
        let mut parents = 0..0;
        let mut height_start = 0;
        for index in 0..blocks.len() {
            let ScannedBlock { number, hash, parent, weight, .. } = blocks[index];
            if number != blocks[height_start].number {
                parents = height_start..index;
                height_start = index;
            }
            let parent = find_parent(&blocks, parents.clone(), number, parent).map(|parent| &blocks[parent]);
            let below = match parent {
                Some(ScannedBlock { link: BlockLink::Connected, weight, .. }) => *weight,
                _ if number == 0 && hash == genesis => 0,
                _ => continue,
            };
            blocks[index].weight = below.saturating_add(weight);
            blocks[index].link = BlockLink::Connected;
            if best.is_none_or(|best| blocks[best].weight < blocks[index].weight) {
                best = Some(index);
            }
        }
        let Some(best) = best else { return Err(RskjError::Network { dir: dir.to_owned(), genesis }) };
        let is_lost = |block: &&ScannedBlock| block.link == BlockLink::Loose && block.number > blocks[best].number;
        if let Some(&ScannedBlock { number, hash, .. }) = blocks.iter().find(is_lost) {
            return Err(RskjError::Incomplete { dir: dir.to_owned(), number: number.into(), hash });
        }
        Ok(descend(&blocks, best))
    }
}

/// Returns the position of a block's parent in the range of the blocks one below.
fn find_parent(blocks: &[ScannedBlock], height: Range<usize>, number: u32, parent: u64) -> Option<usize> {
    let candidates = blocks.get(height.clone())?;
    let is_below = candidates.first().is_some_and(|first| first.number.checked_add(1) == Some(number));
    let at = candidates.partition_point(|candidate| prefix(&candidate.hash) < parent);
    let found = candidates.get(at).is_some_and(|candidate| prefix(&candidate.hash) == parent);
    (is_below && found).then_some(height.start + at)
}

/// Returns the chain up to a block that is connected to the genesis.
fn descend(blocks: &[ScannedBlock], best: usize) -> Vec<ChainBlock> {
    let mut chain = Vec::new();
    let mut at = Some(best);
    while let Some(block) = at.map(|at| &blocks[at]) {
        chain.push(ChainBlock { hash: block.hash, location: block.location, total_difficulty: block.weight });
        let below = block.number.checked_sub(1);
        at = below.and_then(|below| {
            let start = blocks.partition_point(|candidate| candidate.number < below);
            let end = start + blocks[start..].partition_point(|candidate| candidate.number == below);
            find_parent(blocks, start..end, block.number, block.parent)
        });
    }
    chain.reverse();
    chain
}

/// Returns the first bytes of a hash, which order hashes like the hashes themselves.
fn prefix(hash: &B256) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_be_bytes(first)
}

impl ScannedBlock {
    /// Returns `None` if the row is not that of a block.
    fn new(row: &Row<'_>) -> Option<Self> {
        let hash = B256::try_from(row.key).ok()?;
        let (sequence, location) = (row.sequence, row.location);
        let deleted = Self { weight: 0, hash, parent: 0, sequence, location, number: 0, link: BlockLink::Deleted };
        let Some(raw) = row.value else { return Some(deleted) };
        let (parent, number, weight) = links(raw).ok()??;
        Some(Self { parent, number, weight, link: BlockLink::Loose, ..deleted })
    }
}

/// Returns parent, number and weight of a block, or `None` if a field is out of range.
fn links(raw: &[u8]) -> Result<Option<(u64, u32, u128)>, DecodeError> {
    let mut parts = rlp::decode_list(raw)?.elements("block")?;
    let header = parts.next().transpose()?.ok_or(DecodeError::MissingItem)?;
    let uncles = parts.nth(1).transpose()?.ok_or(DecodeError::MissingItem)?;
    let fields = header.list("header")?;
    let (Some(parent), Some(number)) = (fields.first(), fields.get(NUMBER_FIELD)) else { return Ok(None) };
    let number = rlp::read_u64(number.bytes(), u32::MAX.into(), "number")?;
    let parent = B256::try_from(parent.bytes()).map_or(0, |parent| prefix(&parent));
    let mut weight = difficulty(&fields);
    for uncle in uncles.elements("uncles")? {
        weight = weight.saturating_add(difficulty(&uncle?.list("uncle")?));
    }
    Ok(u32::try_from(number).ok().map(|number| (parent, number, weight.saturating_to())))
}

fn difficulty(fields: &[Item<'_>]) -> U256 {
    fields.get(DIFFICULTY_FIELD).map_or(U256::ZERO, |field| saturating_u256(field.bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENESIS: B256 = B256::repeat_byte(0xee);

    /// Encodes what a scan reads of a block: parent, difficulty and number, and the difficulties of its uncles.
    fn block(parent: B256, number: u64, difficulty: u64, uncles: &[u64]) -> Vec<u8> {
        let header = |parent: &B256, number, difficulty| {
            let mut fields = Vec::new();
            rlp::put_bytes(&mut fields, parent.as_slice());
            (1..DIFFICULTY_FIELD).for_each(|_| rlp::put_bytes(&mut fields, &[]));
            rlp::put_u64(&mut fields, difficulty);
            rlp::put_u64(&mut fields, number);
            rlp::list(&fields)
        };
        let uncles: Vec<u8> =
            uncles.iter().flat_map(|difficulty| header(&B256::ZERO, number - 1, *difficulty)).collect();
        rlp::list(&[header(&parent, number, difficulty), rlp::list(&[]), rlp::list(&uncles)].concat())
    }

    fn add(scan: &mut ChainScan, hash: B256, sequence: u64, value: Option<&[u8]>) {
        let location = ValueLocation { position: 0, length: 0 };
        assert!(scan.add(Path::new("dir"), &Row { key: hash.as_slice(), sequence, value, location }).is_ok());
    }

    fn hash(byte: u8) -> B256 {
        B256::repeat_byte(byte)
    }

    /// A chain 1, 2, 3 and a branch 12, 13 from block 1.
    fn two_branches(uncles_of_12: &[u64]) -> ChainScan {
        let mut scan = ChainScan::default();
        let blocks = [
            (hash(3), hash(2), 3, &[][..]),
            (hash(13), hash(12), 3, &[]),
            (hash(1), GENESIS, 1, &[]),
            (hash(12), hash(1), 2, uncles_of_12),
            (GENESIS, B256::ZERO, 0, &[]),
            (hash(2), hash(1), 2, &[5]),
        ];
        for (hash, parent, number, uncles) in blocks {
            add(&mut scan, hash, 1, Some(&block(parent, number, 10, uncles)));
        }
        scan
    }

    fn chain(scan: ChainScan) -> Result<Vec<(u8, u128)>, String> {
        let chain = scan.heaviest_chain(Path::new("dir"), GENESIS).map_err(|error| error.to_string())?;
        Ok(chain.iter().map(|block| (block.hash[0], block.total_difficulty)).collect())
    }

    #[test]
    fn uncles_add_to_the_weight_of_a_branch() {
        assert_eq!(chain(two_branches(&[])), Ok(vec![(0xee, 10), (1, 20), (2, 35), (3, 45)]));
        assert_eq!(chain(two_branches(&[3, 3])), Ok(vec![(0xee, 10), (1, 20), (12, 36), (13, 46)]));
    }

    #[test]
    fn the_last_version_of_a_row_counts() {
        let mut scan = two_branches(&[]);
        add(&mut scan, hash(3), 7, None);
        add(&mut scan, hash(13), 0, None);
        assert_eq!(chain(scan), Ok(vec![(0xee, 10), (1, 20), (12, 30), (13, 40)]));
    }

    #[test]
    fn a_chain_with_a_gap_is_named() {
        let mut scan = two_branches(&[]);
        add(&mut scan, hash(9), 1, Some(&block(hash(8), 9, 10, &[])));
        add(&mut scan, hash(5), 1, Some(&block(hash(4), 5, 10, &[])));
        let expected =
            format!("dir: block 5 ({}) does not have its parent: only whole chains can be imported", hash(5));
        assert_eq!(chain(scan), Err(expected));
    }

    #[test]
    fn loose_blocks_below_the_head_do_not_matter() {
        let mut scan = two_branches(&[]);
        add(&mut scan, hash(9), 1, Some(&block(hash(8), 2, 99, &[])));
        assert_eq!(chain(scan).map(|chain| chain.len()), Ok(4));
    }

    #[test]
    fn another_genesis_is_another_network() {
        let mut scan = ChainScan::default();
        add(&mut scan, hash(1), 1, Some(&block(B256::ZERO, 0, 10, &[])));
        let expected = format!("dir: of another network: it does not have the genesis block {GENESIS}");
        assert_eq!(chain(scan), Err(expected));
    }

    #[test]
    fn rows_that_are_not_blocks_are_named() {
        let mut scan = ChainScan::default();
        let location = ValueLocation { position: 0, length: 0 };
        let mut error = |key: &[u8], value: &[u8]| {
            let row = Row { key, sequence: 1, value: Some(value), location };
            scan.add(Path::new("dir"), &row).err().map(|error| error.to_string())
        };
        assert_eq!(error(&[0xab], &[0xc0]), Some("dir: damaged: the row of block ab is not a block".to_owned()));
        for value in [&b""[..], &[0xc0], &[0xc1, 0xc0], &[0x80], &[0xc3, 0xc0, 0xc0, 0xc0]] {
            assert!(error(hash(1).as_slice(), value).is_some(), "{value:?}");
        }
        let far = block(hash(1), u64::from(u32::MAX) + 1, 1, &[]);
        assert!(error(hash(2).as_slice(), &far).is_some());
    }
}
