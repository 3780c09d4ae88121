//! Messages of the reference, generated and recorded.

use std::collections::HashMap;

use rhizome_primitives::{Block, ChainSpec, Header, U256, hex};
use rhizome_wire::rsk::{
    BlockIdentifier, EncodedBlock, EthStatus, RskMessage, StatusMessage, WeighedBlocks, encode_body, message_type,
};
use serde_json::{Value, json};

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

fn decimal(value: &U256) -> Value {
    json!(value.to_string())
}

fn spec(message: &Value) -> ChainSpec {
    match message["config"].as_str() {
        Some("main") => ChainSpec::mainnet(),
        _ => ChainSpec::regtest(),
    }
}

fn identifiers(list: &[BlockIdentifier]) -> Value {
    list.iter().map(|id| json!({"hash": hex::encode(id.hash), "number": id.number})).collect()
}

fn block_fields(block: &EncodedBlock<'_>, spec: &ChainSpec) -> Value {
    let header = block.header(spec).unwrap();
    let whole = block.decode(spec).unwrap();
    assert_eq!(whole.header, header);
    assert_eq!((whole.transactions.len(), whole.uncles.len()), (block.transactions().len(), block.uncles().len()));
    json!({"number": header.number, "hash": hex::encode(header.hash()), "block": hex::encode(whole.encode())})
}

fn weighed_fields(blocks: &WeighedBlocks<'_>) -> Value {
    let (encodings, difficulties): (Vec<Value>, Vec<Value>) = blocks
        .blocks()
        .map(|block| block.map(|(block, difficulty)| (json!(hex::encode(block.encoding())), decimal(&difficulty))))
        .collect::<Result<_, _>>()
        .unwrap();
    json!({"blocks": encodings, "difficulties": difficulties})
}

fn header_fields(header: &Header) -> Value {
    json!({
        "number": header.number,
        "hash": hex::encode(header.hash()),
        "parentHash": hex::encode(&header.parent_hash),
        "compressed": hex::encode(header.encode_compressed()),
        "version": header.version,
    })
}

/// Fields of a message as the vectors name them.
fn fields(message: &RskMessage<'_>, spec: &ChainSpec) -> Value {
    let hash = |hash: &_| json!({"hash": hex::encode(hash)});
    match message {
        RskMessage::Status(StatusMessage { best, parent_and_difficulty }) => json!({
            "bestBlockNumber": best.number,
            "bestBlockHash": hex::encode(best.hash),
            "parentHash": parent_and_difficulty.map(|(parent, _)| hex::encode(parent)),
            "totalDifficulty": parent_and_difficulty.map(|(_, difficulty)| decimal(&difficulty)),
        }),
        RskMessage::Block(block) | RskMessage::BlockResponse { block, .. } => block_fields(block, spec),
        RskMessage::GetBlock { hash: block }
        | RskMessage::NewBlockHash { hash: block }
        | RskMessage::BlockHashResponse { hash: block, .. }
        | RskMessage::BlockRequest { hash: block, .. }
        | RskMessage::BodyRequest { hash: block, .. } => hash(block),
        RskMessage::NewBlockHashes(list) => json!({"identifiers": identifiers(list)}),
        RskMessage::SkeletonResponse { skeleton, .. } => json!({"identifiers": identifiers(skeleton)}),
        RskMessage::Transactions(list) => {
            let transactions: Vec<Value> = list
                .transactions()
                .map(Result::unwrap)
                .map(|one| json!({"hash": hex::encode(one.hash()), "encoded": hex::encode(one.encoded())}))
                .collect();
            json!({"transactions": transactions})
        }
        RskMessage::BlockHashRequest { height, .. } => json!({"height": height}),
        RskMessage::BlockHeadersRequest { hash, count, .. } => json!({"hash": hex::encode(hash), "count": count}),
        RskMessage::BlockHeadersResponse { headers, .. } => {
            let headers: Vec<Value> =
                headers.compressed_headers(spec).map(|header| header_fields(&header.unwrap())).collect();
            json!({"headers": headers})
        }
        RskMessage::BodyResponse { body, .. } => {
            let transactions: Vec<Value> = body
                .transactions
                .transactions()
                .map(Result::unwrap)
                .map(|one| json!({"hash": hex::encode(one.hash()), "encoded": hex::encode(one.encoded())}))
                .collect();
            let uncles: Vec<String> = body.uncles.items().map(|uncle| hex::encode(uncle.encoding())).collect();
            json!({
                "transactions": transactions,
                "uncles": uncles,
                "extension": body.extension().map(|element| json!({"element": hex::encode(element)})),
            })
        }
        RskMessage::SkeletonRequest { start, .. } => json!({"startNumber": start}),
        RskMessage::StateChunkRequest { number, from, chunk_size, .. } => {
            json!({"blockNumber": number, "from": from, "chunkSize": chunk_size})
        }
        RskMessage::StateChunkResponse { chunk, number, from, to, is_complete, .. } => {
            json!({"chunk": hex::encode(chunk), "blockNumber": number, "from": from, "to": to, "complete": is_complete})
        }
        RskMessage::SnapStatusRequest { .. } => json!({}),
        RskMessage::SnapStatusResponse { blocks, trie_size, .. } => {
            let mut fields = weighed_fields(blocks);
            fields["trieSize"] = json!(trie_size);
            fields
        }
        RskMessage::SnapBlocksRequest { number, .. } => json!({"blockNumber": number}),
        RskMessage::SnapBlocksResponse { blocks, .. } => weighed_fields(blocks),
    }
}

/// Asserts that `expected` has every field of `got`, recursively: the vectors have more than messages state.
fn assert_within(got: &Value, expected: &Value, name: &str) {
    match (got, expected) {
        (Value::Object(fields), Value::Object(others)) => {
            for (field, value) in fields {
                assert_within(value, others.get(field).unwrap_or(&Value::Null), &format!("{name}.{field}"));
            }
        }
        (Value::Array(elements), Value::Array(others)) => {
            assert_eq!(elements.len(), others.len(), "{name}");
            for (at, (element, other)) in elements.iter().zip(others).enumerate() {
                assert_within(element, other, &format!("{name}[{at}]"));
            }
        }
        _ => assert_eq!(got, expected, "{name}"),
    }
}

#[test]
fn generated_messages_decode_and_encode() {
    let file = read(include_str!("../data/rsk_messages.json"));
    let messages = file["messages"].as_array().unwrap();
    let mut kinds = [0; 26];
    for case in messages {
        let payload = bytes(&case["payload"]);
        let message = RskMessage::decode(&payload).unwrap();
        let name = case["name"].as_str().unwrap();
        kinds[usize::from(message.kind())] += 1;
        assert_eq!(json!(message.kind()), case["type"], "{name}");
        assert_eq!(message_type(&payload), Ok(message.kind()), "{name}");
        assert_eq!(message.id().map(Value::from), case["fields"].get("id").cloned(), "{name}");
        assert_within(&fields(&message, &spec(case)), &case["fields"], name);
        assert_eq!(hex::encode(message.encode()), case["payload"].as_str().unwrap(), "{name}");
    }
    let covered: Vec<usize> = (0..kinds.len()).filter(|&kind| kinds[kind] > 0).collect();
    assert_eq!(covered, [1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25]);
}

#[test]
fn invalid_messages_are_refused() {
    let file = read(include_str!("../data/rsk_messages.json"));
    let rejected = file["rejected"].as_array().unwrap();
    assert_eq!(rejected.len(), 5);
    for case in rejected {
        RskMessage::decode(&bytes(&case["payload"])).expect_err(case["why"].as_str().unwrap());
    }
}

#[test]
fn a_header_and_its_body_complete_each_other() {
    let file = read(include_str!("../data/rsk_messages.json"));
    let messages = file["messages"].as_array().unwrap();
    let of_type = |kind: u8| messages.iter().filter(move |case| case["type"] == kind);
    let payloads: Vec<Vec<u8>> = of_type(2).map(|case| bytes(&case["payload"])).collect();
    let spec = ChainSpec::regtest();
    let blocks: Vec<Block> = payloads
        .iter()
        .map(|payload| match RskMessage::decode(payload).unwrap() {
            RskMessage::Block(block) => block.decode(&spec).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    let mut completed = 0;
    for case in of_type(15) {
        let payload = bytes(&case["payload"]);
        let RskMessage::BodyResponse { body, .. } = RskMessage::decode(&payload).unwrap() else { panic!("{case}") };
        let Some(block) = blocks.iter().find(|block| case["fields"]["blockHash"] == hex::encode(block.hash())) else {
            continue;
        };
        let compressed = block.header.encode_compressed();
        let item = rhizome_primitives::rlp::decode_list(&compressed).unwrap();
        let mut header = Header::from_compressed_item(&item, &spec).unwrap();
        assert_eq!(header.hash(), block.hash());
        body.complete(&mut header).unwrap();
        assert_eq!(header, block.header);
        let own = encode_body(block);
        let own = rhizome_wire::rsk::EncodedBody::split(&own).unwrap();
        assert_eq!(
            RskMessage::BodyResponse { id: case["fields"]["id"].as_u64().unwrap(), body: own }.encode(),
            payload
        );
        completed += 1;
    }
    assert_eq!(completed, 2);
}

#[test]
fn status_of_the_subprotocol() {
    let file = read(include_str!("../data/p2p_messages.json"));
    let mut count = 0;
    for case in file["messages"].as_array().unwrap().iter().filter(|case| case["name"] == "ETH_STATUS") {
        let payload = bytes(&case["payload"]);
        let status = EthStatus::decode(&payload).unwrap();
        assert_eq!(status.encode(), payload);
        assert_eq!(json!(status.network_id), case["fields"]["networkId"], "{case}");
        assert_eq!(json!(hex::encode(status.genesis_hash)), case["fields"]["genesisHash"], "{case}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn recorded_exchanges_decode_and_encode() {
    let file = read(include_str!("../data/live_exchanges.json"));
    let spec = ChainSpec::regtest();
    let mut answers = 0;
    for case in file["exchanges"].as_array().unwrap() {
        let name = case["request"].as_str().unwrap();
        let payload = bytes(&case["requestPayload"]);
        let request = RskMessage::decode(&payload).unwrap();
        assert_eq!(json!(request.kind()), case["requestType"], "{name}");
        assert_within(&case["requestFields"], &fields(&request, &spec), name);
        assert_eq!(request.encode(), payload, "{name}");
        let Some(payload) = case["responsePayload"].as_str() else { continue };
        let payload = hex::decode(payload).unwrap();
        let response = RskMessage::decode(&payload).unwrap();
        assert_eq!(json!(response.kind()), case["responseType"], "{name}");
        assert_eq!(response.id(), request.id(), "{name}");
        assert_eq!(response.encode(), payload, "{name}");
        answers += 1;
        match &response {
            RskMessage::BlockHashResponse { hash, .. } => assert_eq!(json!(hex::encode(hash)), case["responseHash"]),
            RskMessage::SkeletonResponse { skeleton, .. } => {
                assert_within(&identifiers(skeleton), &case["responseIdentifiers"], name);
            }
            RskMessage::BlockHeadersResponse { headers, .. } => {
                let headers: Vec<Header> = headers.compressed_headers(&spec).map(Result::unwrap).collect();
                let numbers: Vec<u64> = headers.iter().map(|header| header.number).collect();
                assert_eq!(json!(numbers), case["responseNumbers"], "{name}");
                for pair in headers.windows(2) {
                    assert_eq!(pair[0].parent(), Some(pair[1].hash()), "{name}");
                }
            }
            RskMessage::BlockResponse { block, .. } => {
                let hash = hex::encode(block.header(&spec).unwrap().hash());
                assert_eq!(json!(hash), case["requestFields"]["hash"], "{name}");
            }
            RskMessage::SnapStatusResponse { blocks, .. } | RskMessage::SnapBlocksResponse { blocks, .. } => {
                let numbers: Vec<u64> =
                    blocks.blocks().map(|block| block.unwrap().0.header(&spec).unwrap().number).collect();
                assert_eq!(json!(numbers), case["responseNumbers"], "{name}");
            }
            _ => {}
        }
    }
    assert!(answers >= 25, "{answers}");
}

#[test]
fn messages_of_a_recorded_session_decode_and_encode() {
    let file = read(include_str!("../data/live_session.json"));
    let blocks = file["blocks"].as_array().unwrap();
    let mut requested = HashMap::new();
    let (mut count, mut bodies) = (0, 0);
    for event in file["events"].as_array().unwrap() {
        let Some(payload) = event["payload"].as_str() else { continue };
        let payload = hex::decode(payload).unwrap();
        match event["code"].as_u64() {
            Some(0x10) => assert_eq!(EthStatus::decode(&payload).unwrap().encode(), payload),
            Some(0x18) => {
                let message = RskMessage::decode(&payload).unwrap();
                assert_eq!(message.encode(), payload);
                count += 1;
                if let RskMessage::BodyRequest { id, hash } = message {
                    requested.insert(id, hex::encode(hash));
                } else if let RskMessage::BodyResponse { id, body } = message {
                    let block = blocks.iter().find(|block| block["hash"] == requested[&id].as_str()).unwrap();
                    assert_eq!(
                        json!(body.transactions.transactions().map(Result::unwrap).count()),
                        block["transactions"]
                    );
                    bodies += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!((count, bodies), (92, 33));
}

#[test]
fn requests_of_a_recorded_synchronization_decode_and_encode() {
    let file = read(include_str!("../data/reference_sync_trace.json"));
    let mut kinds = Vec::new();
    for case in file["trace"].as_array().unwrap() {
        let payload = bytes(&case["payload"]);
        let message = RskMessage::decode(&payload).unwrap();
        assert_eq!(message.encode(), payload, "{case}");
        assert_eq!(message.id().map(Value::from), case.get("id").cloned(), "{case}");
        match message {
            RskMessage::Status(status) => assert_eq!(json!(status.best.number), case["bestNumber"]),
            RskMessage::BlockHeadersRequest { count, .. } => assert_eq!(json!(count), case["count"]),
            RskMessage::BlockHashRequest { height, .. } => assert_eq!(json!(height), case["height"]),
            _ => {}
        }
        kinds.push(message.kind());
    }
    assert!([1, 8, 9, 14, 16].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}
