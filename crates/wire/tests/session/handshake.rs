//! Handshakes of the reference with fixed input, and the frames after them.

use rhizome_wire::session::{
    AcceptedSession, EstablishedSession, HandshakeEntropy, HandshakeError, IdentityError, Initiator, NodeId, NodeKey,
    Responder,
};
use serde_json::Value;

use super::{bytes, list, node_id, node_key, text, vectors};

fn cases() -> Vec<Value> {
    list(&vectors(include_str!("../data/handshake.json")), "cases").to_vec()
}

fn cases_of(form: &str) -> Vec<Value> {
    let cases: Vec<Value> = cases().into_iter().filter(|case| case["form"] == form).collect();
    assert!(!cases.is_empty());
    cases
}

fn entropy(case: &Value, side: &str, packet: &str) -> HandshakeEntropy {
    let is_padded = case["form"] == "eip8";
    HandshakeEntropy {
        ephemeral: node_key(case, &format!("{side}EphemeralKey")),
        nonce: bytes(case, &format!("{side}Nonce")).try_into().unwrap(),
        ecies_ephemeral: node_key(case, &format!("{packet}EciesEphemeralKey")),
        ecies_iv: bytes(case, &format!("{packet}EciesIv")).try_into().unwrap(),
        padding: if is_padded { bytes(case, &format!("{packet}Padding")) } else { Vec::new() },
    }
}

fn initiator(case: &Value) -> Initiator {
    let entropy = entropy(case, "initiator", "auth");
    Initiator::new(node_key(case, "initiatorKey"), node_id(case, "responderNodeId"), entropy).unwrap()
}

fn responder(case: &Value) -> Responder {
    Responder::new(node_key(case, "responderKey"), entropy(case, "responder", "ack"))
}

/// Feeds `packet` in parts of `step` bytes.
fn accept(case: &Value, packet: &[u8], step: usize) -> Result<AcceptedSession, HandshakeError> {
    let mut responder = responder(case);
    for (at, mut part) in packet.chunks(step).enumerate() {
        let accepted = responder.read(&mut part)?;
        assert!(part.is_empty());
        assert_eq!(accepted.is_some(), (at + 1) * step >= packet.len());
        if let Some(accepted) = accepted {
            return Ok(accepted);
        }
    }
    panic!("the packet is not complete");
}

/// Sends and receives the frames of the case: the recorded ones are sent, and are received in any parts.
fn exchange_frames(case: &Value, own: &str, session: &mut EstablishedSession, step: usize) {
    for frame in list(case, "frames") {
        let code = frame["code"].as_u64().unwrap() as u8;
        let payload = bytes(frame, "payload");
        let recorded = bytes(frame, "frame");
        if text(frame, "from") == own {
            // The frame is appended to what the buffer has already.
            let mut out = vec![9, 9];
            session.encoder.encode(code, &payload, &mut out).unwrap();
            assert_eq!((&out[..2], &out[2..]), (&[9, 9][..], &recorded[..]));
        } else {
            let mut parts = recorded.chunks(step);
            let last = parts.next_back().unwrap();
            for mut part in parts {
                assert_eq!(session.decoder.decode(&mut part), Ok(None));
                assert!(session.decoder.is_inside_frame());
            }
            let received = session.decoder.decode(&mut &last[..]).unwrap().unwrap();
            assert_eq!((received.code, received.payload()), (code, &payload[..]));
        }
    }
}

#[test]
fn both_sides_produce_the_recorded_packets_and_frames() {
    for case in cases_of("eip8") {
        for step in [1, 17, 307, usize::MAX] {
            let mut initiator = initiator(&case);
            assert_eq!(initiator.auth(), bytes(&case, "authPacket"));

            let mut accepted = accept(&case, initiator.auth(), step).unwrap();
            assert_eq!(accepted.ack, bytes(&case, "ackPacket"));
            assert_eq!(accepted.session.remote, node_id(&case, "initiatorNodeId"));
            exchange_frames(&case, "responder", &mut accepted.session, step);

            // The first frames arrive together with the ack and stay in the input.
            let stream = [&accepted.ack[..], &[1, 2, 3]].concat();
            let mut established = None;
            let mut surplus = Vec::new();
            for mut part in stream.chunks(step) {
                if established.is_none() {
                    established = initiator.read(&mut part).unwrap();
                }
                surplus.extend_from_slice(part);
            }
            assert_eq!(surplus, [1, 2, 3]);
            let mut established = established.unwrap();
            assert_eq!(established.remote, node_id(&case, "responderNodeId"));
            exchange_frames(&case, "initiator", &mut established, step);
            assert_eq!(initiator.read(&mut &[0; 8][..]).err(), Some(HandshakeError::Over));
        }
    }
}

#[test]
fn the_older_form_is_answered_in_the_older_form() {
    for case in cases_of("pre-eip8") {
        for step in [1, 100, usize::MAX] {
            let mut accepted = accept(&case, &bytes(&case, "authPacket"), step).unwrap();
            assert_eq!(accepted.ack, bytes(&case, "ackPacket"));
            assert_eq!(accepted.session.remote, node_id(&case, "initiatorNodeId"));
            exchange_frames(&case, "responder", &mut accepted.session, step);
        }
    }
}

#[test]
fn altered_auth_packets_are_refused() {
    let mut count = 0;
    for case in cases() {
        for rejected in list(&case, "rejectedAuthPackets") {
            let mut responder = responder(&case);
            let mut packet = bytes(rejected, "packet");
            // A size that was raised asks for one more byte.
            packet.push(0);
            let fault = responder.read(&mut &packet[..]).err();
            assert_eq!(fault, Some(HandshakeError::Mac), "{}", text(rejected, "why"));
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

#[test]
fn faults_of_an_auth_packet_are_typed() {
    let case = &cases()[0];
    let good = bytes(case, "authPacket");
    let altered = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        packet
    };
    let table = [
        ("size below the minimum", vec![0, 200], HandshakeError::Size(200)),
        ("size one below the minimum", vec![1, 50], HandshakeError::Size(306)),
        ("size above the maximum", vec![8, 1], HandshakeError::Size(2_049)),
        ("size of 40,000", vec![0x9c, 0x40], HandshakeError::Size(40_000)),
        ("mark of a compressed point", altered(2, 3), HandshakeError::Form),
        ("point off the curve", altered(66, good[66] ^ 1), HandshakeError::Identity(IdentityError::NotOnCurve)),
        ("altered MAC", altered(good.len() - 1, good[good.len() - 1] ^ 1), HandshakeError::Mac),
        ("altered content", altered(100, good[100] ^ 1), HandshakeError::Mac),
    ];
    for (name, packet, fault) in table {
        let mut responder = responder(case);
        assert_eq!(responder.read(&mut &packet[..]).err(), Some(fault), "{name}");
        assert_eq!(responder.read(&mut &good[..]).err(), Some(HandshakeError::Over), "{name}");
    }
    // A packet for another key.
    let other = Responder::new(node_key(case, "initiatorKey"), entropy(case, "responder", "ack")).read(&mut &good[..]);
    assert_eq!(other.err(), Some(HandshakeError::Mac));
}

#[test]
fn faults_of_an_ack_packet_are_typed() {
    let case = &cases()[0];
    let good = bytes(case, "ackPacket");
    let mut wrong_mac = good.clone();
    wrong_mac[150] ^= 1;
    let table = [
        (vec![0, 209], HandshakeError::Size(209)),
        (vec![8, 1], HandshakeError::Size(2_049)),
        (wrong_mac, HandshakeError::Mac),
    ];
    for (packet, fault) in table {
        assert_eq!(initiator(case).read(&mut &packet[..]).err(), Some(fault));
    }
    // An ack that belongs to another handshake decrypts, but its frames do not pass.
    let mut other = entropy(case, "initiator", "auth");
    other.nonce[0] ^= 1;
    let own = node_key(case, "initiatorKey");
    let mut replayed = Initiator::new(own, node_id(case, "responderNodeId"), other).unwrap();
    let mut session = replayed.read(&mut &good[..]).unwrap().unwrap();
    let frame = bytes(list(case, "frames").iter().find(|frame| frame["from"] == "responder").unwrap(), "frame");
    assert!(session.decoder.decode(&mut &frame[..]).is_err());
}

#[test]
fn a_node_that_cannot_be_dialled_is_refused_at_once() {
    let case = &cases()[0];
    let key = node_key(case, "initiatorKey");
    let own = Initiator::new(key.clone(), key.id(), entropy(case, "initiator", "auth"));
    assert_eq!(own.err(), Some(HandshakeError::OwnKey));
    let off_curve = Initiator::new(key, NodeId([1; 64]), entropy(case, "initiator", "auth"));
    assert_eq!(off_curve.err(), Some(HandshakeError::Identity(IdentityError::NotOnCurve)));
}

#[test]
fn keys_have_the_recorded_ids_and_print_no_secret() {
    for case in cases() {
        for side in ["initiator", "responder"] {
            let key = node_key(&case, &format!("{side}Key"));
            assert_eq!(key.id(), node_id(&case, &format!("{side}NodeId")));
            assert_eq!(key.to_bytes()[..], bytes(&case, &format!("{side}Key")));
            assert!(!format!("{key:?}").contains(text(&case, &format!("{side}Key"))));
        }
    }
    assert!(NodeKey::from_bytes([0; 32]).is_err());
    assert!(NodeKey::from_bytes([0xff; 32]).is_err());
}
