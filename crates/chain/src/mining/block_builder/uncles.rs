//! Selects the uncles of a new block among the blocks beside the best chain.

use std::sync::Arc;

use rhizome_pow::{UncleRuleError, UncleWindow, check_candidate};
use rhizome_primitives::{B256, Header};

use super::BuildError;
use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::error::ChainError;

/// Returns the uncles of a block under construction whose number and parent are set: siblings of its last ancestors that no
/// ancestor names and that satisfy the rules, up to the limit of the network, in the order of the reference.
pub(super) fn find(archive: &Archive, header: &Header, now: u64) -> Result<Vec<Header>, BuildError> {
    let constants = &archive.spec.constants;
    let lowest = header.number.saturating_sub(constants.uncle_generation_limit);
    let ancestors = window(archive, header, lowest)?;
    let mut siblings = siblings(archive, &ancestors)?;
    if siblings.is_empty() {
        return Ok(Vec::new());
    }
    let buckets = buckets(ancestors.len().saturating_add(siblings.len()));
    siblings.sort_by_key(|sibling| bucket(&sibling.hash, buckets));
    let window = UncleWindow::of(header, archive, &archive.spec).map_err(unreadable)?;
    let mut uncles = Vec::new();
    for sibling in siblings {
        let candidate = &sibling.block.header;
        match check_candidate(candidate, &window, archive, &archive.spec, now) {
            Ok(()) => uncles.push(candidate.clone()),
            Err(UncleRuleError::LookUp(failure)) => return Err(BuildError::Ancestors(failure)),
            // An ancestor names it, or it breaks a rule about its parent that holds for uncles only.
            Err(_unfit) => {}
        }
        if uncles.len() == constants.uncle_list_limit {
            break;
        }
    }
    Ok(uncles)
}

fn unreadable(error: UncleRuleError) -> BuildError {
    match error {
        UncleRuleError::LookUp(failure) => BuildError::Ancestors(failure),
        other => BuildError::Ancestors(Box::new(other)),
    }
}

/// Returns the ancestors from number `lowest` up to the parent.
fn window(archive: &Archive, header: &Header, lowest: u64) -> Result<Vec<Arc<BlockRecord>>, ChainError> {
    let mut ancestors = Vec::new();
    let mut next = header.parent();
    while let Some(hash) = next {
        let Some(record) = archive.record(&hash)?.filter(|record| record.number() >= lowest) else { break };
        next = record.parent();
        ancestors.push(record);
    }
    ancestors.reverse();
    Ok(ancestors)
}

/// Returns the other children of ancestors, in the order of numbers, then of arrival.
fn siblings(archive: &Archive, ancestors: &[Arc<BlockRecord>]) -> Result<Vec<Arc<BlockRecord>>, ChainError> {
    let mut siblings = Vec::new();
    for pair in ancestors.windows(2) {
        let [parent, ancestor] = pair else { continue };
        for entry in archive.store.blocks_at(ancestor.number())? {
            if entry.hash == ancestor.hash {
                continue;
            }
            siblings.extend(archive.record(&entry.hash)?.filter(|record| record.parent() == Some(parent.hash)));
        }
    }
    Ok(siblings)
}

/// Returns the size of the hash table in which the reference collects ancestors and siblings. Its order is the order of the uncles.
/// No rule prescribes that order, but the hash of the uncles depends on it.
fn buckets(entries: usize) -> u32 {
    let mut buckets = 16_u32;
    while entries > buckets as usize / 4 * 3 {
        buckets = buckets.saturating_mul(2);
    }
    buckets
}

/// Returns the bucket of a block: its last four bytes, the upper two folded into the lower.
fn bucket(hash: &B256, buckets: u32) -> u32 {
    let code = hash.last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
    (code ^ (code >> 16)) & (buckets - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::b256;

    #[test]
    fn the_order_is_that_of_a_hash_table() {
        assert_eq!([0, 12, 13, 24, 25, 49].map(buckets), [16, 16, 32, 32, 64, 128]);
        let first = b256!("d8ae068bde0a552b91f8ce0ceb1be3c7480e9e2ee4f37ad5599fa589e2e06e34");
        let second = b256!("56cd5f57b5ad37884e82d98697cf7ef92123dc9f47f8302942ee824d4aa7b49c");
        assert_eq!((bucket(&first, 16), bucket(&second, 16)), (4, 11));
    }
}
