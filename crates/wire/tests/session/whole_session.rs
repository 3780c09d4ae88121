//! Two sides from the first byte on, connected by pipes that deliver any number of bytes at a time.

use proptest::prelude::*;
use rhizome_wire::session::{
    Capability, Dialogue, EMPTY_LIST, EstablishedSession, FrameError, HandshakeEntropy, Hello, Incoming, Initiator,
    NodeKey, ProtocolError, Responder, codes,
};

/// A side after the handshake, with the bytes to send and a record of the messages received.
struct Side {
    session: EstablishedSession,
    dialogue: Dialogue,
    output: Vec<u8>,
    received: Vec<String>,
}

impl Side {
    fn new(key: &NodeKey, session: EstablishedSession) -> Side {
        let capabilities = vec![Capability::rsk(), Capability::rhizome()];
        let hello = Hello::new("client/1".to_owned(), capabilities, 50_501, key.id());
        let dialogue = Dialogue::new(&hello, session.remote);
        let mut side = Side { session, dialogue, output: Vec::new(), received: Vec::new() };
        side.send(codes::HELLO, &hello.encode());
        side
    }

    fn send(&mut self, code: u8, payload: &[u8]) {
        self.session.encoder.encode(code, payload, &mut self.output).unwrap();
    }

    /// Reads, and answers like a node: Hello leads to a Status, the Status to a long message and a Ping.
    fn read(&mut self, mut input: &[u8]) {
        while let Some(frame) = self.session.decoder.decode(&mut input).unwrap() {
            let received = match self.dialogue.receive(frame).unwrap() {
                Incoming::Hello(_, shared) => {
                    assert!(shared.has_rhizome && !shared.serves_snap);
                    self.send(codes::STATUS, &EMPTY_LIST);
                    "hello".to_owned()
                }
                Incoming::Status(_) => {
                    self.session.decoder.allow_large_frames();
                    self.send(codes::PING, &EMPTY_LIST);
                    "status".to_owned()
                }
                Incoming::Ping => {
                    // A Ping proves that the other side has accepted our Status.
                    self.send(codes::PONG, &EMPTY_LIST);
                    self.send(codes::RSK, &[7; 20_000]);
                    self.send(codes::RHIZOME, &[8]);
                    "ping".to_owned()
                }
                Incoming::Rsk(frame) => format!("rsk {}", frame.payload().len()),
                Incoming::Rhizome(number, frame) => format!("rhz {number} {}", frame.payload().len()),
                other => format!("{other:?}").to_lowercase(),
            };
            self.received.push(received);
        }
    }
}

fn key(fill: u8) -> NodeKey {
    NodeKey::from_bytes([fill; 32]).unwrap()
}

fn entropy(fill: u8) -> HandshakeEntropy {
    HandshakeEntropy::from_random(&[fill; HandshakeEntropy::LENGTH]).unwrap()
}

/// Two sides after the handshake, which arrives in parts of `step` bytes.
fn connected(step: usize) -> (Side, Side) {
    let (dialler, listener) = (key(1), key(2));
    let mut initiator = Initiator::new(dialler.clone(), listener.id(), entropy(3)).unwrap();
    let mut responder = Responder::new(listener.clone(), entropy(4));
    let accepted = initiator.auth().chunks(step).find_map(|mut part| responder.read(&mut part).unwrap()).unwrap();
    let established = accepted.ack.chunks(step).find_map(|mut part| initiator.read(&mut part).unwrap()).unwrap();
    (Side::new(&dialler, established), Side::new(&listener, accepted.session))
}

proptest! {
    #[test]
    fn two_sides_talk_in_parts_of_any_size(step in 1usize..2_000) {
        let (mut left, mut right) = connected(step);
        while !left.output.is_empty() || !right.output.is_empty() {
            for part in std::mem::take(&mut left.output).chunks(step) {
                right.read(part);
            }
            for part in std::mem::take(&mut right.output).chunks(step) {
                left.read(part);
            }
        }
        let all = ["hello", "status", "ping", "pong", "rsk 20000", "rhz 0 1"];
        prop_assert_eq!(&left.received, &all);
        prop_assert_eq!(&right.received, &all);
    }
}

#[test]
fn a_long_message_before_status_is_refused() {
    let (mut left, mut right) = connected(100);
    right.read(&std::mem::take(&mut left.output));
    left.send(codes::RSK, &[7; 4_096]);
    let fault = right.session.decoder.decode(&mut &left.output[..]);
    assert_eq!(fault, Err(FrameError::TooLarge { size: 4_097, limit: 4_096 }));
}

#[test]
fn frames_pass_only_in_order_and_hello_only_once() {
    let (mut left, mut right) = connected(100);
    let first = std::mem::take(&mut left.output);
    left.send(codes::HELLO, &[0xc0]);
    assert_eq!(connected(100).1.session.decoder.decode(&mut &left.output[..]), Err(FrameError::HeaderMac));
    right.read(&first);
    let second = right.session.decoder.decode(&mut &left.output[..]).unwrap().unwrap();
    assert_eq!(right.dialogue.receive(second), Err(ProtocolError::SecondHello));
}
