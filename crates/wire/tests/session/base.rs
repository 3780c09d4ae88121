//! Messages of the base protocol, and the order of messages.

use proptest::prelude::*;
use rhizome_primitives::DecodeError;
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_wire::session::{
    AcceptedSession, Capability, DecodedFrame, Dialogue, DisconnectReason, EMPTY_LIST, HandshakeEntropy, Hello,
    Incoming, Initiator, NodeId, NodeKey, ProtocolError, Responder, SharedCapabilities, codes,
};

use super::{bytes, node_id, number, text, vectors};

fn key(fill: u8) -> NodeKey {
    NodeKey::from_bytes([fill; 32]).unwrap()
}

/// Frame as the other side receives it.
fn received(code: u8, payload: &[u8]) -> DecodedFrame {
    let entropy = |fill| HandshakeEntropy::from_random(&[fill; HandshakeEntropy::LENGTH]).unwrap();
    let mut initiator = Initiator::new(key(1), key(2).id(), entropy(3)).unwrap();
    let auth = initiator.auth().to_vec();
    let AcceptedSession { ack, mut session } =
        Responder::new(key(2), entropy(4)).read(&mut &auth[..]).unwrap().unwrap();
    let mut frame = Vec::new();
    initiator.read(&mut &ack[..]).unwrap().unwrap().encoder.encode(code, payload, &mut frame).unwrap();
    session.decoder.allow_large_frames();
    session.decoder.decode(&mut &frame[..]).unwrap().unwrap()
}

fn hello(capabilities: Vec<Capability>) -> Hello {
    Hello::new("client/1".to_owned(), capabilities, 50_501, key(1).id())
}

/// Our own side, which offers everything.
fn dialogue() -> Dialogue {
    let offered = vec![Capability::rsk(), Capability::snap(), Capability::rhizome()];
    Dialogue::new(&Hello::new("own".to_owned(), offered, 1, key(2).id()), key(1).id())
}

fn open_dialogue() -> Dialogue {
    let mut dialogue = dialogue();
    let hello = hello(vec![Capability::rsk()]);
    dialogue.receive(received(codes::HELLO, &hello.encode())).unwrap();
    dialogue
}

#[test]
fn messages_of_the_reference_decode_and_encode() {
    let file = vectors(include_str!("../data/p2p_messages.json"));
    let mut counts = [0; 6];
    for message in super::list(&file, "messages") {
        let code: u8 = number(message, "code");
        let payload = bytes(message, "payload");
        let fields = &message["fields"];
        match code {
            codes::HELLO => {
                let hello = Hello::decode(&payload).unwrap();
                assert_eq!(hello.version, number::<u32>(fields, "p2pVersion"));
                assert_eq!(hello.client, text(fields, "clientId"));
                assert_eq!(hello.port, number::<u16>(fields, "listenPort"));
                assert_eq!(hello.id, node_id(fields, "nodeId"));
                let capabilities = super::list(fields, "capabilities").iter().map(|capability| Capability {
                    name: capability[0].as_str().unwrap().to_owned(),
                    version: capability[1].as_u64().unwrap() as u32,
                });
                assert_eq!(hello.capabilities, capabilities.collect::<Vec<_>>());
                assert_eq!(hello.encode(), payload);
            }
            codes::DISCONNECT => {
                let reason = DisconnectReason::decode(&payload);
                assert_eq!(reason as u8, number::<u8>(fields, "value"));
                assert_eq!(reason.encode(), payload);
            }
            codes::PING | codes::PONG => assert_eq!(payload, EMPTY_LIST),
            codes::GET_PEERS | codes::PEERS => {
                assert_eq!(open_dialogue().receive(received(code, &payload)), Ok(Incoming::Ignored));
            }
            // The Status belongs to rsk/62.
            _ => continue,
        }
        counts[usize::from(code)] += 1;
    }
    assert_eq!(counts, [2, 15, 1, 1, 1, 1]);
}

#[test]
fn more_elements_of_a_hello_are_ignored_and_missing_ones_refused() {
    let encoded = hello(vec![Capability::rsk()]).encode();
    let fields = rhizome_primitives::rlp::decode_list(&encoded).unwrap();
    let mut longer = fields.content().to_vec();
    put_bytes(&mut longer, b"more");
    assert_eq!(Hello::decode(&list(&longer)), Hello::decode(&encoded));
    let without_id = &fields.content()[..fields.content().len() - 66];
    assert_eq!(Hello::decode(&list(without_id)), Err(DecodeError::Missing("node id")));
    let mut short_id = without_id.to_vec();
    put_bytes(&mut short_id, &[1; 63]);
    assert_eq!(Hello::decode(&list(&short_id)), Err(DecodeError::FieldLength { field: "node id", got: 63 }));
}

#[test]
fn capabilities_beyond_the_limit_are_ignored() {
    let many = vec![Capability { name: "x".to_owned(), version: 1 }; 1_000];
    assert_eq!(Hello::decode(&hello(many).encode()).unwrap().capabilities.len(), 64);
}

#[test]
fn shared_capabilities() {
    let named = |name: &str, version| Capability { name: name.to_owned(), version };
    let table = [
        (vec![Capability::rsk()], Ok((false, false))),
        // The reference lists snap twice if two of its settings ask for it.
        (vec![Capability::rsk(), Capability::snap(), Capability::snap()], Ok((true, false))),
        (vec![Capability::rhizome(), named("eth", 68), Capability::rsk()], Ok((false, true))),
        (vec![named("rsk", 63), Capability::rsk()], Ok((false, false))),
        (vec![named("rsk", 61), Capability::snap()], Err(ProtocolError::NoSharedProtocol)),
        (vec![], Err(ProtocolError::NoSharedProtocol)),
    ];
    for (offered, expected) in table {
        let hello = hello(offered);
        let shared = dialogue().receive(received(codes::HELLO, &hello.encode()));
        let expected = expected
            .map(|(serves_snap, has_rhizome)| Incoming::Hello(hello, SharedCapabilities { serves_snap, has_rhizome }));
        assert_eq!(shared, expected);
    }
    let reference = Hello::new("own".to_owned(), vec![Capability::rsk()], 1, key(2).id());
    let both = hello(vec![Capability::rsk(), Capability::rhizome()]);
    let shared = Dialogue::new(&reference, key(1).id()).receive(received(codes::HELLO, &both.encode()));
    let none = SharedCapabilities { serves_snap: false, has_rhizome: false };
    assert_eq!(shared, Ok(Incoming::Hello(both, none)));
}

#[test]
fn faults_of_a_hello_close_with_a_reason() {
    let good = hello(vec![Capability::rsk()]);
    let other_id = NodeId([7; 64]);
    let table = [
        (
            Hello { version: 3, ..good.clone() },
            Some((ProtocolError::Version(3), DisconnectReason::IncompatibleProtocol)),
        ),
        (
            Hello { version: 6, ..good.clone() },
            Some((ProtocolError::Version(6), DisconnectReason::IncompatibleProtocol)),
        ),
        (Hello { version: 5, ..good.clone() }, None),
        (
            Hello { id: other_id, ..good.clone() },
            Some((ProtocolError::OtherIdentity(other_id), DisconnectReason::UnexpectedIdentity)),
        ),
        (Hello { id: key(2).id(), ..good }, Some((ProtocolError::OwnIdentity, DisconnectReason::LocalIdentity))),
    ];
    for (hello, expected) in table {
        let outcome = dialogue().receive(received(codes::HELLO, &hello.encode()));
        let fault = outcome.err().map(|fault| (fault.clone(), fault.disconnect_reason()));
        assert_eq!(fault, expected);
    }
    let malformed = dialogue().receive(received(codes::HELLO, &[0xc0])).unwrap_err();
    assert_eq!(malformed, ProtocolError::MalformedHello(DecodeError::Missing("p2p version")));
    assert_eq!(malformed.disconnect_reason(), DisconnectReason::BadProtocol);
}

#[test]
fn hello_comes_first_and_once() {
    for code in [codes::PING, codes::STATUS, codes::RSK, 0x19, 0xff] {
        let fault = dialogue().receive(received(code, &EMPTY_LIST));
        assert_eq!(fault, Err(ProtocolError::FirstMessage(code)));
    }
    let disconnect = received(codes::DISCONNECT, &DisconnectReason::TooManyPeers.encode());
    assert_eq!(dialogue().receive(disconnect), Ok(Incoming::Disconnect(DisconnectReason::TooManyPeers)));

    let second = open_dialogue().receive(received(codes::HELLO, &hello(vec![Capability::rsk()]).encode())).unwrap_err();
    assert_eq!((second.disconnect_reason(), second), (DisconnectReason::Requested, ProtocolError::SecondHello));
}

#[test]
fn codes_that_are_not_in_use_are_refused() {
    let mut open = open_dialogue();
    for code in (0x06..=0x0f).chain(0x11..=0x17).chain(0x19..=0xff) {
        let fault = open.receive(received(code, &EMPTY_LIST)).unwrap_err();
        assert_eq!(
            (fault.disconnect_reason(), fault),
            (DisconnectReason::BadProtocol, ProtocolError::UnknownCode(code))
        );
    }
    let mut ours = dialogue();
    ours.receive(received(codes::HELLO, &hello(vec![Capability::rsk(), Capability::rhizome()]).encode())).unwrap();
    for number in 0..codes::RHIZOME_COUNT {
        let frame = received(codes::RHIZOME + number, &[1]);
        assert_eq!(ours.receive(frame.clone()), Ok(Incoming::Rhizome(number, frame)));
    }
    let after = codes::RHIZOME + codes::RHIZOME_COUNT;
    assert_eq!(ours.receive(received(after, &[1])), Err(ProtocolError::UnknownCode(after)));
}

#[test]
fn messages_are_sorted_by_code() {
    let mut open = open_dialogue();
    assert_eq!(open.receive(received(codes::PING, &EMPTY_LIST)), Ok(Incoming::Ping));
    assert_eq!(open.receive(received(codes::PONG, &[])), Ok(Incoming::Pong));
    let status = received(codes::STATUS, &[0xc0]);
    assert_eq!(open.receive(status.clone()), Ok(Incoming::Status(status)));
    let message = received(codes::RSK, &vec![1; 100_000]);
    assert_eq!(open.receive(message.clone()), Ok(Incoming::Rsk(message)));
    for code in [codes::PING, codes::PONG, codes::PEERS] {
        assert_eq!(open.receive(received(code, &[0xc0; 4_097])), Err(ProtocolError::TooLong(4_097)));
    }
}

#[test]
fn disconnects_without_a_known_reason_decode() {
    for payload in [&[][..], &[0xc0], &[0x05], &[0xc1, 0x20], &[0xc3, 0x82, 1, 0], &[0xff; 9]] {
        assert_eq!(DisconnectReason::decode(payload), DisconnectReason::Unknown);
    }
    assert_eq!(DisconnectReason::decode(&[0xc2, 0x04, 0x01]), DisconnectReason::TooManyPeers);
}

#[test]
fn nested_lists_and_lengths_that_lie_are_refused() {
    let nested = (0..1_000).fold(Vec::new(), |inner: Vec<u8>, _| list(&inner));
    let in_place_of = |position: usize| {
        let mut fields = Vec::new();
        for at in 0..5 {
            match at {
                at if at == position => fields.extend_from_slice(&nested),
                2 => fields.push(0xc0),
                4 => put_bytes(&mut fields, &[1; 64]),
                _ => fields.push(4),
            }
        }
        Hello::decode(&list(&fields))
    };
    assert_eq!(in_place_of(0), Err(DecodeError::TooLarge("p2p version")));
    assert_eq!(in_place_of(2), Err(DecodeError::Missing("capability version")));
    assert_eq!(in_place_of(3), Err(DecodeError::TooLarge("port")));
    assert_eq!(in_place_of(4), Err(DecodeError::FieldLength { field: "node id", got: nested.len() }));
    assert_eq!(DisconnectReason::decode(&nested), DisconnectReason::Unknown);
    let lying = [0xfb, 0x7f, 0xff, 0xff, 0xff, 0x80];
    assert_eq!(Hello::decode(&lying), Err(DecodeError::OutOfBounds { length: 0x7fff_ffff, available: 1 }));
    assert_eq!(Hello::decode(&[0xfb, 0xff, 0xff, 0xff, 0xff]), Err(DecodeError::NegativeLength(u32::MAX)));
}

fn any_hello() -> impl Strategy<Value = Hello> {
    let capability = ("[a-z]{0,8}", any::<u32>()).prop_map(|(name, version)| Capability { name, version });
    (any::<u32>(), ".{0,40}", prop::collection::vec(capability, 0..10), any::<u16>(), any::<[u8; 32]>()).prop_map(
        |(version, client, capabilities, port, half)| {
            let mut id = [0; 64];
            id[..32].copy_from_slice(&half);
            Hello { version, client, capabilities, port, id: NodeId(id) }
        },
    )
}

proptest! {
    #[test]
    fn any_hello_passes(hello in any_hello()) {
        prop_assert_eq!(Hello::decode(&hello.encode()), Ok(hello));
    }

    #[test]
    fn any_payload_is_decoded_without_panic(
        payload in prop::collection::vec(any::<u8>(), 0..300),
        hello in any_hello(), at in any::<prop::sample::Index>(), value in any::<u8>(),
    ) {
        let mut altered = hello.encode();
        let at = at.index(altered.len());
        altered[at] = value;
        for payload in [&payload, &altered, &list(&payload)] {
            let _ = DisconnectReason::decode(payload);
            if let Ok(hello) = Hello::decode(payload) {
                let names: usize = hello.capabilities.iter().map(|capability| capability.name.len()).sum();
                // A replaced byte of invalid UTF-8 becomes three.
                prop_assert!(hello.client.len() + names <= 3 * payload.len());
                prop_assert!(hello.capabilities.len() <= payload.len());
            }
        }
    }

    #[test]
    fn any_list_of_capabilities_is_decoded_without_panic(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut fields = Vec::new();
        put_u64(&mut fields, 4);
        put_bytes(&mut fields, b"client");
        fields.extend_from_slice(&list(&content));
        put_u64(&mut fields, 1);
        put_bytes(&mut fields, &[1; 64]);
        if let Ok(hello) = Hello::decode(&list(&fields)) {
            prop_assert_eq!(hello.client, "client");
            prop_assert!(hello.capabilities.len() <= content.len().min(64));
        }
    }
}
