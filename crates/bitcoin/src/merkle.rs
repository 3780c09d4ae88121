//! Merkle trees of Bitcoin blocks, and the proof from a coinbase to the root.
//!
//! Two proof formats exist. From RSKIP-92 on, a proof is the list of sibling hashes, bottom up, in display order. Before, it
//! is a partial Merkle tree in the format of Bitcoin nodes ([`crate::partial_tree`]).

use crate::digest::{Digest, display, sha256d};

/// Size of one node of a proof, bytes.
pub const NODE_SIZE: usize = 32;

/// Why a Merkle proof is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MerkleError {
    /// Two concatenated nodes have the layout of a 64-byte Bitcoin transaction.
    #[error("two nodes of the Merkle proof form a 64-byte transaction")]
    LooksLikeTransaction,
    /// The computed root differs from the root in the header.
    #[error("the Merkle proof leads to another root")]
    OtherRoot,
    /// The matched leaves of a partial tree do not include the coinbase.
    #[error("the partial Merkle tree does not contain the coinbase")]
    CoinbaseMissing,
    /// A partial tree without transactions, or with more than a Bitcoin block can hold.
    #[error("a partial Merkle tree of {count} transactions is impossible")]
    TransactionCount {
        /// Declared number of transactions.
        count: u32,
    },
    /// Number of hashes or flag bits of a partial tree does not match its shape.
    #[error("the hashes and flags of the partial Merkle tree do not fit its shape")]
    Shape,
    /// Both children of a node exist and are equal (CVE-2012-2459).
    #[error("a node of the partial Merkle tree has two equal children")]
    EqualChildren,
}

/// Returns the parent of two nodes, all in wire order. Fails if the pair has the layout of a transaction.
pub fn parent(left: &Digest, right: &Digest) -> Result<Digest, MerkleError> {
    if looks_like_transaction(&display(*left), &display(*right)) {
        return Err(MerkleError::LooksLikeTransaction);
    }
    Ok(combine(left, right))
}

/// Returns the parent of two nodes, all in wire order.
fn combine(left: &Digest, right: &Digest) -> Digest {
    sha256d(&[left.as_slice(), right.as_slice()].concat())
}

/// Guard against inner nodes presented as leaves. Consensus requires that it reads both halves in display order, unlike
/// the hash above, which uses wire order.
fn looks_like_transaction(left: &Digest, right: &Digest) -> bool {
    let pair = [left.as_slice(), right.as_slice()].concat();
    scan_transaction(&pair).is_some()
}

/// Returns `Some` if the 64 bytes have the layout of a transaction with one input and one output.
fn scan_transaction(pair: &[u8]) -> Option<()> {
    let require = |holds: bool| holds.then_some(());
    let script = |length: u8| (length <= 4).then_some(usize::from(length));
    require(*pair.get(4)? == 1)?;
    let index = u32::from_le_bytes(*pair.get(37..)?.first_chunk()?);
    require(index <= 1_000_000 || index == u32::MAX)?;
    let input_script = script(*pair.get(41)?)?;
    let outputs = 42 + input_script + 4;
    require(*pair.get(outputs)? == 1)?;
    let value = i64::from_le_bytes(*pair.get(outputs + 1..)?.first_chunk()?);
    require((1..=2_100_000_000_000_000).contains(&value))?;
    let output_script = script(*pair.get(outputs + 9)?)?;
    require(input_script + output_script == 4)
}

/// Checks a proof of RSKIP-92 from `coinbase` to `root`, both in wire order. The length of `proof` must be a multiple of 32.
pub fn verify(proof: &[u8], coinbase: Digest, root: Digest) -> Result<(), MerkleError> {
    let (nodes, _rest) = proof.as_chunks::<NODE_SIZE>();
    let reached = nodes.iter().try_fold(coinbase, |node, sibling| parent(&node, &display(*sibling)))?;
    if reached == root { Ok(()) } else { Err(MerkleError::OtherRoot) }
}

/// Encodes a proof of RSKIP-92 from the siblings of the coinbase, bottom up in wire order.
pub fn proof_of_siblings(siblings: &[Digest]) -> Vec<u8> {
    siblings.iter().flat_map(|sibling| display(*sibling)).collect()
}

/// Returns the siblings of the first leaf on the path to the root, bottom up. The last node of an odd level is its own
/// sibling.
pub fn siblings_of_first(leaves: &[Digest]) -> Vec<Digest> {
    let mut siblings = Vec::new();
    let mut level = leaves.to_vec();
    while let [_first, second, ..] = level.as_slice() {
        siblings.push(*second);
        level = next_level(&level);
    }
    siblings
}

/// Returns the root of the tree over `leaves` (wire order); all zeros if there are no leaves.
pub fn root_of(leaves: &[Digest]) -> Digest {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        level = next_level(&level);
    }
    level.first().copied().unwrap_or_default()
}

fn next_level(level: &[Digest]) -> Vec<Digest> {
    let pairs = level.chunks(2);
    pairs
        .map(|pair| match pair {
            [left, right] => combine(left, right),
            [only] => combine(only, only),
            _ => Digest::default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u8) -> Vec<Digest> {
        (0..count).map(|index| sha256d(&[index])).collect()
    }

    #[test]
    fn built_proofs_verify() {
        for count in 1..=17 {
            let leaves = leaves(count);
            let proof = proof_of_siblings(&siblings_of_first(&leaves));
            assert_eq!(verify(&proof, leaves[0], root_of(&leaves)), Ok(()), "{count} leaves");
            assert_eq!(verify(&proof, [1; 32], root_of(&leaves)), Err(MerkleError::OtherRoot));
        }
    }

    #[test]
    fn pairs_with_the_layout_of_a_transaction_are_rejected() {
        let mut pair = [0; 64];
        pair[4] = 1;
        pair[37..41].copy_from_slice(&[0xff; 4]);
        pair[41] = 3;
        pair[49] = 1;
        pair[50..58].copy_from_slice(&5_000_000_000_i64.to_le_bytes());
        pair[58] = 1;
        let half = |range: std::ops::Range<usize>| -> Digest { pair[range].try_into().unwrap() };
        let (left, right) = (half(0..32), half(32..64));
        assert_eq!(parent(&display(left), &display(right)), Err(MerkleError::LooksLikeTransaction));
        assert!(parent(&left, &right).is_ok(), "in wire order it passes");
    }
}
