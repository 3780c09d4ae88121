//! Recorded session of a live reference node, and faults that need the keys.

use proptest::prelude::*;
use rhizome_primitives::hex;
use serde_json::Value;

use super::*;
use crate::session::IdentityError;
use crate::session::ecies::encrypt;

fn key(fill: u8) -> NodeKey {
    NodeKey::from_bytes([fill; 32]).unwrap()
}

fn entropy(fill: u8) -> HandshakeEntropy {
    let mut random = [fill; HandshakeEntropy::LENGTH];
    random[64] ^= 1;
    HandshakeEntropy::from_random(&random).unwrap()
}

/// Auth packet of the key 1 to the key 2 with a body of any form.
fn auth_with(body: &[u8]) -> Vec<u8> {
    let mut plain = body.to_vec();
    plain.resize(plain.len().max(OLD_AUTH_PACKET), 0);
    let prefix = ((plain.len() + 113) as u16).to_be_bytes();
    let mut packet = prefix.to_vec();
    encrypt(&key(2).id(), &plain, &prefix, &key(3), &[5; 16], &mut packet).unwrap();
    packet
}

fn fault_of(packet: &[u8]) -> Option<HandshakeError> {
    Responder::new(key(2), entropy(4)).read(&mut &packet[..]).err()
}

#[test]
fn a_recorded_session_of_a_live_node_replays() {
    let file: Value = serde_json::from_str(include_str!("../../../tests/data/live_session.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let bytes = |value: &Value| hex::decode(text(value)).unwrap();
    let own: NodeKey = text(&file["clientKey"]).parse().unwrap();
    let remote: NodeId = text(&file["nodeId"]).parse().unwrap();
    let entropy = HandshakeEntropy {
        ephemeral: text(&file["clientEphemeralKey"]).parse().unwrap(),
        nonce: bytes(&file["clientNonce"]).try_into().unwrap(),
        ..entropy(1)
    };
    let mut initiator = Initiator::new(own.clone(), remote, entropy).unwrap();
    let mut session = None;
    let mut frames = 0;
    for event in file["events"].as_array().unwrap() {
        let recorded = bytes(&event["bytes"]);
        match (event["kind"].as_str().unwrap(), event["from"].as_str().unwrap(), &mut session) {
            ("auth", "client", None) => {
                // The recording does not name the random input of the encryption: the packet itself is used.
                let node: NodeKey = text(&file["nodeKey"]).parse().unwrap();
                let sent = AuthBody::open(&node, &recorded).unwrap();
                let ours = AuthBody::open(&node, initiator.auth()).unwrap();
                assert_eq!(sent.signature, ours.signature);
                assert_eq!((sent.initiator, sent.nonce), (own.id(), ours.nonce));
                initiator.auth = recorded;
            }
            ("ack", "node", None) => session = initiator.read(&mut &recorded[..]).unwrap(),
            ("frame", "client", Some(session)) => {
                let mut out = Vec::new();
                let code = event["code"].as_u64().unwrap() as u8;
                session.encoder.encode(code, &bytes(&event["payload"]), &mut out).unwrap();
                assert_eq!(out, recorded);
                frames += 1;
            }
            ("frame", "node", Some(session)) => {
                let frame = session.decoder.decode(&mut &recorded[..]).unwrap().unwrap();
                if frame.code == crate::session::codes::STATUS {
                    session.decoder.allow_large_frames();
                }
                assert_eq!(u64::from(frame.code), event["code"].as_u64().unwrap());
                match event["payloadKeccak"].as_str() {
                    Some(hash) => assert_eq!(hex::encode(keccak256(frame.payload())), hash),
                    None => assert_eq!(frame.payload(), bytes(&event["payload"])),
                }
                frames += 1;
            }
            other => panic!("{:?}", (other.0, other.1)),
        }
    }
    assert_eq!(frames, 117);
}

#[test]
fn malformed_auth_bodies_are_refused() {
    let fields = |signature: &[u8], id: &[u8], nonce: &[u8]| {
        let mut fields = Vec::new();
        for field in [signature, id, nonce] {
            rhizome_primitives::rlp::put_bytes(&mut fields, field);
        }
        rhizome_primitives::rlp::list(&fields)
    };
    let id = key(1).id().0;
    assert_eq!(fault_of(&auth_with(&[0xc0])), Some(HandshakeError::Body));
    assert_eq!(fault_of(&auth_with(&[0x80])), Some(HandshakeError::Body));
    assert_eq!(fault_of(&auth_with(&[0xff; 8])), Some(HandshakeError::Body));
    assert_eq!(fault_of(&auth_with(&fields(&[1; 64], &id, &[1; 32]))), Some(HandshakeError::Body));
    assert_eq!(fault_of(&auth_with(&fields(&[1; 65], &id[1..], &[1; 32]))), Some(HandshakeError::Body));
    assert_eq!(fault_of(&auth_with(&fields(&[1; 65], &id, &[1; 31]))), Some(HandshakeError::Body));
    assert_eq!(
        fault_of(&auth_with(&fields(&[1; 65], &[1; 64], &[1; 32]))),
        Some(HandshakeError::Identity(IdentityError::NotOnCurve))
    );
    assert_eq!(
        fault_of(&auth_with(&fields(&[0; 65], &id, &[1; 32]))),
        Some(HandshakeError::Identity(IdentityError::Signature))
    );
    let mut recovery_id = [1; 65];
    recovery_id[64] = 4;
    assert_eq!(
        fault_of(&auth_with(&fields(&recovery_id, &id, &[1; 32]))),
        Some(HandshakeError::Identity(IdentityError::Signature))
    );
}

#[test]
fn our_own_key_is_refused_on_both_sides() {
    let body = AuthBody { signature: [1; 65], initiator: key(2).id(), nonce: [1; 32] };
    let auth = body.seal(&key(2).id(), &entropy(1)).unwrap();
    assert_eq!(fault_of(&auth), Some(HandshakeError::OwnKey));
    assert_eq!(Initiator::new(key(2), key(2).id(), entropy(1)).err(), Some(HandshakeError::OwnKey));
}

#[test]
fn a_packet_whose_size_starts_like_a_point_is_read_in_either_form() {
    let mut long = entropy(1);
    long.padding = vec![7; 800];
    let initiator = Initiator::new(key(1), key(2).id(), long).unwrap();
    assert_eq!(initiator.auth()[0], POINT_MARK);
    let mut responder = Responder::new(key(2), entropy(4));
    let mut accepted = None;
    for byte in initiator.auth() {
        assert!(accepted.is_none());
        accepted = responder.read(&mut &[*byte][..]).unwrap();
    }
    assert_eq!(accepted.unwrap().session.remote, key(1).id());
}

#[test]
fn long_padding_is_refused() {
    let mut long = entropy(1);
    long.padding = vec![7; 2_000];
    assert!(matches!(Initiator::new(key(1), key(2).id(), long), Err(HandshakeError::Size(_))));
}

#[test]
fn the_buffer_of_a_packet_is_bounded() {
    let mut responder = Responder::new(key(2), entropy(4));
    let start = [&[8, 0][..], &[9; 2_047]].concat();
    assert!(responder.read(&mut &start[..]).unwrap().is_none());
    assert!(responder.buffer.bytes.len() <= PREFIX + MAX_PACKET);
    let surplus = [9; 10_000];
    let mut input = &surplus[..];
    assert!(responder.read(&mut input).is_err());
    assert_eq!(input.len(), surplus.len() - 1);
    assert_eq!(responder.read(&mut input).err(), Some(HandshakeError::Over));
}

proptest! {
    #[test]
    fn any_body_and_any_bytes_are_read_without_panic(
        body in prop::collection::vec(any::<u8>(), 0..400),
        garbage in prop::collection::vec(any::<u8>(), 0..3_000),
        step in 1usize..500,
    ) {
        prop_assert!(fault_of(&auth_with(&body)).is_some());
        let mut responder = Responder::new(key(2), entropy(4));
        let mut initiator = Initiator::new(key(1), key(2).id(), entropy(1)).unwrap();
        for part in garbage.chunks(step) {
            let _ = responder.read(&mut &part[..]);
            let _ = initiator.read(&mut &part[..]);
            prop_assert!(responder.buffer.bytes.len() <= PREFIX + MAX_PACKET);
        }
        let packet = [&[4][..], &garbage].concat();
        let _ = Responder::new(key(2), entropy(4)).read(&mut &packet[..]);
    }
}
