//! Packets of node discovery.

use proptest::prelude::*;
use rhizome_primitives::keccak256;
use rhizome_primitives::rlp::{list, put_bytes};
use rhizome_wire::session::{
    DiscoveryContent, DiscoveryError, DiscoveryMessage, DiscoveryPacket, IdentityError, NodeEndpoint, NodeId, NodeKey,
    NodeRecord, PacketId,
};
use serde_json::Value;

use super::{bytes, node_id, node_key, number, text, vectors};

fn endpoint(parts: &Value) -> NodeEndpoint {
    NodeEndpoint {
        host: parts[0].as_str().unwrap().to_owned(),
        udp_port: parts[1].as_u64().unwrap() as u16,
        tcp_port: parts[2].as_u64().unwrap() as u16,
    }
}

fn record(node: &Value) -> NodeRecord {
    NodeRecord {
        endpoint: NodeEndpoint {
            host: text(node, "host").to_owned(),
            udp_port: number(node, "udpPort"),
            tcp_port: number(node, "tcpPort"),
        },
        id: node_id(node, "nodeId"),
    }
}

fn message(kind: u64, fields: &Value) -> DiscoveryMessage {
    let id = PacketId::from_text(text(fields, "messageId").as_bytes()).unwrap();
    let network = Some(number(fields, "networkId"));
    if kind <= 2 {
        assert_eq!(fields["from"], fields["to"]);
    }
    let content = match kind {
        1 => DiscoveryContent::Ping(endpoint(&fields["from"])),
        2 => DiscoveryContent::Pong(endpoint(&fields["from"])),
        3 => DiscoveryContent::FindNode(node_id(fields, "target")),
        4 => DiscoveryContent::Neighbors(super::list(fields, "nodes").iter().map(record).collect()),
        other => panic!("type {other}"),
    };
    DiscoveryMessage { id, network, content }
}

/// Signed packet with any type and body.
fn signed(kind: u8, body: &[u8]) -> Vec<u8> {
    let id = PacketId::from_random([1; 16]);
    let key = NodeKey::from_bytes([7; 32]).unwrap();
    // Only the signature of this packet stays, so that no id of a sender is expected.
    let mut packet = DiscoveryMessage { id, network: None, content: DiscoveryContent::FindNode(key.id()) }.encode(&key);
    packet.truncate(97);
    packet.push(kind);
    packet.extend_from_slice(body);
    let mdc = keccak256(&packet[32..]);
    packet[..32].copy_from_slice(mdc.as_slice());
    packet
}

#[test]
fn packets_of_the_reference_decode_and_encode() {
    let file = vectors(include_str!("../data/discovery.json"));
    let packets = super::list(&file, "packets");
    assert_eq!(packets.len(), 7);
    for vector in packets {
        let message = message(vector["type"].as_u64().unwrap(), &vector["fields"]);
        let packet = bytes(vector, "packet");
        let key = node_key(vector, "privateKey");
        assert_eq!(message.encode(&key), packet);
        let decoded = DiscoveryPacket::decode(&packet).unwrap();
        assert_eq!(decoded.mdc[..], bytes(vector, "mdc"));
        assert_eq!(decoded.message, message);
        assert_eq!(decoded.sender(), Ok(node_id(vector, "senderNodeId")));
        assert_eq!(key.id(), node_id(vector, "senderNodeId"));
    }
}

#[test]
fn packets_of_a_live_node_decode() {
    let file = vectors(include_str!("../data/live_discovery.json"));
    let client = node_key(&file, "clientKey");
    let mut counts = (0, 0);
    for event in super::list(&file, "events") {
        let packet = bytes(event, "packet");
        let decoded = DiscoveryPacket::decode(&packet).unwrap();
        assert_eq!(decoded.message.network, Some(7_771));
        if event["from"] == "client" {
            // Deterministic signatures: the same packet again.
            assert_eq!(decoded.sender(), Ok(client.id()));
            assert_eq!(decoded.message.encode(&client), packet);
            counts.0 += 1;
        } else {
            assert_eq!(decoded.sender(), Ok(node_id(&event["fields"], "nodeId")));
            assert_eq!(decoded.message, message(u64::from(packet[97]), &event["fields"]));
            counts.1 += 1;
        }
    }
    assert_eq!(counts, (3, 3));
}

#[test]
fn lenient_forms_are_accepted() {
    let file = vectors(include_str!("../data/discovery.json"));
    let [ping, node] = super::list(&file, "lenient") else { panic!("two forms") };
    let decoded = DiscoveryPacket::decode(&bytes(ping, "packet")).unwrap();
    let DiscoveryMessage { id, network: None, content: DiscoveryContent::Ping(endpoint) } = decoded.message else {
        panic!("a ping")
    };
    assert_eq!((&endpoint.host[..], endpoint.udp_port), (text(ping, "parsedHost"), number(ping, "parsedPort")));
    assert_eq!(id.as_bytes(), text(ping, "messageId").as_bytes());

    let mut fields = list(&bytes(node, "element"));
    put_bytes(&mut fields, id.as_bytes());
    let mut body = list(&fields);
    body.push(9);
    let decoded = DiscoveryPacket::decode(&signed(4, &body)).unwrap();
    let DiscoveryContent::Neighbors(nodes) = decoded.message.content else { panic!("neighbors") };
    let port = number(node, "port");
    let endpoint = NodeEndpoint { host: text(node, "host").to_owned(), udp_port: port, tcp_port: port };
    assert_eq!(nodes, [NodeRecord { endpoint, id: node_id(node, "nodeId") }]);
}

#[test]
fn invalid_packets_are_dropped() {
    let file = vectors(include_str!("../data/discovery.json"));
    let expected: [fn(&DiscoveryError) -> bool; 8] = [
        |error| *error == DiscoveryError::Mdc,
        |error| *error == DiscoveryError::Mdc,
        // 98 bytes with a hash over more of them.
        |error| matches!(error, DiscoveryError::Mdc | DiscoveryError::Length(_)),
        |error| *error == DiscoveryError::Type(5),
        |error| *error == DiscoveryError::Id,
        |error| *error == DiscoveryError::Id,
        |error| matches!(error, DiscoveryError::Body(_)),
        |error| matches!(error, DiscoveryError::Body(_)),
    ];
    let rejected = super::list(&file, "rejected");
    assert_eq!(rejected.len(), expected.len());
    for (vector, is_expected) in rejected.iter().zip(expected) {
        let error = DiscoveryPacket::decode(&bytes(vector, "packet")).unwrap_err();
        assert!(is_expected(&error), "{}: {error}", text(vector, "why"));
    }
    for length in [0, 31, 32, 96, 97, 8_193] {
        assert_eq!(DiscoveryPacket::decode(&vec![0; length]), Err(DiscoveryError::Length(length)));
    }
}

#[test]
fn signatures_without_a_key_have_no_sender() {
    let id = PacketId::from_random([1; 16]);
    let key = NodeKey::from_bytes([7; 32]).unwrap();
    let mut packet =
        DiscoveryMessage { id, network: Some(1), content: DiscoveryContent::FindNode(key.id()) }.encode(&key);
    packet[96] = 4;
    let mdc = keccak256(&packet[32..]);
    packet[..32].copy_from_slice(mdc.as_slice());
    assert_eq!(DiscoveryPacket::decode(&packet).unwrap().sender(), Err(IdentityError::Signature));
}

#[test]
fn packet_ids_are_version_4_uuids() {
    for random in [[0; 16], [0xff; 16]] {
        let id = PacketId::from_random(random);
        assert_eq!(PacketId::from_text(id.as_bytes()), Ok(id));
    }
    assert_eq!(PacketId::from_random([0xff; 16]).as_bytes(), b"ffffffff-ffff-4fff-bfff-ffffffffffff");
    for text in
        ["", "ffffffff-ffff-1fff-bfff-ffffffffffff", "ffffffff-ffff-4fff-bfff-fffffffffffff", "fffffffffffff-4fff"]
    {
        assert_eq!(PacketId::from_text(text.as_bytes()), Err(DiscoveryError::Id));
    }
    // The text of a request is repeated as it came.
    let upper = b"FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF";
    assert_eq!(PacketId::from_text(upper).unwrap().as_bytes(), upper);
}

fn any_endpoint() -> impl Strategy<Value = NodeEndpoint> {
    (".{0,20}", any::<u16>(), any::<u16>()).prop_map(|(host, udp_port, tcp_port)| NodeEndpoint {
        host,
        udp_port,
        tcp_port,
    })
}

fn any_message() -> impl Strategy<Value = DiscoveryMessage> {
    let id = any::<[u8; 16]>().prop_map(PacketId::from_random);
    let node = (any_endpoint(), any::<[u8; 16]>()).prop_map(|(endpoint, part)| {
        let id = NodeId(std::array::from_fn(|at| part[at % 16]));
        NodeRecord { endpoint, id }
    });
    let content = prop_oneof![
        any_endpoint().prop_map(DiscoveryContent::Ping),
        any_endpoint().prop_map(DiscoveryContent::Pong),
        Just(DiscoveryContent::FindNode(NodeId([3; 64]))),
        prop::collection::vec(node, 0..20).prop_map(DiscoveryContent::Neighbors),
    ];
    (id, any::<Option<u64>>(), content).prop_map(|(id, network, content)| DiscoveryMessage { id, network, content })
}

proptest! {
    #[test]
    fn any_message_passes(message in any_message(), secret in 1u8..) {
        let key = NodeKey::from_bytes([secret.min(0xfe); 32]).unwrap();
        let packet = DiscoveryPacket::decode(&message.encode(&key)).unwrap();
        prop_assert_eq!(packet.sender(), Ok(key.id()));
        prop_assert_eq!(packet.message, message);
    }

    #[test]
    fn any_body_is_decoded_without_panic(
        kind in 0u8..6, body in prop::collection::vec(any::<u8>(), 0..300),
        message in any_message(), at in any::<prop::sample::Index>(), value in any::<u8>(),
    ) {
        let _ = DiscoveryPacket::decode(&body);
        let mut altered = message.encode(&NodeKey::from_bytes([7; 32]).unwrap()).split_off(97);
        let at = at.index(altered.len());
        altered[at] = value;
        for packet in [signed(kind, &body), signed(kind, &list(&body)), signed(altered[0], &altered[1..])] {
            if let Ok(decoded) = DiscoveryPacket::decode(&packet) {
                let _ = decoded.sender();
                if let DiscoveryContent::Neighbors(nodes) = decoded.message.content {
                    // A node has 64 bytes at least.
                    prop_assert!(nodes.len() * 64 <= packet.len());
                }
            }
        }
    }
}
