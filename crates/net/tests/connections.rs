//! Connections from the first byte to the last, with faults.

use crate::scripted_peer::{ScriptedPeer, connect, connect_from, entropy, is_closed, status};
use crate::support::{
    GENESIS, NETWORK, TestNetwork, chain_status, key, nowhere, options, standing, start, start_with_capacity, wait,
};
use rhizome_net::{
    BanTarget, ChainStatus, CloseReason, Enode, HostPort, Limits, MessageCount, MessageKind, NetworkError,
    NetworkOptions, NodeId, PeerDirection, PeerEvent, PeerNetwork, ScoreEvent, ScoredPeer,
};
use rhizome_primitives::B256;
use rhizome_wire::session::{Capability, DisconnectReason, EMPTY_LIST, Initiator, codes};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

const ENVELOPE: &[u8] = &[0xc2, 0x81, 0x99];

#[test]
fn two_nodes_connect_and_exchange_messages() {
    let mut listening = start(options(1));
    let static_peers = vec![listening.enode()];
    let mut dialling = start(NetworkOptions { port: None, static_peers, ..options(2) });
    let (inbound, outbound) = (listening.connected(), dialling.connected());
    assert_eq!((inbound.direction, outbound.direction), (PeerDirection::Inbound, PeerDirection::Outbound));
    assert_eq!((inbound.id, outbound.id), (key(2).id(), key(1).id()));
    assert!(inbound.shared.has_rhizome && outbound.is_static && !inbound.is_static);
    // STATUS comes first from both.
    assert_eq!(listening.message().0, MessageKind::Rsk);
    assert_eq!(dialling.message().0, MessageKind::Rsk);
    inbound.try_send(codes::RSK, vec![7; 3_000_000]).unwrap();
    outbound.try_send(codes::RHIZOME + 2, vec![8]).unwrap();
    assert_eq!(dialling.message(), (MessageKind::Rsk, vec![7; 3_000_000]));
    assert_eq!(listening.message(), (MessageKind::Rhizome(2), vec![8]));
    let figures = listening.network.figures();
    assert_eq!((figures.inbound, figures.outbound, dialling.network.figures().outbound), (1, 0, 1));
    let types = |counts: &[MessageCount]| counts.iter().map(|count| (count.name, count.messages)).collect::<Vec<_>>();
    let first = [("hello", 1), ("eth_status", 1)];
    assert_eq!(types(&figures.sent), [&first[..], &[("other", 1), ("status", 1)]].concat());
    assert_eq!(types(&figures.received), [&first[..], &[("status", 1), ("rhz_bodies_request", 1)]].concat());
    assert!(figures.sent.iter().any(|count| count.name == "other" && count.bytes == 3_000_000));
    assert!(dialling.network.remove_peer(&key(1).id()));
    assert_eq!(dialling.disconnected(), CloseReason::Removed);
    assert_eq!(listening.disconnected(), CloseReason::Remote(DisconnectReason::Requested));
    assert!(listening.network.peers().is_empty());
}

#[test]
fn a_static_peer_is_dialled_until_it_is_there() {
    let enode = nowhere(1);
    let mut dialling = start(NetworkOptions { port: None, static_peers: vec![enode.clone()], ..options(2) });
    dialling.closed("lost");
    let _late = start(NetworkOptions { port: Some(enode.address.port), ..options(1) });
    assert_eq!(dialling.connected().id, enode.id);
}

#[test]
fn nodes_that_dial_each_other_keep_one_connection() {
    let mut nodes = [start(options(1)), start(options(2))];
    let enodes = [nodes[0].enode(), nodes[1].enode()];
    nodes[0].network.add_peer(enodes[1].clone());
    nodes[1].network.add_peer(enodes[0].clone());
    wait("the connection", || nodes.iter().all(|node| node.network.peers().len() == 1));
    std::thread::sleep(Duration::from_millis(600));
    let sides: Vec<_> = nodes.iter().map(|node| node.network.peers()).collect();
    assert!(sides.iter().all(|peers| peers.len() == 1));
    assert_ne!(sides[0][0].direction, sides[1][0].direction);
    assert!(sides.iter().all(|peers| peers[0].connected.elapsed() > Duration::from_millis(500)));
    // Events of both nodes end with a connection.
    for node in &mut nodes {
        let mut open = 0;
        while let Ok(event) = node.events.try_recv() {
            match event {
                PeerEvent::Connected(_) => open += 1,
                PeerEvent::Disconnected(..) => open -= 1,
                PeerEvent::Message(..) => {}
            }
        }
        assert_eq!(open, 1);
    }
}

#[test]
fn a_handshake_byte_by_byte_works() {
    let node = start(options(1));
    let mut socket = connect(node.address());
    let initiator = Initiator::new(key(3), key(1).id(), entropy()).unwrap();
    for byte in initiator.auth() {
        socket.write_all(&[*byte]).unwrap();
    }
    assert!(!is_closed(&mut socket));
}

#[test]
fn bad_handshakes_are_closed_at_once() {
    let node = start(options(1));
    let auth = |remote, sender| Initiator::new(key(sender), key(remote).id(), entropy()).unwrap().auth().to_vec();
    let mut altered = auth(1, 3);
    altered[200] ^= 1;
    let mut off_curve = auth(1, 3);
    off_curve[40] ^= 1;
    let mut short = auth(1, 3);
    short[..2].copy_from_slice(&200u16.to_be_bytes());
    let long = [0xff; 400].to_vec();
    for (at, packet) in [altered, off_curve, short, long, auth(2, 3)].iter().enumerate() {
        let mut socket = connect(node.address());
        let start = Instant::now();
        socket.write_all(packet).unwrap();
        assert!(is_closed(&mut socket), "{at}");
        assert!(start.elapsed() < Duration::from_secs(1), "{at}");
    }
    node.closed("handshake");
}

#[test]
fn our_own_key_is_refused() {
    let node = start(options(1));
    let mut own = node.enode();
    // Under another id the node reaches itself; the handshake fails.
    own.id = key(9).id();
    node.network.add_peer(own);
    node.closed("handshake");
    assert!(Initiator::new(key(1), key(1).id(), entropy()).is_err());
    assert!(node.network.peers().is_empty());
}

#[test]
fn silence_ends_each_step() {
    let short = Duration::from_millis(200);
    let limits = Limits { handshake_time: short, hello_time: short, status_time: short, ..options(1).limits };
    let node = start(NetworkOptions { limits, ..options(1) });
    let mut silent = connect(node.address());
    assert!(is_closed(&mut silent));
    node.closed("handshake_timeout");
    let mut shaken = ScriptedPeer::shake(connect(node.address()), &key(3), key(1).id());
    assert_eq!(shaken.end(), Some(DisconnectReason::UselessPeer));
    node.closed("hello_timeout");
    let mut greeted = ScriptedPeer::shake(connect(node.address()), &key(3), key(1).id());
    greeted.hello(4, &[Capability::rsk()]);
    assert_eq!(greeted.end(), Some(DisconnectReason::UselessPeer));
    node.closed("status_timeout");
    assert!(node.network.peers().is_empty());
}

#[test]
fn a_silent_peer_gets_a_ping_and_is_closed() {
    let limits =
        Limits { ping_after: Duration::from_millis(100), silence: Duration::from_millis(400), ..options(1).limits };
    let node = start(NetworkOptions { limits, ..options(1) });
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    assert_eq!(peer.receive().unwrap().code, codes::PING);
    // An answer keeps the connection.
    std::thread::sleep(Duration::from_millis(250));
    peer.send(codes::PONG, &EMPTY_LIST);
    assert_eq!(peer.receive().unwrap().code, codes::PING);
    assert_eq!(peer.end(), Some(DisconnectReason::PingTimeout));
    node.closed("ping_timeout");
}

#[test]
fn a_pause_of_this_node_is_no_silence_of_its_peers() {
    let limits =
        Limits { ping_after: Duration::from_millis(300), silence: Duration::from_millis(1_500), ..options(1).limits };
    let is_paused = Arc::new(AtomicBool::new(false));
    let status = {
        let is_paused = Arc::clone(&is_paused);
        // Occupies a thread of the network.
        Arc::new(move || {
            if is_paused.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_secs(3));
            }
            chain_status()
        })
    };
    let (sender, _events) = tokio::sync::mpsc::channel(1_024);
    let network = PeerNetwork::start(NetworkOptions { limits, ..options(1) }, status, standing(), sender).unwrap();
    let address = network.listening().unwrap();
    let join = move |fill| ScriptedPeer::join(connect(address), &key(fill), key(1).id());
    let mut peers: Vec<_> = (10..18).map(join).collect();
    is_paused.store(true, Ordering::SeqCst);
    let blocking: Vec<_> = (30..34).map(|fill| std::thread::spawn(move || join(fill))).collect();
    std::thread::sleep(Duration::from_millis(400));
    is_paused.store(false, Ordering::SeqCst);
    peers.iter_mut().for_each(|peer| peer.send(codes::PONG, &EMPTY_LIST));
    // These may be closed: the pause has begun before they were looked at.
    blocking.into_iter().for_each(|thread| drop(thread.join()));
    for peer in &mut peers {
        peer.send(codes::PING, &EMPTY_LIST);
        while peer.receive().unwrap().code != codes::PONG {}
    }
}

#[test]
fn faults_after_the_handshake_are_answered_with_a_reason() {
    type Fault = fn(&mut ScriptedPeer);
    let greet = |peer: &mut ScriptedPeer| peer.hello(4, &[Capability::rsk()]);
    let faults: [(&str, Fault, DisconnectReason); 12] = [
        ("version 3", |peer| peer.hello(3, &[Capability::rsk()]), DisconnectReason::IncompatibleProtocol),
        ("no rsk", |peer| peer.hello(4, &[Capability::snap()]), DisconnectReason::IncompatibleProtocol),
        ("first message", |peer| peer.send(codes::PING, &EMPTY_LIST), DisconnectReason::BadProtocol),
        ("broken Hello", |peer| peer.send(codes::HELLO, &[0x80]), DisconnectReason::BadProtocol),
        ("second Hello", |peer| peer.hello(4, &[Capability::rsk()]), DisconnectReason::Requested),
        ("unknown code", |peer| peer.send(0x19, &[]), DisconnectReason::BadProtocol),
        ("reserved code", |peer| peer.send(0x11, &[]), DisconnectReason::BadProtocol),
        ("long frame", |peer| peer.send(codes::RSK, &[0; 5_000]), DisconnectReason::BadProtocol),
        ("no Status", |peer| peer.send(codes::RSK, ENVELOPE), DisconnectReason::BadProtocol),
        (
            "other version",
            |peer| peer.send(codes::STATUS, &status(63, NETWORK, GENESIS.as_slice())),
            DisconnectReason::IncompatibleProtocol,
        ),
        (
            "other network",
            |peer| peer.send(codes::STATUS, &status(62, 775, GENESIS.as_slice())),
            DisconnectReason::NullIdentity,
        ),
        (
            "other genesis",
            |peer| peer.send(codes::STATUS, &status(62, NETWORK, &[1; 32])),
            DisconnectReason::UnexpectedGenesis,
        ),
    ];
    let node = start(options(1));
    for (at, (name, fault, reason)) in faults.into_iter().enumerate() {
        let mut peer = ScriptedPeer::shake(connect(node.address()), &key(3), key(1).id());
        if at >= 4 {
            greet(&mut peer);
        }
        let start = Instant::now();
        fault(&mut peer);
        assert_eq!(peer.end(), Some(reason), "{name}");
        assert!(start.elapsed() < Duration::from_secs(1), "{name}");
        wait("the slot", || node.network.peers().is_empty());
    }
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    peer.send(codes::STATUS, &status(62, NETWORK, GENESIS.as_slice()));
    assert_eq!(peer.end(), Some(DisconnectReason::BadProtocol));
}

#[test]
fn wrong_macs_close_without_a_reason() {
    let node = start(options(1));
    for at in [3, 20, 40, 60] {
        let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
        let mut frame = peer.frame(codes::RSK, ENVELOPE);
        frame[at] ^= 1;
        peer.socket.write_all(&frame).unwrap();
        assert_eq!(peer.end(), None, "{at}");
        wait("the slot", || node.network.peers().is_empty());
    }
    node.closed("frame");
}

#[test]
fn a_frame_that_drips_is_closed() {
    let limits = Limits { frame_window: Duration::from_millis(200), frame_window_bytes: 1_000, ..options(1).limits };
    let node = start(NetworkOptions { limits, ..options(1) });
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let frame = peer.frame(codes::RSK, &[0xc0; 4_000]);
    for byte in &frame {
        if peer.socket.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    peer.end();
    node.closed("slow");
}

#[test]
fn ten_thousand_pings_get_their_pongs() {
    let node = start(options(1));
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let pings: Vec<u8> = (0..10_000).flat_map(|_| peer.frame(codes::PING, &EMPTY_LIST)).collect();
    let mut socket = peer.socket.try_clone().unwrap();
    let writer = std::thread::spawn(move || socket.write_all(&pings));
    for _ in 0..10_000 {
        assert_eq!(peer.receive().unwrap().code, codes::PONG);
    }
    writer.join().unwrap().unwrap();
    assert_eq!(node.network.peers().len(), 1);
}

#[test]
fn the_shortest_messages_are_limited() {
    let limits = Limits { bytes_per_second: f64::from(100 << 10), ..options(1).limits };
    let node = start(NetworkOptions { limits, ..options(1) });
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let start = Instant::now();
    for _ in 0..1_300 {
        peer.send(codes::PING, &EMPTY_LIST);
    }
    for _ in 0..1_300 {
        assert_eq!(peer.receive().unwrap().code, codes::PONG);
    }
    // A thousand at once, then a hundred a second.
    assert!(start.elapsed() >= Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_peer_that_does_not_read_is_closed() {
    let limits = Limits { send_time: Duration::from_millis(500), ..options(1).limits };
    let mut node = start(NetworkOptions { limits, ..options(1) });
    let _peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let handle = node.connected();
    let mut queued = 0;
    while handle.try_send(codes::RSK, vec![0; 1 << 20]).is_ok() {
        queued += 1;
    }
    // The frame that is being written and the buffers of the sockets come on top of the queue.
    assert!((7..16).contains(&queued), "{queued}");
    assert_eq!(node.disconnected(), CloseReason::NotReading);
}

#[test]
fn a_full_queue_stops_reading_and_loses_nothing() {
    let limits = Limits { inbox_messages: 4, ..options(1).limits };
    let mut node = start_with_capacity(NetworkOptions { limits, ..options(1) }, 2);
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let count = 3_000u32;
    let writer = std::thread::spawn(move || {
        for number in 0..count {
            let mut payload = vec![0; 10_000];
            payload[..4].copy_from_slice(&number.to_be_bytes());
            peer.send(codes::RSK, &payload);
        }
        peer
    });
    node.connected();
    std::thread::sleep(Duration::from_millis(300));
    // 30 MB do not fit into the sockets: the peer waits.
    assert!(!writer.is_finished());
    for number in 0..count {
        assert_eq!(node.message().1[..4], number.to_be_bytes());
    }
    writer.join().unwrap();
}

#[test]
fn peers_of_one_network_do_not_take_all_slots() {
    let node = start(NetworkOptions { exempts_local: false, max_peers: 24, ..options(1) });
    let mut peers = Vec::new();
    let mut refused = 0;
    for number in 0..200u8 {
        let mut peer =
            ScriptedPeer::shake(connect_from([127, 7, number, 1], node.address()), &key(number + 10), key(1).id());
        peer.hello(4, &[Capability::rsk()]);
        peer.send(codes::STATUS, &status(62, NETWORK, GENESIS.as_slice()));
        match peer.receive().unwrap().code {
            codes::HELLO => peers.push(peer),
            _ => refused += 1,
        }
    }
    // Half of 16 inbound slots.
    assert_eq!((peers.len(), refused), (8, 192));
    for number in 0..8u8 {
        let socket = connect_from([127, 20 + number, 0, 1], node.address());
        peers.push(ScriptedPeer::join(socket, &key(220 + number), key(1).id()));
    }
    let mut one_more = ScriptedPeer::shake(connect_from([127, 40, 0, 1], node.address()), &key(240), key(1).id());
    one_more.hello(4, &[Capability::rsk()]);
    assert_eq!(one_more.end(), Some(DisconnectReason::TooManyPeers));
}

#[test]
fn inbound_peers_leave_the_outbound_slots_to_this_node() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes");
    let known = [nowhere(1), nowhere(2)];
    std::fs::write(&file, known.each_ref().map(|enode| format!("{enode}\n")).concat()).unwrap();
    // Two slots for each direction.
    let node = start(NetworkOptions { nodes_file: Some(file), max_peers: 4, ..options(3) });
    let join = |fill| ScriptedPeer::join(connect(node.address()), &key(fill), key(3).id());
    let _attackers = [10, 11].map(join);
    let mut third = ScriptedPeer::shake(connect(node.address()), &key(12), key(3).id());
    third.hello(4, &[Capability::rsk()]);
    assert_eq!(third.end(), Some(DisconnectReason::TooManyPeers));
    let _late = [1, 2].map(|fill: u8| {
        start(NetworkOptions { port: Some(known[usize::from(fill) - 1].address.port), ..options(fill) })
    });
    wait("the known nodes", || node.network.peers().len() == 4);
    let is_known = |id: &NodeId| known.iter().any(|enode| enode.id == *id);
    let peers = node.network.peers();
    assert!(peers.iter().all(|peer| is_known(&peer.id) == (peer.direction == PeerDirection::Outbound)));
}

#[test]
fn anchors_are_dialled_first_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes");
    let listed = |enodes: &[Enode]| enodes.iter().map(|enode| format!("{enode}\n")).collect::<String>();
    let anchors = [start(options(1)), start(options(2))];
    let live = anchors.each_ref().map(|node| node.enode());
    let absent: Vec<Enode> = (20..60).map(nowhere).collect();
    std::fs::write(&file, listed(&live)).unwrap();
    let eclipsed = || start(NetworkOptions { nodes_file: Some(file.clone()), ..options(3) });
    let has_both = |node: &TestNetwork| {
        live.iter()
            .all(|enode| node.network.peer(&enode.id).is_some_and(|peer| peer.direction == PeerDirection::Outbound))
    };
    let before = eclipsed();
    wait("the first connections", || has_both(&before));
    before.network.stop();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(live.iter().all(|enode| kept.lines().take(2).any(|line| line == enode.to_string())), "{kept}");
    // Nodes that an attacker has announced since.
    std::fs::write(&file, kept + &listed(&absent)).unwrap();
    let after = eclipsed();
    wait("the anchors", || has_both(&after));
}

#[test]
fn an_outbound_peer_is_replaced_by_a_node_of_another_network() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes");
    let peers = [1, 2, 4].map(|fill| start(options(fill)));
    let named = start(options(5));
    let port = nowhere(9).address.port;
    let other = Enode { id: key(9).id(), address: HostPort { host: "127.1.0.1".to_owned(), port } };
    let known = peers.iter().map(TestNetwork::enode).chain([other.clone()]);
    std::fs::write(&file, known.map(|enode| format!("{enode}\n")).collect::<String>()).unwrap();
    let limits = Limits {
        redial_max: Duration::from_millis(100),
        rotation_time: Duration::from_millis(300),
        ..options(3).limits
    };
    // Three outbound slots.
    let static_peers = vec![named.enode()];
    let node = start(NetworkOptions { nodes_file: Some(file), max_peers: 6, static_peers, limits, ..options(3) });
    wait("the outbound peers", || node.network.peers().len() == 4);
    let mut before: Vec<_> = node.network.peers().into_iter().filter(|peer| !peer.is_static).collect();
    before.sort_by_key(|peer| peer.connected);
    let _late = start(NetworkOptions { host: [127, 1, 0, 1].into(), port: Some(port), ..options(9) });
    node.closed("rotated");
    let has = |id: &NodeId| node.network.peer(id).is_some();
    wait("the replacement", || !has(&before[2].id));
    assert!(has(&other.id) && has(&before[0].id) && has(&before[1].id) && has(&key(5).id()));
    // The new network is not given up for the old one, and the peer may come again.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!((node.network.peers().len(), node.network.closed()["rotated"]), (4, 1));
    assert!(!node.network.standing().refuses_node(&before[2].id));
    assert_eq!(node.network.standing().node_score(&before[2].id), node.network.standing().node_score(&other.id));
}

#[test]
fn three_more_nodes_are_dialled_while_the_head_does_not_move() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes");
    let nodes: Vec<_> = (10..18).map(|fill| start(options(fill))).collect();
    std::fs::write(&file, nodes.iter().map(|node| format!("{}\n", node.enode())).collect::<String>()).unwrap();
    let limits = Limits { stall_time: Duration::from_millis(400), ..options(3).limits };
    // Two outbound slots.
    let public =
        NetworkOptions { nodes_file: Some(file), port: None, max_peers: 4, expects_blocks: true, limits, ..options(3) };
    let height = Arc::new(AtomicU8::new(1));
    let status = {
        let height = Arc::clone(&height);
        Arc::new(move || ChainStatus { hash: B256::repeat_byte(height.load(Ordering::SeqCst)), ..chain_status() })
    };
    let start = |options| {
        let (sender, events) = tokio::sync::mpsc::channel(1_024);
        (PeerNetwork::start(options, status.clone(), standing(), sender).unwrap(), events)
    };
    let (development, _events) = start(NetworkOptions { expects_blocks: false, ..public.clone() });
    let (network, _events) = start(NetworkOptions { key: key(4), ..public });
    wait("the stall", || network.figures().stalled.is_some());
    wait("three more peers", || network.figures().outbound == 5);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(network.figures().outbound, 5);
    height.store(2, Ordering::SeqCst);
    wait("the end", || network.figures().stalled.is_none());
    assert_eq!(development.figures().outbound, 2);
    assert_eq!(development.figures().stalled, None);
}

#[test]
fn connections_of_one_address_are_limited() {
    let node = start(NetworkOptions { exempts_local: false, ..options(1) });
    let mut sockets: Vec<_> = (0..9).map(|_| connect(node.address())).collect();
    assert!(is_closed(sockets.last_mut().unwrap()));
    for _ in 0..4 {
        sockets.push(connect_from([127, 0, 9, 9], node.address()));
    }
    sockets[0].set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(!is_closed(&mut sockets[0]));
}

#[test]
fn stop_ends_all_within_a_second() {
    let node = start(options(1));
    let mut peers: Vec<_> =
        (0..20).map(|number| ScriptedPeer::join(connect(node.address()), &key(10 + number), key(1).id())).collect();
    let _half_open = connect(node.address());
    wait("the peers", || node.network.peers().len() == 20);
    let start = Instant::now();
    node.network.stop();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert!(peers.iter_mut().all(|peer| peer.end() == Some(DisconnectReason::Quitting)));
}

#[test]
fn a_port_in_use_is_an_error() {
    let first = start(options(1));
    let (sender, _events) = tokio::sync::mpsc::channel(1);
    let second = NetworkOptions { port: Some(first.address().port()), ..options(2) };
    let error = PeerNetwork::start(second, Arc::new(chain_status), standing(), sender).err().unwrap();
    assert!(matches!(error, NetworkError::Listen { address, .. } if address == first.address()));
}

#[test]
fn a_banned_node_is_closed_and_refused() {
    let mut node = start(options(1));
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    node.connected();
    let target = BanTarget::Node(key(3).id());
    node.network.standing().ban(target, None).unwrap();
    assert_eq!(node.disconnected(), CloseReason::Banned);
    assert_eq!(peer.end(), None);
    let mut again = ScriptedPeer::shake(connect(node.address()), &key(3), key(1).id());
    again.hello(4, &[Capability::rsk()]);
    assert_eq!(again.end(), None);
    node.network.standing().unban(&target).unwrap();
    ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
}

#[test]
fn an_offence_closes_and_bans_the_node_for_a_while() {
    let mut node = start(options(1));
    let mut peer = ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
    let handle = node.connected();
    node.network.report(&handle, ScoreEvent::InvalidBlock);
    assert_eq!(node.disconnected(), CloseReason::Punished);
    assert_eq!(peer.end(), None);
    let standing = node.network.standing();
    assert!(standing.refuses_node(&key(3).id()));
    // Loopback addresses are not punished: other nodes of this machine stay welcome.
    assert!(!standing.refuses_address([127, 0, 0, 1].into()));
    assert_eq!(standing.ban_counts().get("invalidBlocks"), Some(&1));
    ScriptedPeer::join(connect(node.address()), &key(4), key(1).id());
    standing.clear(&ScoredPeer::Node(key(3).id()));
    ScriptedPeer::join(connect(node.address()), &key(3), key(1).id());
}
