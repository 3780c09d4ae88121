//! Merkle proofs: from the coinbase of a Bitcoin block to the root in its header.
//!
//! Two formats exist. From RSKIP-92 on the proof is the list of sibling hashes, bottom up, in display order; before,
//! it is a partial Merkle tree as Bitcoin nodes send it ([`super::partial_tree`]).

use super::digest::{Digest, display, sha256d};

/// Bytes of one node of a proof.
pub const NODE_SIZE: usize = 32;

/// Why a Merkle proof does not prove what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MerkleError {
    /// Two nodes together could be read as a Bitcoin transaction of 64 bytes.
    #[error("two nodes of the Merkle proof form a 64-byte transaction")]
    LooksLikeTransaction,
    /// The proof leads to another root than the header's.
    #[error("the Merkle proof leads to another root")]
    OtherRoot,
    /// The coinbase is not among the leaves that a partial tree proves.
    #[error("the partial Merkle tree does not contain the coinbase")]
    CoinbaseMissing,
    /// A partial tree of no transaction, or of more than a Bitcoin block can hold.
    #[error("a partial Merkle tree of {count} transactions is impossible")]
    TransactionCount {
        /// Number of transactions that the tree claims.
        count: u32,
    },
    /// A partial tree with too many or too few hashes or flag bits.
    #[error("the hashes and flags of the partial Merkle tree do not fit its shape")]
    Shape,
    /// Both children of a node are equal although both exist (CVE-2012-2459).
    #[error("a node of the partial Merkle tree has two equal children")]
    EqualChildren,
}

/// The node above two nodes, all in wire order; refuses pairs that look like a transaction.
pub fn parent(left: &Digest, right: &Digest) -> Result<Digest, MerkleError> {
    if looks_like_transaction(&display(*left), &display(*right)) {
        return Err(MerkleError::LooksLikeTransaction);
    }
    Ok(combine(left, right))
}

/// The node above two nodes, all in wire order.
fn combine(left: &Digest, right: &Digest) -> Digest {
    sha256d(&[left.as_slice(), right.as_slice()].concat())
}

/// The guard against leaves that are inner nodes. It reads both halves in display order, unlike what is hashed: that
/// is how the chain has always judged.
fn looks_like_transaction(left: &Digest, right: &Digest) -> bool {
    let pair = [left.as_slice(), right.as_slice()].concat();
    scan_transaction(&pair).is_some()
}

/// Some when the 64 bytes have the layout of a transaction with one input and one output.
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

/// RSKIP-92: does `proof`, whose length is a multiple of 32, lead from the coinbase to `root`? Both in wire order.
pub fn verify(proof: &[u8], coinbase: Digest, root: Digest) -> Result<(), MerkleError> {
    let (nodes, _rest) = proof.as_chunks::<NODE_SIZE>();
    let reached = nodes.iter().try_fold(coinbase, |node, sibling| parent(&node, &display(*sibling)))?;
    if reached == root { Ok(()) } else { Err(MerkleError::OtherRoot) }
}

/// RSKIP-92: the proof made of the siblings of the coinbase, given bottom up in wire order.
pub fn proof_of_siblings(siblings: &[Digest]) -> Vec<u8> {
    siblings.iter().flat_map(|sibling| display(*sibling)).collect()
}

/// The siblings of the first leaf on the way to the root, bottom up; the last node of an odd level stands twice.
pub fn siblings_of_first(leaves: &[Digest]) -> Vec<Digest> {
    let mut siblings = Vec::new();
    let mut level = leaves.to_vec();
    while let [_first, second, ..] = level.as_slice() {
        siblings.push(*second);
        level = next_level(&level);
    }
    siblings
}

/// Root of the tree over `leaves` (wire order); all zeros for none.
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
    fn a_pair_that_reads_as_a_transaction_is_refused() {
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
