use crate::server::NatsServer;
use crate::{FleetRole, Node, mine, open, options, wait_for};
use async_nats::HeaderMap;
use rhizome_chain::Chain;
use rhizome_fleet::{ChangeEvent, ChangePage, ChangeSource, ChangeStatus};
use rhizome_primitives::{B256, hex};
use std::sync::Arc;

fn event(number: u64, hash: &B256) -> ChangeEvent {
    let cursor = format!("{number}-{hash}");
    ChangeEvent { json: format!("block {cursor}").into_bytes(), cursor }
}

/// Reads the way from a block to the head, one block down or up at a time.
fn page(chain: &Chain, from: Option<&str>) -> ChangePage {
    let head = chain.head();
    let Some(from) = from else {
        return ChangePage { events: vec![event(head.number(), &head.hash())], is_at_head: true };
    };
    let (number, hash) = from.split_once('-').unwrap();
    let (number, hash): (u64, B256) = (number.parse().unwrap(), hash.parse().unwrap());
    if chain.main_hash(number).unwrap() != Some(hash) {
        let parent = chain.block(&hash).unwrap().unwrap().parent().unwrap();
        return ChangePage { events: vec![event(number - 1, &parent)], is_at_head: false };
    }
    let next = chain.main_hash(number + 1).unwrap();
    let events = next.iter().map(|hash| event(number + 1, hash)).collect();
    ChangePage { events, is_at_head: next.is_none() }
}

pub(crate) fn publisher(server: &NatsServer, chain: &Arc<Chain>) -> Node {
    let read = Arc::clone(chain);
    let source = ChangeSource::new("blocks".into(), move |from| Ok(page(&read, from)));
    Node::start_as(options(FleetRole::Importer, &server.url()), chain, Some(source))
}

pub(crate) fn changes(node: &Node) -> ChangeStatus {
    node.status().changes.unwrap()
}

/// Returns the headers and payloads of all messages. Empty if there is no stream yet.
fn messages(server: &NatsServer, chain: &Chain) -> Vec<(HeaderMap, Vec<u8>)> {
    let name = format!("rhizome_{}_changes", hex::encode(chain.main_hash(0).unwrap().unwrap()));
    server.with_client(async |context| {
        let Ok(stream) = context.get_stream(name).await else { return Vec::new() };
        let last = stream.get_info().await.unwrap().state.last_sequence;
        let mut all = Vec::new();
        for sequence in 1..=last {
            let message = stream.get_raw_message(sequence).await.unwrap();
            all.push((message.headers, message.payload.to_vec()));
        }
        all
    })
}

pub(crate) fn publishes_up_to(node: &Node, server: &NatsServer, hash: B256) -> Vec<(HeaderMap, Vec<u8>)> {
    let found = || {
        let all = messages(server, &node.chain);
        all.last().filter(|(_, payload)| payload.ends_with(hash.to_string().as_bytes())).is_some().then_some(all)
    };
    wait_for(found, || node.status())
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_new_holder_continues_where_the_last_one_ended() {
    let mut server = NatsServer::start();
    let chains = ["first", "second"].map(|name| open(name, None, FleetRole::Importer));
    let first = publisher(&server, &chains[0]);
    wait_for(|| changes(&first).is_holder.then_some(()), || first.status());
    // The stream begins at the head.
    publishes_up_to(&first, &server, chains[0].head().hash());
    let second = publisher(&server, &chains[1]);
    second.is_connected();
    let blocks = mine(&chains[0], 5);
    publishes_up_to(&first, &server, blocks[4].hash);
    assert!(!changes(&second).is_holder);
    // The lease of a dead node ends. The next one has its blocks, and changes to another branch.
    first.fleet.stop();
    let other = mine(&open("other", None, FleetRole::Importer), 7);
    for record in blocks.iter().chain(&other) {
        chains[1].import_block(record.block.clone()).unwrap();
    }
    let all = publishes_up_to(&second, &server, other[6].hash);
    // Genesis, five blocks, five steps back, seven blocks.
    assert_eq!(all.len(), 1 + 5 + 5 + 7);
    let header = |index: usize, name: &str| all[index].0.get(name).map(|value| value.as_str().to_owned());
    assert_eq!(header(0, "Rhizome-Previous"), None);
    for index in 1..all.len() {
        assert_eq!(header(index, "Rhizome-Previous"), header(index - 1, "Rhizome-Cursor"));
        assert_eq!(header(index, "Rhizome-Contents").as_deref(), Some("blocks"));
    }
    // Blocks of an outage follow, and the sequence number is known.
    server.kill();
    wait_for(|| (!changes(&second).is_holder).then_some(()), || second.status());
    let late = mine(&chains[1], 2);
    server.restart();
    let all = publishes_up_to(&second, &server, late[1].hash);
    assert_eq!((all.len(), changes(&second).sequence), (20, 20));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_message_of_another_client_is_named_and_nothing_follows_it() {
    let server = NatsServer::start();
    let chain = open("only", None, FleetRole::Importer);
    let node = publisher(&server, &chain);
    publishes_up_to(&node, &server, chain.head().hash());
    let subject = format!("rhizome.{}.changes", hex::encode(chain.main_hash(0).unwrap().unwrap()));
    server.with_client(async |context| {
        context.publish(subject, "x".into()).await.unwrap().await.unwrap();
    });
    mine(&chain, 1);
    let failure = wait_for(|| changes(&node).failure, || node.status());
    assert!(failure.contains("message 2 has no Rhizome-Cursor"), "{failure}");
    assert_eq!((messages(&server, &chain).len(), node.status().failure), (2, None));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_deleted_stream_begins_again_at_the_head() {
    let server = NatsServer::start();
    let chain = open("only", None, FleetRole::Importer);
    let node = publisher(&server, &chain);
    publishes_up_to(&node, &server, chain.head().hash());
    let name = format!("rhizome_{}_changes", hex::encode(chain.main_hash(0).unwrap().unwrap()));
    server.with_client(async |context| context.delete_stream(name).await.unwrap());
    let last = mine(&chain, 2).pop().unwrap();
    let all = publishes_up_to(&node, &server, last.hash);
    // The first message says where the stream begins.
    assert_eq!((all.len(), all[0].0.get("Rhizome-Previous").is_none()), (1, true));
    assert_eq!((node.status().failure, changes(&node).failure), (None, None));
}
