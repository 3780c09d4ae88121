//! Properties of the decoders: no panic on any bytes, exact round trips, limits.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_primitives::{B256, ChainSpec, DecodeError, U256};
use rhizome_wire::rhz::{self, RhzMessage};
use rhizome_wire::rsk::{
    BlockIdentifier, EncodedBlock, EncodedBody, EncodedList, EthStatus, MAX_ANNOUNCED, MAX_LIST_ELEMENTS, RskMessage,
    RskMessageError, StatusMessage, WeighedBlocks, block_strings, types,
};

/// Body in its envelope.
fn envelope(kind: u64, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put_u64(&mut message, kind);
    put_bytes(&mut message, body);
    list(&list(&message))
}

/// `[id, parameters]`.
fn numbered(id: u64, parameters: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    put_u64(&mut body, id);
    body.extend_from_slice(&list(parameters));
    list(&body)
}

fn nested(depth: usize) -> Vec<u8> {
    (0..depth).fold(vec![0xc0], |inner, _| list(&inner))
}

/// Decodes everything that a message refers to.
fn decode_all(payload: &[u8]) {
    let spec = ChainSpec::regtest();
    let _status = EthStatus::decode(payload);
    let Ok(message) = RskMessage::decode(payload) else { return };
    let _encoded = message.encode();
    match message {
        RskMessage::Block(block) | RskMessage::BlockResponse { block, .. } => {
            let _header = block.header(&spec);
            let _block = block.decode(&spec);
        }
        RskMessage::Transactions(list) => list.transactions().for_each(drop),
        RskMessage::BlockHeadersResponse { headers, .. } => headers.compressed_headers(&spec).for_each(drop),
        RskMessage::BodyResponse { body, .. } => body.transactions.transactions().for_each(drop),
        RskMessage::SnapStatusResponse { blocks, .. } | RskMessage::SnapBlocksResponse { blocks, .. } => {
            blocks.blocks().for_each(drop);
        }
        _ => {}
    }
}

fn hash() -> impl Strategy<Value = B256> {
    any::<[u8; 32]>().prop_map(B256::from)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..300u64, 0..=i64::MAX as u64]
}

fn identifiers() -> impl Strategy<Value = Vec<BlockIdentifier>> {
    vec((hash(), number()).prop_map(|(hash, number)| BlockIdentifier { hash, number }), 0..40)
}

/// Messages without encoded parts.
fn message() -> impl Strategy<Value = RskMessage<'static>> {
    let difficulty = any::<[u8; 32]>().prop_map(|bytes| U256::from_be_bytes(bytes) >> 1);
    let status = (hash(), number(), proptest::option::of((hash(), difficulty))).prop_map(
        |(hash, number, parent_and_difficulty)| {
            RskMessage::Status(StatusMessage { best: BlockIdentifier { hash, number }, parent_and_difficulty })
        },
    );
    prop_oneof![
        status,
        hash().prop_map(|hash| RskMessage::GetBlock { hash }),
        hash().prop_map(|hash| RskMessage::NewBlockHash { hash }),
        identifiers().prop_map(RskMessage::NewBlockHashes),
        (number(), number()).prop_map(|(id, height)| RskMessage::BlockHashRequest { id, height }),
        (number(), hash()).prop_map(|(id, hash)| RskMessage::BlockHashResponse { id, hash }),
        (number(), hash(), 0..=i32::MAX as u32).prop_map(|(id, hash, count)| RskMessage::BlockHeadersRequest {
            id,
            hash,
            count
        }),
        (number(), hash()).prop_map(|(id, hash)| RskMessage::BlockRequest { id, hash }),
        (number(), hash()).prop_map(|(id, hash)| RskMessage::BodyRequest { id, hash }),
        (number(), identifiers()).prop_map(|(id, skeleton)| RskMessage::SkeletonResponse { id, skeleton }),
        (number(), number()).prop_map(|(id, start)| RskMessage::SkeletonRequest { id, start }),
        (number(), number(), number()).prop_map(|(id, number, from)| RskMessage::StateChunkRequest {
            id,
            number,
            from,
            chunk_size: 50,
        }),
        (number(), number(), number(), number(), any::<bool>()).prop_map(|(id, number, from, to, is_complete)| {
            RskMessage::StateChunkResponse { id, chunk: b"a chunk", number, from, to, is_complete }
        }),
        number().prop_map(|id| RskMessage::SnapStatusRequest { id }),
        (number(), number()).prop_map(|(id, number)| RskMessage::SnapBlocksRequest { id, number }),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..400), kind in 0..30u64) {
        decode_all(&bytes);
        decode_all(&envelope(kind, &bytes));
        decode_all(&envelope(kind, &list(&bytes)));
        decode_all(&envelope(kind, &numbered(1, &bytes)));
        for number in 0..=5 {
            if let Ok(RhzMessage::Bodies { bodies, .. }) = RhzMessage::decode(number, &list(&bytes)) {
                rhz::bodies(bodies).for_each(drop);
            }
        }
        let _block = EncodedBlock::split(&bytes);
        let _body = EncodedBody::split(&bytes);
    }

    #[test]
    fn changed_messages_are_read_without_panic(
        at in any::<prop::sample::Index>(), position in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let file: serde_json::Value = serde_json::from_str(include_str!("../data/rsk_messages.json")).unwrap();
        let messages = file["messages"].as_array().unwrap();
        let text = messages[at.index(messages.len())]["payload"].as_str().unwrap();
        let mut payload = rhizome_primitives::hex::decode(text).unwrap();
        let position = position.index(payload.len());
        payload[position] = byte;
        decode_all(&payload);
        decode_all(&payload[..position]);
    }

    #[test]
    fn messages_round_trip(message in message()) {
        let payload = message.encode();
        prop_assert_eq!(RskMessage::decode(&payload).unwrap(), message);
    }

    #[test]
    fn own_messages_round_trip(id in number(), first in hash(), count in 0..=1024u32, hashes in vec(hash(), 0..20)) {
        for message in [
            RhzMessage::HeadersRequest { id, hash: first, count },
            RhzMessage::BodiesRequest { id, hashes },
            RhzMessage::Headers { id, headers: EncodedList::decode(&[0xc0], "headers").unwrap() },
            RhzMessage::Bodies { id, bodies: EncodedList::decode(&[0xc4, 0xc2, 0xc0, 0xc0, 0x80], "bodies").unwrap() },
        ] {
            let payload = message.encode();
            prop_assert_eq!(RhzMessage::decode(message.number(), &payload).unwrap(), message);
        }
    }
}

#[test]
fn own_messages_have_the_documented_bytes() {
    let request = RhzMessage::HeadersRequest { id: 5, hash: B256::repeat_byte(0xaa), count: 3 };
    let mut expected = vec![0xe3, 5, 0xa0];
    expected.extend_from_slice(&[0xaa; 32]);
    expected.push(3);
    assert_eq!(request.encode(), expected);
    let empty = RhzMessage::Headers { id: 5, headers: EncodedList::decode(&[0xc0], "headers").unwrap() };
    assert_eq!(empty.encode(), [0xc2, 5, 0xc0]);
    let request = RhzMessage::BodiesRequest { id: 6, hashes: vec![B256::repeat_byte(0xaa), B256::repeat_byte(0xbb)] };
    assert_eq!(request.encode()[..5], [0xf8, 0x45, 6, 0xf8, 0x42]);
    let answer = [0xc6, 6, 0xc4, 0xc2, 0xc0, 0xc0, 0x80];
    let Ok(RhzMessage::Bodies { id: 6, bodies }) = RhzMessage::decode(3, &answer) else { panic!("not decoded") };
    let bodies: Vec<bool> = rhz::bodies(bodies).map(|body| body.unwrap().is_some()).collect();
    assert_eq!(bodies, [true, false]);
}

#[test]
fn own_requests_are_limited() {
    let mut fields = vec![5, 0xa0];
    fields.extend_from_slice(&[0xaa; 32]);
    put_u64(&mut fields, 1025);
    assert_eq!(RhzMessage::decode(0, &list(&fields)), Err(RskMessageError::TooManyElements("headers request")));
    let hashes = vec![B256::ZERO; rhz::MAX_BODIES + 1];
    let payload = RhzMessage::BodiesRequest { id: 1, hashes }.encode();
    assert_eq!(RhzMessage::decode(2, &payload), Err(RskMessageError::TooManyElements("bodies request")));
    assert_eq!(RhzMessage::decode(4, &[0xc1, 1]), Err(RskMessageError::UnknownType(4)));
}

#[test]
fn long_lists_are_refused() {
    let long = vec![0xc0; MAX_LIST_ELEMENTS + 1];
    let too_many = |name| Err(RskMessageError::TooManyElements(name));
    let transactions = envelope(7, &list(&long));
    assert_eq!(RskMessage::decode(&transactions), too_many("transactions"));
    let headers = envelope(10, &numbered(1, &list(&long)));
    assert_eq!(RskMessage::decode(&headers), too_many("headers"));
    let mut body = list(&long);
    body.push(0xc0);
    assert_eq!(RskMessage::decode(&envelope(15, &numbered(1, &body))), too_many("transactions"));
    let mut weights = vec![0xc0];
    weights.extend_from_slice(&list(&vec![1; MAX_LIST_ELEMENTS + 1]));
    assert_eq!(RskMessage::decode(&envelope(25, &numbered(1, &weights))), too_many("total difficulties"));
    assert!(EncodedList::decode(&list(&long[1..]), "list").is_ok());
}

#[test]
fn announcements_beyond_the_limit_are_ignored() {
    let announced = vec![BlockIdentifier { hash: B256::ZERO, number: 1 }; MAX_LIST_ELEMENTS + 1];
    let payload = RskMessage::NewBlockHashes(announced).encode();
    let RskMessage::NewBlockHashes(read) = RskMessage::decode(&payload).unwrap() else { panic!("another message") };
    assert_eq!(read.len(), MAX_ANNOUNCED);
}

#[test]
fn nested_lists_are_refused_in_place_of_strings() {
    let deep = nested(1000);
    for kind in 0..=30 {
        for body in [deep.clone(), list(&deep), numbered(1, &deep), list(&[deep.clone(), deep.clone()].concat())] {
            decode_all(&envelope(kind, &body));
        }
    }
    assert_eq!(RskMessage::decode(&envelope(3, &list(&deep))), Err(RskMessageError::ExpectedString("block hash")));
    assert_eq!(RskMessage::decode(&deep), Err(RskMessageError::ExpectedString("message type")));
}

#[test]
fn lengths_that_lie_are_refused() {
    // A string of 2 GiB in a message of a few bytes.
    let mut lying = vec![0xbb, 0x7f, 0xff, 0xff, 0xff];
    for payload in [lying.clone(), list(&lying), list(&list(&lying)), envelope(2, &lying), envelope(2, &list(&lying))] {
        assert!(matches!(RskMessage::decode(&payload), Err(RskMessageError::Decode(_))), "{payload:?}");
    }
    lying[0] = 0xfb;
    assert!(matches!(
        RskMessage::decode(&envelope(7, &list(&lying))),
        Err(RskMessageError::Decode(DecodeError::OutOfBounds { .. }))
    ));
}

#[test]
fn headers_of_a_million_elements_are_refused() {
    let spec = ChainSpec::regtest();
    let header = list(&vec![0x80; 1_000_000]);
    let error = DecodeError::ElementCount { what: "header", got: 1_000_000 };
    let block = list(&[&header[..], &[0xc0, 0xc0]].concat());
    assert_eq!(EncodedBlock::split(&block).unwrap().header(&spec), Err(error.clone()));
    let headers = list(&header);
    let headers = EncodedList::decode(&headers, "headers").unwrap();
    assert_eq!(headers.compressed_headers(&spec).next(), Some(Err(error)));
}

#[test]
fn types_without_a_message_are_refused() {
    for kind in [0, 4, 5, 19, 26, 0x80, 0xff, 0x100, 0x102, u64::MAX] {
        let payload = envelope(kind, &numbered(1, &[]));
        assert_eq!(RskMessage::decode(&payload), Err(RskMessageError::UnknownType(kind)));
    }
    // An empty body string.
    assert!(RskMessage::decode(&envelope(1, &[])).is_err());
}

#[test]
fn hashes_of_another_length_are_refused() {
    let mut fields = Vec::new();
    put_bytes(&mut fields, &[7; 31]);
    let error = DecodeError::FieldLength { field: "block hash", got: 31 };
    assert_eq!(RskMessage::decode(&envelope(3, &list(&fields))), Err(error.clone().into()));
    assert_eq!(RskMessage::decode(&envelope(11, &numbered(1, &fields))), Err(error.into()));
}

#[test]
fn blocks_and_difficulties_belong_together() {
    let strings = block_strings([&[0xc0][..]]);
    let strings = EncodedList::decode(&strings, "blocks").unwrap();
    let error = RskMessageError::Lengths { blocks: 1, difficulties: 0 };
    assert_eq!(WeighedBlocks::new(strings, vec![]), Err(error));
}

#[test]
fn a_block_of_44000_transactions_is_split_without_decoding_them() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/rsk_messages.json")).unwrap();
    let case = file["messages"].as_array().unwrap().iter().find(|case| case["type"] == types::BLOCK).unwrap();
    let payload = rhizome_primitives::hex::decode(case["payload"].as_str().unwrap()).unwrap();
    let RskMessage::Block(block) = RskMessage::decode(&payload).unwrap() else { panic!("not a block") };
    let header = block.header(&ChainSpec::regtest()).unwrap();
    // Not transactions: decoding one would fail.
    let transactions: Vec<u8> = (0..44_000).flat_map(|_| list(&[1; 160])).collect();
    let mut parts = header.encode();
    parts.extend_from_slice(&list(&transactions));
    parts.push(0xc0);
    let mut body = Vec::new();
    put_bytes(&mut body, &list(&parts));
    let payload = envelope(2, &list(&body));
    assert!(payload.len() > 7_000_000);
    // The fastest of several runs: other tests use the processors as well.
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        let RskMessage::Block(block) = RskMessage::decode(&payload).unwrap() else { panic!("not a block") };
        assert_eq!(block.header(&ChainSpec::regtest()).unwrap(), header);
        fastest = fastest.min(start.elapsed());
        assert_eq!(block.transactions().len(), 44_000);
        assert!(block.decode(&ChainSpec::regtest()).is_err());
    }
    assert!(fastest < Duration::from_millis(10), "{fastest:?}");
}
