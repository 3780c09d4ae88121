//! Partial Merkle trees: the proof format of Bitcoin nodes, used for merged mining before RSKIP-92.

use crate::digest::Digest;
use crate::merkle::{MerkleError, parent};
use crate::message::MessageReader;
use crate::varint::put_varint;

/// Maximum number of transactions of a Bitcoin block of one million bytes.
const MAX_TRANSACTIONS: u32 = 1_000_000 / 60;

/// A partial Merkle tree. Its declared sizes match its bytes; its shape is checked by [`PartialTree::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialTree {
    transaction_count: u32,
    hashes: Vec<Digest>,
    flags: Vec<u8>,
}

impl PartialTree {
    /// Reads a proof element; `None` if the declared sizes do not add up to its size.
    pub fn parse(proof: &[u8]) -> Option<Self> {
        let mut reader = MessageReader::new(proof);
        let transaction_count = u32::from_le_bytes(reader.array().ok()?);
        let hash_count = i32::try_from(reader.number().ok()?).ok()?;
        let mut hashes = Vec::new();
        for _hash in 0..u32::try_from(hash_count).ok()? {
            hashes.push(reader.array().ok()?);
        }
        let flag_bytes = i32::try_from(reader.number().ok()?).ok()?;
        let flags = reader.bytes(usize::try_from(flag_bytes).ok()?).ok()?.to_vec();
        reader.is_empty().then_some(Self { transaction_count, hashes, flags })
    }

    /// Builds the tree that proves the first of `transaction_count` leaves. `branch` is that leaf followed by its siblings,
    /// bottom up, wire order.
    pub fn of_first_leaf(branch: &[Digest], transaction_count: u32) -> Self {
        // Flags in the order of the walk: a set bit for each level and for the leaf, then a clear bit for each sibling.
        let height = height_of(transaction_count);
        let bits = branch.len() + height as usize;
        let mut flags = vec![0_u8; bits.div_ceil(8)];
        for index in 0..branch.len() {
            if let Some(byte) = flags.get_mut(index / 8) {
                *byte |= 1 << (index % 8);
            }
        }
        Self { transaction_count, hashes: branch.to_vec(), flags }
    }

    /// Returns the wire form.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoded = self.transaction_count.to_le_bytes().to_vec();
        put_varint(&mut encoded, self.hashes.len() as u64);
        encoded.extend(self.hashes.iter().flatten());
        put_varint(&mut encoded, self.flags.len() as u64);
        encoded.extend(&self.flags);
        encoded
    }

    /// Checks that the tree leads to `root` and matches `coinbase` at any leaf, both in wire order.
    pub fn verify(&self, coinbase: Digest, root: Digest) -> Result<(), MerkleError> {
        let (reached, leaves) = self.evaluate()?;
        if reached != root {
            return Err(MerkleError::OtherRoot);
        }
        if leaves.contains(&coinbase) { Ok(()) } else { Err(MerkleError::CoinbaseMissing) }
    }

    /// Returns the root and the matched leaves, wire order. Fails if the shape is not that of a tree.
    pub fn evaluate(&self) -> Result<(Digest, Vec<Digest>), MerkleError> {
        let count = self.transaction_count;
        if count == 0 || count > MAX_TRANSACTIONS {
            return Err(MerkleError::TransactionCount { count });
        }
        if self.hashes.len() > count as usize || self.flags.len().saturating_mul(8) < self.hashes.len() {
            return Err(MerkleError::Shape);
        }
        let mut walk = Walk { tree: self, bits_used: 0, hashes_used: 0, leaves: Vec::new() };
        let root = walk.node(height_of(count), 0)?;
        if walk.bits_used.div_ceil(8) != self.flags.len() || walk.hashes_used != self.hashes.len() {
            return Err(MerkleError::Shape);
        }
        Ok((root, walk.leaves))
    }

    /// Number of nodes at a height; leaves are at height 0, the root at most at 15.
    fn width(&self, height: u32) -> u32 {
        self.transaction_count.div_ceil(1 << height)
    }
}

/// State of a depth-first walk over flags and hashes.
struct Walk<'a> {
    tree: &'a PartialTree,
    bits_used: usize,
    hashes_used: usize,
    leaves: Vec<Digest>,
}

impl Walk<'_> {
    /// Returns the hash of one node. The depth is at most 15, since the number of transactions is bounded.
    fn node(&mut self, height: u32, position: u32) -> Result<Digest, MerkleError> {
        let byte = self.tree.flags.get(self.bits_used / 8).ok_or(MerkleError::Shape)?;
        let leads_to_match = byte >> (self.bits_used % 8) & 1 == 1;
        self.bits_used += 1;
        if height == 0 || !leads_to_match {
            let hash = *self.tree.hashes.get(self.hashes_used).ok_or(MerkleError::Shape)?;
            self.hashes_used += 1;
            if height == 0 && leads_to_match {
                self.leaves.push(hash);
            }
            return Ok(hash);
        }
        let left = self.node(height - 1, position * 2)?;
        if position * 2 + 1 >= self.tree.width(height - 1) {
            return parent(&left, &left);
        }
        let right = self.node(height - 1, position * 2 + 1)?;
        if left == right {
            return Err(MerkleError::EqualChildren);
        }
        parent(&left, &right)
    }
}

/// Number of levels above the leaves.
fn height_of(transaction_count: u32) -> u32 {
    u32::BITS - transaction_count.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256d;
    use crate::merkle::{root_of, siblings_of_first};

    #[test]
    fn built_trees_verify_and_survive_a_round_trip() {
        for count in 1..=33_u8 {
            let leaves: Vec<Digest> = (0..count).map(|index| sha256d(&[index])).collect();
            let branch = [vec![leaves[0]], siblings_of_first(&leaves)].concat();
            let tree = PartialTree::of_first_leaf(&branch, u32::from(count));
            assert_eq!(PartialTree::parse(&tree.encode()), Some(tree.clone()));
            assert_eq!(tree.verify(leaves[0], root_of(&leaves)), Ok(()), "{count} leaves");
        }
    }

    #[test]
    fn declared_sizes_must_match() {
        let bytes = PartialTree::of_first_leaf(&[[1; 32]], 1).encode();
        assert!(PartialTree::parse(&bytes).is_some());
        assert_eq!(PartialTree::parse(&bytes[..bytes.len() - 1]), None);
        assert_eq!(PartialTree::parse(&[bytes.as_slice(), &[0]].concat()), None);
        assert_eq!(PartialTree::parse(&[]), None);
    }
}
