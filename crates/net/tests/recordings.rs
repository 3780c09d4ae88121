//! A session with a live reference node, recorded once and replayed: blocks and transactions both ways, then a reorganisation.
//!
//! `RSKJ=PATH node scripts/cargo.mjs test --release -p rhizome-net records_a_session -- --ignored` records it again.

use crate::live::{Reference, reference};
use crate::reference_peer::ServedChain;
use crate::relay::transfer;
use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait, wait_for};
use crate::sync::{SyncingNode, open};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rhizome_chain::{Chain, PreparedBlock};
use rhizome_net::NetworkOptions;
use rhizome_primitives::{B256, Block};
use rhizome_wire::rsk::{EncodedBlock, EncodedList, RskMessage};
use rhizome_wire::session::{Capability, codes};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/live_session.json.gz");
const PORT: u16 = 30_611;
const PATIENCE: Duration = Duration::from_secs(60);

/// Side that sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Reference,
    Client,
}

/// Asks the reference node over HTTP. `None` if it does not answer.
fn rpc(method: &str, params: Value) -> Option<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut socket = TcpStream::connect(("127.0.0.1", PORT + 1)).ok()?;
    let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(socket, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    Some(serde_json::from_str::<Value>(&answer[start..=end]).ok()?["result"].clone())
}

/// A client of the reference node that records the messages of rsk/62.
struct RecordingClient {
    peer: ScriptedPeer,
    messages: Vec<(Side, Vec<u8>)>,
}

impl RecordingClient {
    fn send(&mut self, message: &RskMessage<'_>) {
        self.send_encoded(message.encode());
    }

    fn send_encoded(&mut self, payload: Vec<u8>) {
        self.peer.send(codes::RSK, &payload);
        self.messages.push((Side::Client, payload));
    }

    fn receive(&mut self) -> Vec<u8> {
        loop {
            let frame = self.peer.receive().unwrap();
            if frame.code == codes::PING {
                self.peer.send(codes::PONG, &[0xc0]);
            } else if frame.code == codes::RSK {
                let payload = frame.payload().to_vec();
                self.messages.push((Side::Reference, payload.clone()));
                return payload;
            }
        }
    }

    fn receive_block(&mut self) -> Vec<u8> {
        loop {
            if let RskMessage::Block(block) = RskMessage::decode(&self.receive()).unwrap() {
                return block.encoding().to_vec();
            }
        }
    }

    fn write(&self) {
        let text = |(side, payload): &(Side, Vec<u8>)| json!({"from": if *side == Side::Client { "client" } else { "reference" }, "payload": hex::encode(payload)});
        let messages: Vec<Value> = self.messages.iter().map(text).collect();
        let file = json!({"generator": "rskj 9.0.3, recorded by crates/net/tests/recordings.rs", "messages": messages});
        let mut encoder = GzEncoder::new(File::create(RECORDING).unwrap(), Compression::best());
        encoder.write_all(file.to_string().as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn import(chain: &Chain, encoding: &[u8]) {
    chain.import_from_peer(PreparedBlock::decode(encoding, chain.spec()).unwrap()).unwrap();
}

fn send_mined(client: &mut RecordingClient, chain: &Chain) -> B256 {
    let block = chain.mine(now()).unwrap();
    let encoding = block.block.encode();
    client.send(&RskMessage::Block(EncodedBlock::split(&encoding).unwrap()));
    block.hash
}

#[test]
#[ignore = "needs a reference node"]
fn records_a_session() {
    let script = std::env::var("RSKJ").unwrap();
    let _reference: Reference = reference(&script, PORT, None);
    wait_for("the reference", PATIENCE, || rpc("eth_blockNumber", json!([])).is_some());
    let address = SocketAddr::from(([127, 0, 0, 1], PORT));
    let (chain, branch) = (open("client", None), open("branch", None));
    let genesis = ServedChain::of(&chain);
    let identity = chain.main_hash(0).unwrap().unwrap();
    let peer =
        ScriptedPeer::join_with(connect(address), &key(9), key(77).id(), &[Capability::rsk()], identity.as_slice());
    let mut client = RecordingClient { peer, messages: Vec::new() };
    client.send(&genesis.status());
    // Peers become active once a second.
    std::thread::sleep(Duration::from_secs(3));
    for _ in 0..3 {
        rpc("evm_mine", json!([])).unwrap();
        let block = client.receive_block();
        import(&chain, &block);
        import(&branch, &block);
    }
    let request = json!([{"from": "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826", "value": "0x1", "gas": "0x5208",
        "gasPrice": "0x3b9aca00", "to": "0x0000000000000000000000000000000000000001"}]);
    rpc("eth_sendTransaction", request).unwrap();
    loop {
        let payload = client.receive();
        if let RskMessage::Transactions(list) = RskMessage::decode(&payload).unwrap() {
            chain.submit(list.transactions().next().unwrap().unwrap()).unwrap();
            break;
        }
    }
    let block = send_mined(&mut client, &chain);
    import(&branch, &chain.raw_block(&block).unwrap().unwrap());
    wait_for("block 4", PATIENCE, || rpc("eth_blockNumber", json!([])) == Some(json!("0x4")));
    let transaction = transfer(1);
    let list = rhizome_primitives::rlp::list(transaction.encoded());
    client.send(&RskMessage::Transactions(EncodedList::decode(&list, "transactions").unwrap()));
    let hash = json!([transaction.hash().to_string()]);
    wait_for("the transaction", PATIENCE, || {
        rpc("eth_getTransactionByHash", hash.clone()).is_some_and(|found| !found.is_null())
    });
    for _ in 0..3 {
        rpc("evm_mine", json!([])).unwrap();
        client.receive_block();
    }
    for _ in 0..5 {
        branch.mine(now()).unwrap();
    }
    let branch = ServedChain::of(&branch);
    client.send(&branch.status());
    loop {
        let payload = client.receive();
        match RskMessage::decode(&payload).unwrap() {
            RskMessage::Status(status) if status.best == branch.best() => break,
            request => {
                if let Some(answer) = branch.answer(&request, &Default::default()) {
                    client.send_encoded(answer);
                }
            }
        }
    }
    client.write();
}

fn recorded() -> Vec<(Side, Vec<u8>)> {
    let file: Value = serde_json::from_reader(GzDecoder::new(File::open(RECORDING).unwrap())).unwrap();
    let message = |message: &Value| {
        let side = if message["from"] == "client" { Side::Client } else { Side::Reference };
        (side, hex::decode(message["payload"].as_str().unwrap()).unwrap())
    };
    file["messages"].as_array().unwrap().iter().map(message).collect()
}

/// Returns the chain of the client after the reorganisation: announced blocks, then headers and bodies of its answers.
fn branch_of(messages: &[(Side, Vec<u8>)]) -> Arc<Chain> {
    let chain = open("", None);
    let (mut headers, mut asked) = (HashMap::new(), HashMap::new());
    for (side, payload) in messages {
        match (side, RskMessage::decode(payload).unwrap()) {
            (_, RskMessage::Block(block)) if chain.head().number() < 4 => import(&chain, block.encoding()),
            (Side::Client, RskMessage::BlockHeadersResponse { headers: found, .. }) => {
                for header in found.compressed_headers(chain.spec()) {
                    let header = header.unwrap();
                    headers.insert(header.hash(), header);
                }
            }
            (Side::Reference, RskMessage::BodyRequest { id, hash }) => {
                asked.insert(id, hash);
            }
            (Side::Client, RskMessage::BodyResponse { id, body }) => {
                let mut header = headers[&asked[&id]].clone();
                body.complete(&mut header).unwrap();
                let (transactions, uncles) = (body.transactions.encoding(), body.uncles.encoding());
                let block = PreparedBlock::join(&header, transactions, uncles, chain.spec()).unwrap();
                chain.import_from_peer(block).unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(chain.head().number(), 9);
    chain
}

fn join(node: &SyncingNode) -> ScriptedPeer {
    let genesis = node.chain.main_hash(0).unwrap().unwrap();
    let address = node.network.listening().unwrap();
    ScriptedPeer::join_with(connect(address), &key(9), node.network.id(), &[Capability::rsk()], genesis.as_slice())
}

#[test]
fn recorded_announcements_lead_to_the_same_head_and_a_reorganisation() {
    let messages = recorded();
    let node = SyncingNode::start(open("", None));
    let mut peer = join(&node);
    let mut last: Option<Block> = None;
    let mut transactions = 0;
    for (_, payload) in &messages {
        match RskMessage::decode(payload).unwrap() {
            RskMessage::Block(block) => {
                let block = block.decode(node.chain.spec()).unwrap();
                peer.send(codes::RSK, payload);
                wait("the block", || node.chain.head().hash() == block.hash());
                last = Some(block);
            }
            RskMessage::Transactions(list) => {
                let transaction = list.transactions().next().unwrap().unwrap();
                peer.send(codes::RSK, payload);
                wait("the transaction", || node.chain.pool().get(&transaction.hash()).is_some());
                transactions += 1;
            }
            _ => {}
        }
    }
    assert_eq!((last.unwrap().header.number, transactions), (7, 2));
    // The branch of the client is heavier.
    let branch = branch_of(&messages);
    let server = SyncingNode::start_with(branch, |options| NetworkOptions { key: key(5), ..options });
    node.network.add_peer(server.network.enode().unwrap());
    wait("the reorganisation", || node.chain.head().hash() == server.chain.head().hash());
}

#[test]
fn recorded_requests_get_the_recorded_answers() {
    let messages = recorded();
    let node = SyncingNode::start(branch_of(&messages));
    let mut peer = join(&node);
    let mut answered = 0;
    for (side, request) in &messages {
        let decoded = RskMessage::decode(request).unwrap();
        let Some(id) = decoded.id().filter(|_| *side == Side::Reference) else { continue };
        let is_answer = |(side, payload): &&(Side, Vec<u8>)| {
            *side == Side::Client && RskMessage::decode(payload).unwrap().id() == Some(id)
        };
        let Some((_, expected)) = messages.iter().find(is_answer) else { continue };
        peer.send(codes::RSK, request);
        loop {
            let frame = peer.receive().unwrap();
            if frame.code == codes::RSK && RskMessage::decode(frame.payload()).unwrap().id() == Some(id) {
                assert_eq!(hex::encode(frame.payload()), hex::encode(expected));
                break;
            }
        }
        answered += 1;
    }
    assert!(answered >= 7, "{answered}");
}
