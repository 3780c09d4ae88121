//! Blocks and headers of answers, compared with the hashes by which they are known.

use rayon::prelude::*;
use rhizome_chain::{Chain, PreparedBlock};
use rhizome_primitives::{B256, Header, U256};
use rhizome_wire::rsk::{EncodedBlock, EncodedBody, EncodedList, WeighedBlocks};

/// Joins a header, in compressed form, with the body of its block. Returns `None` if the header names other lists or another
/// extension.
pub(crate) fn join(chain: &Chain, header: &Header, body: &EncodedBody<'_>) -> Option<PreparedBlock> {
    let mut complete = header.clone();
    body.complete(&mut complete).ok()?;
    PreparedBlock::join(&complete, body.transactions.encoding(), body.uncles.encoding(), chain.spec()).ok()
}

/// Returns the blocks of a snap server from the last one down, as long as each has the number and hash that the one above it names,
/// `next` the first one. Their lists are those of their headers. With the stated total difficulties.
pub(crate) fn linked_blocks(
    chain: &Chain,
    blocks: &WeighedBlocks<'_>,
    next: (u64, B256),
) -> Vec<(PreparedBlock, U256)> {
    let Ok(all) = blocks.blocks().collect::<Result<Vec<_>, _>>() else { return Vec::new() };
    let (mut next, mut linked) = (Some(next), Vec::new());
    for (block, difficulty) in all.into_iter().rev() {
        let Ok(header) = block.header(chain.spec()) else { break };
        if next != Some((header.number, header.hash())) {
            break;
        }
        next = header.number.checked_sub(1).zip(header.parent());
        linked.push((header, block, difficulty));
    }
    let join_one = |(header, block, difficulty): (Header, EncodedBlock<'_>, U256)| {
        let (transactions, uncles) = (block.transactions().encoding(), block.uncles().encoding());
        Some((PreparedBlock::join(&header, transactions, uncles, chain.spec()).ok()?, difficulty))
    };
    let joined: Vec<Option<(PreparedBlock, U256)>> = linked.into_par_iter().map(join_one).collect();
    joined.into_iter().map_while(|block| block).collect()
}

/// Returns the headers of an answer, descending, with their hashes, if the first header has the hash `first` and each other header is
/// the parent of the header before. At most `count`.
pub(crate) fn linked_headers(
    chain: &Chain,
    headers: EncodedList<'_>,
    first: B256,
    count: usize,
) -> Option<Vec<(Header, B256)>> {
    if headers.len() > count {
        return None;
    }
    let (mut next, mut linked) = (Some(first), Vec::with_capacity(headers.len()));
    for header in headers.compressed_headers(chain.spec()) {
        let header = header.ok()?;
        let hash = header.hash();
        if next != Some(hash) {
            return None;
        }
        next = header.parent();
        linked.push((header, hash));
    }
    Some(linked)
}
