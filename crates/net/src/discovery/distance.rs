//! Distance of node ids.

use rhizome_primitives::{B256, keccak256};
use rhizome_wire::session::NodeId;

/// Hash by which nodes are ordered.
pub(super) fn node_hash(id: &NodeId) -> B256 {
    keccak256(keccak256(id.0))
}

/// Returns the bit length of the difference of two hashes: 0 to 256.
pub(super) fn hash_distance(left: &B256, right: &B256) -> usize {
    let difference = left.0.iter().zip(&right.0).map(|(left, right)| left ^ right).enumerate();
    let mut differing = difference.filter(|(_, bits)| *bits != 0);
    differing.next().map_or(0, |(at, bits)| 8 * (32 - at) - bits.leading_zeros() as usize)
}

/// Returns the distance of two ids: 0 for equal ones, at most 256.
pub fn distance(left: &NodeId, right: &NodeId) -> usize {
    hash_distance(&node_hash(left), &node_hash(right))
}

/// Returns the bucket of a distance: 0 to 255.
pub fn bucket(distance: usize) -> usize {
    distance.saturating_sub(1)
}
