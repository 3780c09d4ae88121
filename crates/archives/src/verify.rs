use std::ops::ControlFlow;

use rayon::prelude::*;
use rhizome_pow::proof_of_work;
use rhizome_primitives::rlp;
use rhizome_primitives::{B256, Block, ChainSpec, Rule, U256, uncles_hash};
use rhizome_trie::{MemoryNodes, list_root};

use crate::error::ArchiveError;
use crate::index::{BLOCKS_PER_GROUP, PartKind};
use crate::open_archive::{BlockGroup, OpenArchive};
use crate::part::ArchivedBlock;

/// A verified archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Verified blocks. Fewer than the archive has if the caller stopped.
    pub blocks: u64,
}

/// A block after the checks that need no other block.
struct CheckedHeader {
    hash: B256,
    parent: Option<B256>,
    difficulty: U256,
    total_difficulty: U256,
}

/// Reads a whole archive and verifies each hash, and of each block: number, parent, proof of work, uncles, roots of transactions
/// and receipts, total difficulty. Executes nothing, so state roots and rules of the state are left to an import. `on_blocks`
/// gets the last verified block and may stop.
pub fn verify(
    archive: &OpenArchive,
    spec: &ChainSpec,
    mut on_blocks: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Verified, ArchiveError> {
    let (genesis, _trie) = rhizome_trie::genesis(spec, std::sync::Arc::new(MemoryNodes::default()))
        .map_err(rhizome_chain::ChainError::from)?;
    archive.check_network(spec.chain_id.into(), genesis.hash())?;
    if archive.manifest().files.is_empty() {
        return Err(ArchiveError::NoBlocks { location: archive.name().to_owned() });
    }
    let mut previous: Option<(B256, U256)> = None;
    let mut blocks = 0;
    for entry in &archive.manifest().files {
        for first in (entry.first..=entry.last).step_by(BLOCKS_PER_GROUP as usize) {
            let Some(group) = archive.group(first, &PartKind::ALL)? else { break };
            previous = Some(verify_group(&group, spec, genesis.hash(), previous)?);
            blocks += group.blocks.len() as u64;
            if on_blocks(blocks.saturating_sub(1)).is_break() {
                return Ok(Verified { blocks });
            }
        }
        if previous != Some((entry.last_hash, entry.last_total_difficulty)) {
            let file = format!("{}/{}", archive.name(), entry.name());
            return Err(ArchiveError::damaged(&file, "its last block is another one than the manifest names"));
        }
    }
    Ok(Verified { blocks })
}

/// Verifies the blocks of a group. `previous`: hash and total difficulty of the block below. Returns those of its last block.
fn verify_group(
    group: &BlockGroup,
    spec: &ChainSpec,
    genesis: B256,
    mut previous: Option<(B256, U256)>,
) -> Result<(B256, U256), ArchiveError> {
    let numbered = group.blocks.par_iter().enumerate();
    let check = |(index, block): (usize, &ArchivedBlock)| check_block(block, group.first + index as u64, spec);
    let checked: Vec<_> = numbered.map(check).collect();
    for (checked, number) in checked.into_iter().zip(group.first..) {
        let fault = |fault: String| ArchiveError::Block { file: group.file.clone(), number, fault };
        let checked = checked.map_err(fault)?;
        let (parent, below) = match previous {
            Some((hash, total)) => (Some(hash), total),
            None if checked.hash != genesis => return Err(fault("not the genesis of the network".to_owned())),
            None => (checked.parent, U256::ZERO),
        };
        if checked.parent != parent {
            return Err(fault("its parent is another block than the one before".to_owned()));
        }
        let expected = below.wrapping_add(checked.difficulty);
        if checked.total_difficulty != expected {
            let stated = checked.total_difficulty;
            return Err(fault(format!("total difficulty {stated} instead of {expected}")));
        }
        previous = Some((checked.hash, checked.total_difficulty));
    }
    previous.ok_or_else(|| ArchiveError::damaged(&group.file, "a group without blocks"))
}

fn check_block(archived: &ArchivedBlock, number: u64, spec: &ChainSpec) -> Result<CheckedHeader, String> {
    let block = Block::decode(&archived.raw(), spec).map_err(|error| error.to_string())?;
    let header = &block.header;
    if header.number != number {
        return Err(format!("has number {}", header.number));
    }
    let is_orchid = !spec.rules(number).is_active(Rule::Rskip126);
    let transactions = block.transactions.iter().map(|transaction| transaction.encoded().as_ref());
    let root = list_root(transactions, is_orchid).map_err(|error| error.to_string())?;
    if header.transactions_root.as_ref() != root.as_slice() {
        return Err(format!("its transactions have root {root}"));
    }
    if header.uncles_hash.as_ref() != uncles_hash(&block.uncles).as_slice() {
        return Err("its uncles have another hash than its header names".to_owned());
    }
    let receipts = archived.receipts.as_deref().unwrap_or_default();
    let receipts = rlp::decode_list(receipts).and_then(|list| list.elements("receipts"));
    // Millions of empty ones would need far more memory than their bytes.
    let expected = block.transactions.len();
    let receipts: Result<Vec<_>, _> = receipts.map_err(|error| error.to_string())?.take(expected + 1).collect();
    let receipts = receipts.map_err(|error| error.to_string())?;
    if receipts.len() != expected {
        return Err(format!("other receipts than for {expected} transactions"));
    }
    let root = list_root(receipts.iter().map(|receipt| receipt.encoding()), is_orchid);
    let root = root.map_err(|error| error.to_string())?;
    if header.receipts_root.as_ref() != root.as_slice() {
        return Err(format!("its receipts have root {root}"));
    }
    if number > 0 {
        proof_of_work(header, spec).map_err(|error| error.to_string())?;
    }
    let uncles = block.uncles.iter().map(|uncle| uncle.difficulty_value());
    Ok(CheckedHeader {
        hash: block.hash(),
        parent: header.parent(),
        difficulty: uncles.fold(header.difficulty_value(), U256::wrapping_add),
        total_difficulty: archived.total_difficulty,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_are_counted_before_their_root_is_made() {
        let spec = ChainSpec::regtest();
        let (genesis, _trie) = rhizome_trie::genesis(&spec, std::sync::Arc::new(MemoryNodes::default())).unwrap();
        let mut block = ArchivedBlock::new(&genesis.encode(), &[], U256::ONE).unwrap();
        assert!(check_block(&block, 0, &spec).is_ok());
        // The second element is no RLP: it is not reached.
        block.receipts = Some(rlp::list(&[1, 0xff]));
        assert_eq!(check_block(&block, 0, &spec).err().unwrap(), "other receipts than for 0 transactions");
    }
}
