//! Table of the nodes that have proven their address, in buckets by distance.

use super::distance::{bucket, hash_distance, node_hash};
use crate::address_group::{AddressGroup, is_local};
use rhizome_primitives::B256;
use rhizome_wire::session::NodeId;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

const BUCKETS: usize = 256;
/// Nodes of one bucket.
const BUCKET_SIZE: usize = 16;
/// Nodes of one IPv4 /24 or IPv6 /48 in a bucket, and in the table.
const GROUP_IN_BUCKET: usize = 2;
const GROUP_IN_TABLE: usize = 10;

/// Node that has answered a Ping at its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownNode {
    pub(crate) id: NodeId,
    /// UDP source of its Pong; TCP uses the same port.
    pub(crate) address: SocketAddr,
    pub(super) last_seen: Instant,
    hash: B256,
}

/// Result of an insertion.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Insertion {
    /// The node is in the table.
    Added,
    /// The bucket is full. The node that was silent for the longest time is to be asked.
    Full(KnownNode),
    /// The node is our own, or its network of addresses has its share.
    Refused,
}

/// Table of known nodes.
pub(crate) struct NodeTable {
    own: NodeId,
    own_hash: B256,
    exempts_local: bool,
    buckets: Vec<Vec<KnownNode>>,
}

impl NodeTable {
    pub(super) fn new(own: NodeId, exempts_local: bool) -> NodeTable {
        NodeTable { own, own_hash: node_hash(&own), exempts_local, buckets: vec![Vec::new(); BUCKETS] }
    }

    /// Adds a node, or refreshes it and its address.
    pub(super) fn insert(&mut self, id: NodeId, address: SocketAddr, now: Instant) -> Insertion {
        if id == self.own {
            return Insertion::Refused;
        }
        let hash = node_hash(&id);
        let at = bucket(hash_distance(&self.own_hash, &hash));
        if let Some(node) = self.buckets[at].iter_mut().find(|node| node.id == id && node.address == address) {
            node.last_seen = now;
            return Insertion::Added;
        }
        if !self.has_share(at, &id, address.ip()) {
            return Insertion::Refused;
        }
        let nodes = &mut self.buckets[at];
        nodes.retain(|node| node.id != id);
        if nodes.len() >= BUCKET_SIZE
            && let Some(oldest) = nodes.iter().min_by_key(|node| node.last_seen)
        {
            return Insertion::Full(oldest.clone());
        }
        nodes.push(KnownNode { id, address, last_seen: now, hash });
        Insertion::Added
    }

    /// Whether the network of an address has room for a node.
    fn has_share(&self, at: usize, id: &NodeId, address: IpAddr) -> bool {
        if self.exempts_local && is_local(address) {
            return true;
        }
        let group = AddressGroup::small(address);
        let is_in_group = |node: &&KnownNode| node.id != *id && AddressGroup::small(node.address.ip()) == group;
        self.buckets[at].iter().filter(is_in_group).count() < GROUP_IN_BUCKET
            && self.all().filter(is_in_group).count() < GROUP_IN_TABLE
    }

    pub(super) fn get(&self, id: &NodeId) -> Option<&KnownNode> {
        let at = bucket(hash_distance(&self.own_hash, &node_hash(id)));
        self.buckets[at].iter().find(|node| node.id == *id)
    }

    pub(super) fn remove(&mut self, id: &NodeId) {
        let at = bucket(hash_distance(&self.own_hash, &node_hash(id)));
        self.buckets[at].retain(|node| node.id != *id);
    }

    /// Returns all nodes, those with a similar hash to this node first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &KnownNode> {
        self.buckets.iter().flatten()
    }

    /// Returns up to `count` nodes, nearest to `id` first.
    pub(super) fn nearest(&self, id: &NodeId, count: usize) -> Vec<&KnownNode> {
        let target = node_hash(id);
        let mut nodes: Vec<_> = self.all().filter(|node| node.id != *id).collect();
        nodes.sort_by_key(|node| node.hash ^ target);
        nodes.truncate(count);
        nodes
    }

    pub(crate) fn len(&self) -> usize {
        self.buckets.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_wire::session::NodeKey;

    fn id(number: u16) -> NodeId {
        let mut bytes = [1; 32];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        NodeKey::from_bytes(bytes).unwrap().id()
    }

    #[test]
    fn a_network_of_addresses_has_its_share() {
        let now = Instant::now();
        let mut table = NodeTable::new(id(0), false);
        for number in 1..=1_000 {
            table.insert(id(number), ([203, 0, 113, number as u8], 5_050).into(), now);
        }
        assert_eq!(table.len(), GROUP_IN_TABLE);
        assert!(table.buckets.iter().all(|nodes| nodes.len() <= GROUP_IN_BUCKET));
        assert_eq!(table.insert(id(0), ([203, 0, 114, 1], 5_050).into(), now), Insertion::Refused);
    }

    #[test]
    fn a_full_bucket_names_its_oldest_node() {
        let now = Instant::now();
        let mut table = NodeTable::new(id(0), true);
        let mut full = 0;
        for number in 1..=200 {
            let seen = now + std::time::Duration::from_secs(number.into());
            match table.insert(id(number), ([127, 0, 0, 1], number).into(), seen) {
                Insertion::Full(oldest) => {
                    full += 1;
                    assert!(table.get(&oldest.id).is_some());
                    assert!(table.get(&id(number)).is_none());
                }
                inserted => assert_eq!(inserted, Insertion::Added),
            }
        }
        assert_eq!(table.len() + full, 200);
        let nearest = table.nearest(&id(7), 12);
        assert_eq!(nearest.len(), 12);
        assert!(nearest.iter().all(|node| node.id != id(7)));
        // A node has one address at a time.
        let moved = nearest[0].id;
        table.insert(moved, ([127, 0, 0, 2], 9).into(), now);
        assert_eq!(table.get(&moved).map(|node| node.address), Some(([127, 0, 0, 2], 9).into()));
    }
}
