use super::*;
use std::collections::VecDeque;

const NETWORK: u64 = 775;

fn address(number: u8) -> SocketAddr {
    ([203, number, 113, 1], 5_050).into()
}

fn key(number: u8) -> NodeKey {
    NodeKey::from_bytes([number; 32]).unwrap()
}

fn node(number: u8, network_id: u64, now: Instant) -> Discovery {
    let (host, port) = (address(number).ip(), address(number).port());
    let options = DiscoveryOptions { key: key(number), network_id, host, port, exempts_local: false };
    Discovery::new(options, now)
}

/// Delivers datagrams between nodes, numbered from 1, until none is left. Returns their number.
fn deliver(nodes: &mut [Discovery], now: Instant) -> usize {
    let mut queue = VecDeque::new();
    let mut count = 0;
    loop {
        for (at, node) in nodes.iter_mut().enumerate() {
            queue.extend(node.take_outgoing().into_iter().map(|datagram| (address(at as u8 + 1), datagram)));
        }
        let Some((source, datagram)) = queue.pop_front() else { return count };
        count += 1;
        if let Some(at) = (0..nodes.len()).find(|at| address(*at as u8 + 1) == datagram.to) {
            nodes[at].receive(&datagram.bytes, source, now);
        }
    }
}

fn ids(node: &Discovery) -> Vec<NodeId> {
    let mut ids: Vec<_> = node.table.all().map(|node| node.id).collect();
    ids.sort();
    ids
}

fn packet(sender: u8, content: DiscoveryContent) -> Vec<u8> {
    let id = packet_id().unwrap();
    DiscoveryMessage { id, network: Some(NETWORK), content }.encode(&key(sender))
}

fn own_endpoint(number: u8) -> NodeEndpoint {
    NodeEndpoint { host: address(number).ip().to_string(), udp_port: 5_050, tcp_port: 5_050 }
}

/// Returns nodes that have contacted the first one.
fn nodes_around_first(count: u8, now: Instant) -> Vec<Discovery> {
    let mut nodes: Vec<_> = (1..=count).map(|number| node(number, NETWORK, now)).collect();
    for node in &mut nodes[1..] {
        node.contact(address(1), now);
    }
    deliver(&mut nodes, now);
    nodes
}

#[test]
fn nodes_find_each_other_through_one() {
    let now = Instant::now();
    let mut nodes = nodes_around_first(6, now);
    let later = now + REFRESH;
    for node in &mut nodes {
        node.tick(later);
    }
    deliver(&mut nodes, later);
    for (at, node) in nodes.iter().enumerate() {
        let mut others: Vec<_> = (1..=6).filter(|number| *number != at as u8 + 1).map(|n| key(n).id()).collect();
        others.sort();
        assert_eq!(ids(node), others, "{at}");
    }
}

#[test]
fn other_networks_are_not_answered() {
    let now = Instant::now();
    let mut nodes = [node(1, NETWORK, now), node(2, 8_100, now)];
    nodes[1].contact(address(1), now);
    assert_eq!(deliver(&mut nodes, now), 1);
    assert_eq!((nodes[0].table.len(), nodes[1].table.len()), (0, 0));
}

#[test]
fn find_needs_a_proven_address() {
    let now = Instant::now();
    let mut nodes = [node(1, NETWORK, now), node(2, NETWORK, now)];
    let find = packet(2, DiscoveryContent::FindNode(key(2).id()));
    nodes[0].receive(&find, address(2), now);
    assert!(nodes[0].take_outgoing().is_empty());
    nodes[1].contact(address(1), now);
    deliver(&mut nodes, now);
    // A proven id at another address gets no answer, either.
    let find = packet(2, DiscoveryContent::FindNode(key(2).id()));
    nodes[0].receive(&find, address(9), now);
    assert!(nodes[0].take_outgoing().is_empty());
    let find = packet(2, DiscoveryContent::FindNode(key(2).id()));
    nodes[0].receive(&find, address(2), now);
    assert_eq!(nodes[0].take_outgoing().len(), 1);
    // A repetition of the packet is dropped.
    nodes[0].receive(&find, address(2), now);
    assert!(nodes[0].take_outgoing().is_empty());
}

#[test]
fn a_ping_with_a_forged_address_leads_to_two_packets() {
    let now = Instant::now();
    let mut discovery = node(1, NETWORK, now);
    discovery.receive(&packet(2, DiscoveryContent::Ping(own_endpoint(2))), address(9), now);
    let mut sent = discovery.take_outgoing();
    for seconds in [16, 32, 48, 64] {
        discovery.tick(now + Duration::from_secs(seconds));
        sent.extend(discovery.take_outgoing());
    }
    assert_eq!(sent.iter().map(|datagram| datagram.to).collect::<Vec<_>>(), [address(9); 2]);
}

#[test]
fn a_pong_counts_only_for_its_ping() {
    let now = Instant::now();
    let mut discovery = node(1, NETWORK, now);
    discovery.receive(&packet(2, DiscoveryContent::Pong(own_endpoint(2))), address(2), now);
    assert_eq!(discovery.table.len(), 0);
    discovery.contact(address(2), now);
    let ping = discovery.take_outgoing().remove(0);
    let id = DiscoveryPacket::decode(&ping.bytes).unwrap().message.id;
    let pong = |network| {
        let content = DiscoveryContent::Pong(own_endpoint(2));
        DiscoveryMessage { id, network, content }.encode(&key(2))
    };
    discovery.receive(&pong(Some(NETWORK)), address(3), now);
    assert_eq!(discovery.table.len(), 0);
    let late = now + Duration::from_secs(15);
    discovery.receive(&pong(None), address(2), late);
    assert_eq!(discovery.table.len(), 0);
}

#[test]
fn forged_packets_have_no_effect() {
    let now = Instant::now();
    let mut discovery = node(1, NETWORK, now);
    let ping = packet(2, DiscoveryContent::Ping(own_endpoint(2)));
    for at in [0, 40, 97, ping.len() - 1] {
        let mut altered = ping.clone();
        altered[at] ^= 1;
        discovery.receive(&altered, address(2), now);
    }
    discovery.receive(&ping[..97], address(2), now);
    discovery.receive(&packet(1, DiscoveryContent::Ping(own_endpoint(1))), address(1), now);
    assert!(discovery.take_outgoing().is_empty());
    discovery.receive(&ping, address(2), now);
    // Pong, and a Ping that asks for a proof.
    assert_eq!(discovery.take_outgoing().len(), 2);
}

#[test]
fn neighbors_lead_only_to_public_addresses() {
    let now = Instant::now();
    let mut nodes = [node(1, NETWORK, now), node(2, NETWORK, now)];
    nodes[1].contact(address(1), now);
    deliver(&mut nodes, now);
    let discovery = &mut nodes[0];
    discovery.find(key(2).id(), address(2), now);
    let find = discovery.take_outgoing().remove(0);
    let id = DiscoveryPacket::decode(&find.bytes).unwrap().message.id;
    let hosts =
        ["127.0.0.1", "10.0.0.1", "192.168.1.1", "224.0.0.1", "0.0.0.0", "example.org", "203.1.113.1", "8.8.8.8"];
    let record = |host: &&str| NodeRecord {
        endpoint: NodeEndpoint { host: (*host).to_owned(), udp_port: 5_050, tcp_port: 5_050 },
        id: key(7).id(),
    };
    let content = DiscoveryContent::Neighbors(hosts.iter().map(record).collect());
    let answer = DiscoveryMessage { id, network: Some(NETWORK), content }.encode(&key(2));
    discovery.receive(&answer, address(2), now);
    let targets: Vec<_> = discovery.take_outgoing().into_iter().map(|datagram| datagram.to).collect();
    assert_eq!(targets, [SocketAddr::from(([8, 8, 8, 8], 5_050))]);
    // The answer is taken once.
    let more = DiscoveryMessage { id, network: None, content: DiscoveryContent::Neighbors(vec![]) }.encode(&key(2));
    discovery.receive(&more, address(2), now);
    assert!(discovery.take_outgoing().is_empty());
}

#[test]
fn configured_addresses_are_contacted_with_growing_pauses_until_a_node_answers() {
    let now = Instant::now();
    let mut alone = node(1, NETWORK, now);
    let mut contacts = |seconds: std::ops::Range<u64>| {
        seconds.filter(|second| alone.tick(now + Duration::from_secs(*second))).collect::<Vec<_>>()
    };
    assert_eq!(contacts(0..200), [0, 2, 6, 14, 30, 62, 122, 182]);
    let later = now + Duration::from_secs(200);
    let mut nodes = [alone, node(2, NETWORK, now)];
    nodes[0].contact(address(2), later);
    deliver(&mut nodes, later);
    assert_eq!(nodes[0].table.len(), 1);
    assert!(!nodes[0].tick(later + Duration::from_secs(1)));
}

#[test]
fn configured_addresses_are_contacted_in_spite_of_strangers_and_remembered_nodes() {
    let now = Instant::now();
    let mut alone = node(1, NETWORK, now);
    alone.contact(address(3), now);
    let mut contacts = Vec::new();
    for second in 0..200 {
        let time = now + Duration::from_secs(second);
        if second % 10 == 0 {
            // No node is there.
            alone.receive(&packet(2, DiscoveryContent::Ping(own_endpoint(2))), address(9), time);
        }
        if alone.tick(time) {
            contacts.push(second);
        }
    }
    // The remembered node is silent after 45 s.
    assert_eq!(contacts, [0, 45, 49, 57, 73, 105, 165]);
}

#[test]
fn a_node_that_names_silent_ones_leaves_room_for_those_of_others() {
    let now = Instant::now();
    let mut nodes = nodes_around_first(4, now);
    let mut discovery = nodes.remove(0);
    let mut neighbors = |sender: u8, hosts: std::ops::Range<u8>| {
        discovery.find(key(sender).id(), address(sender), now);
        let find = discovery.take_outgoing().remove(0);
        let id = DiscoveryPacket::decode(&find.bytes).unwrap().message.id;
        let record = |host| NodeRecord {
            endpoint: NodeEndpoint { host: format!("8.8.8.{host}"), udp_port: 5_050, tcp_port: 5_050 },
            id: key(7).id(),
        };
        let content = DiscoveryContent::Neighbors(hosts.map(record).collect());
        let answer = DiscoveryMessage { id, network: Some(NETWORK), content }.encode(&key(sender));
        discovery.receive(&answer, address(sender), now);
        discovery.take_outgoing().len()
    };
    assert_eq!((neighbors(2, 0..20), neighbors(3, 20..40)), (20, 16));
    assert_eq!((neighbors(2, 40..60), neighbors(4, 60..80)), (0, 10));
}

#[test]
fn silent_nodes_leave_the_table() {
    let now = Instant::now();
    let mut nodes = [node(1, NETWORK, now), node(2, NETWORK, now)];
    nodes[1].contact(address(1), now);
    deliver(&mut nodes, now);
    assert_eq!(nodes[0].table.len(), 1);
    let mut pings = 0;
    for second in 60..180 {
        nodes[0].tick(now + Duration::from_secs(second));
        pings += nodes[0].take_outgoing().len();
    }
    assert_eq!(nodes[0].table.len(), 0);
    assert!((3..12).contains(&pings), "{pings}");
}

#[test]
fn one_address_cannot_send_without_end() {
    let now = Instant::now();
    let mut discovery = node(1, NETWORK, now);
    for _ in 0..1_000 {
        discovery.receive(&packet(2, DiscoveryContent::Ping(own_endpoint(2))), address(2), now);
    }
    // 30 Pongs and one Ping.
    assert_eq!(discovery.take_outgoing().len(), 31);
}
