//! Replaces an outbound peer by a node of another network of addresses at regular times: nodes of one owner that have
//! filled the slots do not keep them (docs/spec/p2p-additions.md, F "Eclipse").

use crate::address_group::AddressGroup;
use crate::close_reason::CloseReason;
use crate::dialler::{dial_successor, is_candidate, random_start};
use crate::network_state::NetworkState;
use crate::node_list::{ANCHORS, ListedNode};
use std::collections::HashMap;
use std::sync::Arc;

/// Nodes dialled for one rotation: most known nodes may be offline.
const MAX_CANDIDATES: usize = 16;

/// A planned replacement.
#[derive(Debug, PartialEq, Eq)]
struct Rotation {
    leaving: ListedNode,
    next: ListedNode,
}

/// Replaces peers without end.
pub(crate) async fn rotate(shared: Arc<NetworkState>) {
    loop {
        tokio::time::sleep(shared.options.limits.rotation_time).await;
        rotate_once(&shared).await;
    }
}

/// Replaces one outbound peer as soon as its successor has proven to be on our chain. Does nothing while a slot is free.
async fn rotate_once(shared: &Arc<NetworkState>) {
    let mut tried = Vec::new();
    while tried.len() < MAX_CANDIDATES {
        let Some(Rotation { leaving, next }) = plan(shared, &tried) else { return };
        tried.push(next);
        if dial_successor(shared, next).await {
            if let Some(peer) = shared.registry.get(&leaving.id) {
                peer.close(CloseReason::Rotated);
            }
            return;
        }
    }
}

/// Plans a replacement with a node that was not tried; `None` while a slot is free, or without a suitable node.
fn plan(shared: &NetworkState, tried: &[ListedNode]) -> Option<Rotation> {
    let outbound: Vec<_> = shared.registry.outbound().into_iter().filter(|peer| !shared.is_static(&peer.id)).collect();
    if outbound.len() < shared.options.slots().outbound {
        return None;
    }
    let outbound: Vec<_> = outbound.iter().map(|peer| ListedNode { id: peer.id, address: peer.address }).collect();
    let mut known: Vec<_> = shared.nodes.lock().iter().copied().collect();
    known.retain(|node| !tried.contains(node) && is_candidate(shared, node));
    let start = random_start(known.len());
    known.rotate_left(start);
    choose(&outbound, &known, random_start(outbound.len().saturating_sub(ANCHORS)))
}

/// Chooses the first known node of the network with the fewest peers, and a peer of another network with the most, no anchor.
/// `outbound`: the longest connection first. `start`: position behind the anchors from which on a peer is looked for.
fn choose(outbound: &[ListedNode], known: &[ListedNode], start: usize) -> Option<Rotation> {
    let group = |node: &ListedNode| AddressGroup::large(node.address.ip());
    let mut counts = HashMap::<AddressGroup, usize>::new();
    for peer in outbound {
        *counts.entry(group(peer)).or_default() += 1;
    }
    let count = |node: &ListedNode| counts.get(&group(node)).copied().unwrap_or_default();
    let next = known.iter().min_by_key(|node| count(node))?;
    let others = outbound.get(ANCHORS..)?;
    let (before, from) = others.split_at_checked(start)?;
    let leaving = from.iter().chain(before).filter(|peer| group(peer) != group(next)).max_by_key(|peer| count(peer))?;
    // Otherwise the networks of the peers would become fewer.
    (count(next) <= count(leaving)).then_some(Rotation { leaving: *leaving, next: *next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_wire::session::NodeId;

    fn node(number: u8, address: [u8; 4]) -> ListedNode {
        ListedNode { id: NodeId([number; 64]), address: (address, 5_050).into() }
    }

    #[test]
    fn a_peer_of_a_frequent_network_leaves_for_a_new_network() {
        let attackers = [1, 2, 3, 4, 5].map(|number| node(number, [8, 8, number, 1]));
        let honest = node(6, [9, 9, 9, 9]);
        let peers = [&attackers[..4], &[honest]].concat();
        let new = node(7, [7, 7, 7, 7]);
        for start in 0..3 {
            let rotation = choose(&peers, &[attackers[4], new], start).unwrap();
            assert_eq!(rotation.next, new);
            assert!(attackers[2..4].contains(&rotation.leaving), "{rotation:?}");
        }
        // The known nodes are of networks that have more peers.
        assert_eq!(choose(&peers, &[attackers[4]], 0), None);
    }

    #[test]
    fn each_peer_but_the_anchors_leaves_some_day() {
        let peers = [1, 2, 3, 4, 5].map(|number| node(number, [number + 10, 8, 8, 8]));
        let leaving = |start| choose(&peers, &[node(9, [9, 9, 9, 9])], start).map(|rotation| rotation.leaving);
        let mut left = [0, 1, 2].map(|start| leaving(start).unwrap().id.0[0]);
        left.sort_unstable();
        assert_eq!(left, [3, 4, 5]);
        assert_eq!(choose(&peers[..2], &[node(9, [9, 9, 9, 9])], 0), None);
        assert_eq!(choose(&peers, &[], 0), None);
    }
}
