use crate::server::NatsServer;
use crate::{Node, connected_importer, mine, open, wait_for};
use rhizome_chain::Chain;
use rhizome_fleet::FleetRole;
use rhizome_primitives::{B256, hex};
use std::sync::Arc;

pub(crate) fn genesis(chain: &Chain) -> B256 {
    chain.main_hash(0).unwrap().unwrap()
}

fn stream(chain: &Chain) -> String {
    format!("rhizome_{}_blocks", hex::encode(genesis(chain)))
}

/// Publishes blocks of a chain, by number, as an importer does.
pub(crate) fn publish(server: &NatsServer, chain: &Chain, numbers: impl IntoIterator<Item = u64>) {
    let message = |number| {
        let hash = chain.main_hash(number).unwrap().unwrap();
        let raw = chain.raw_block(&hash).unwrap().unwrap();
        (hash, number, zstd::bulk::compress(&raw, 1).unwrap())
    };
    server.publish(&genesis(chain), numbers.into_iter().map(message));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn all_stored_blocks_reach_all_replicas() {
    let server = NatsServer::start();
    let importer = Node::importer(&server);
    mine(&importer.chain, 3);
    let replicas = [Node::replica(&server), Node::replica(&server)];
    let last = mine(&importer.chain, 3).pop().unwrap();
    // A branch beside the best chain.
    let other = open("other", None, FleetRole::Replica);
    let side = mine(&other, 2).pop().unwrap();
    for number in [1, 2] {
        let block = other.main_block(number).unwrap().unwrap().block.clone();
        importer.chain.import_block(block).unwrap();
    }
    for replica in &replicas {
        replica.reaches(last.hash);
        wait_for(|| replica.chain.block(&side.hash).unwrap(), || replica.status());
        let (status, place) = (replica.status(), replica.chain.block_log().place().unwrap());
        assert_eq!((status.log.received, status.log.damaged, status.log.invalid, status.failure), (8, 0, 0, None));
        wait_for(|| (replica.chain.block_log().place().unwrap()?.sequence == 8).then_some(()), || place);
    }
    let log = importer.chain.block_log();
    let has_published_all = || {
        log.read_again(0);
        log.unpublished(9).unwrap().is_empty()
    };
    wait_for(|| has_published_all().then_some(()), || importer.status());
    assert_eq!(importer.status().log.published, 8);
    // The branch grows, and wins everywhere.
    let best = mine(&other, 6).pop().unwrap();
    for number in 3..=8 {
        importer.chain.import_block(other.main_block(number).unwrap().unwrap().block.clone()).unwrap();
    }
    assert_eq!(importer.chain.head().hash(), best.hash);
    replicas.iter().for_each(|replica| replica.reaches(best.hash));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn an_outage_loses_nothing_and_a_replica_goes_on_at_its_place() {
    let mut server = NatsServer::start();
    let importer = Node::importer(&server);
    let dir = tempfile::tempdir().unwrap();
    let chain = open("replica", Some(dir.path()), FleetRole::Replica);
    let replica = Node::start(&server, FleetRole::Replica, &chain);
    replica.reaches(mine(&importer.chain, 5).pop().unwrap().hash);
    server.kill();
    for node in [&importer, &replica] {
        node.fails_with("NATS server");
        assert!(!node.status().is_connected);
    }
    let missed = mine(&importer.chain, 5).pop().unwrap();
    assert_eq!(replica.chain.head().number(), 5, "the replica serves what it has");
    server.restart();
    replica.reaches(missed.hash);
    assert_eq!((importer.status().failure, replica.status().failure), (None, None));
    drop((replica, chain));
    let last = mine(&importer.chain, 2).pop().unwrap();
    let chain = open("replica", Some(dir.path()), FleetRole::Replica);
    let replica = Node::start(&server, FleetRole::Replica, &chain);
    replica.reaches(last.hash);
    assert!(replica.status().log.received <= 3, "{:?}", replica.status());
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_replica_that_was_rewound_reads_the_deleted_blocks_again() {
    let (server, importer) = connected_importer();
    let dir = tempfile::tempdir().unwrap();
    let last = mine(&importer.chain, 6).pop().unwrap();
    {
        let chain = open("replica", Some(dir.path()), FleetRole::Replica);
        let replica = Node::start(&server, FleetRole::Replica, &chain);
        replica.reaches(last.hash);
        let place = || chain.block_log().place().unwrap();
        wait_for(|| (place()?.sequence == 6).then_some(()), || replica.status());
    }
    let chain = open("replica", Some(dir.path()), FleetRole::Replica);
    chain.rewind(2).unwrap();
    let replica = Node::start(&server, FleetRole::Replica, &chain);
    replica.reaches(last.hash);
    let status = replica.status();
    assert_eq!((status.log.received, status.log.renewed, status.failure), (6, 0, None));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn blocks_noted_before_a_restart_of_the_importer_are_published() {
    let mut server = NatsServer::start();
    let dir = tempfile::tempdir().unwrap();
    let last = {
        let chain = open("importer", Some(dir.path()), FleetRole::Importer);
        let importer = Node::start(&server, FleetRole::Importer, &chain);
        mine(&importer.chain, 2);
        wait_for(|| (importer.status().log.published == 2).then_some(()), || importer.status());
        server.kill();
        mine(&chain, 3).pop().unwrap()
    };
    server.restart();
    let chain = open("importer", Some(dir.path()), FleetRole::Importer);
    let importer = Node::start(&server, FleetRole::Importer, &chain);
    Node::replica(&server).reaches(last.hash);
    assert_eq!(importer.status().log.published, 3, "only the missing ones");
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn several_importers_may_publish_the_same_blocks() {
    let server = NatsServer::start();
    let first = Node::importer(&server);
    let last = mine(&first.chain, 4).pop().unwrap();
    wait_for(|| (first.status().log.published == 4).then_some(()), || first.status());
    let second = Node::importer(&server);
    for number in 1..=4 {
        second.chain.import_block(first.chain.main_block(number).unwrap().unwrap().block.clone()).unwrap();
    }
    wait_for(|| (second.status().log.refused == 4).then_some(()), || second.status());
    assert_eq!((second.status().log.published, second.status().failure), (0, None));
    let replica = Node::replica(&server);
    replica.reaches(last.hash);
    assert_eq!(replica.status().log.received, 4);
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_log_that_was_made_anew_gets_the_blocks_of_the_importer_again() {
    let server = NatsServer::start();
    let importer = Node::importer(&server);
    let replica = Node::replica(&server);
    replica.reaches(mine(&importer.chain, 4).pop().unwrap().hash);
    let name = stream(&importer.chain);
    server.with_client(async |context| context.delete_stream(&name).await.unwrap());
    let last = mine(&importer.chain, 1).pop().unwrap();
    replica.reaches(last.hash);
    wait_for(|| (replica.status().log.renewed == 1).then_some(()), || replica.status());
    assert_eq!(importer.status().log.renewed, 1);
    let fresh = Node::replica(&server);
    fresh.reaches(last.hash);
    assert_eq!(fresh.status().log.renewed, 0);
}

/// Blocks of a log whose order is given. More than the store of blocks without a parent holds.
const BLOCKS: u64 = 700;

/// Publishes blocks in this order. Returns a replica that has read and imported them, with the server.
fn replica_of_log(order: impl Iterator<Item = u64>) -> (NatsServer, Node) {
    let (server, _importer) = connected_importer();
    let other: Arc<Chain> = open("other", None, FleetRole::Replica);
    let last = mine(&other, usize::try_from(BLOCKS).unwrap()).pop().unwrap();
    publish(&server, &other, order);
    let replica = Node::replica(&server);
    replica.reaches(last.hash);
    (server, replica)
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn blocks_in_reverse_order_are_imported() {
    let (_server, replica) = replica_of_log((1..=BLOCKS).rev());
    let place = || replica.chain.block_log().place().unwrap();
    wait_for(|| (place()?.sequence == BLOCKS).then_some(()), || replica.status());
    assert_eq!((replica.status().log.waiting, replica.status().failure), (0, None));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn blocks_behind_one_that_came_late_are_not_read_again() {
    let (_server, replica) = replica_of_log([2, 1].into_iter().chain(3..=BLOCKS));
    assert_eq!((replica.status().log.received, replica.status().log.waiting), (BLOCKS, 0));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn an_importer_remembers_the_place_of_its_head() {
    let (_server, importer) = connected_importer();
    mine(&importer.chain, 1_003);
    let place = || importer.chain.block_log().place().unwrap().filter(|place| place.sequence > 0);
    // A replica that begins with this database reads the last 1,000 messages again.
    assert_eq!(wait_for(place, || importer.status()).sequence, 3);
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_head_that_retention_has_removed_is_published_again() {
    let (mut server, importer) = connected_importer();
    let last = mine(&importer.chain, 3).pop().unwrap();
    Node::replica(&server).reaches(last.hash);
    let count = |server: &NatsServer| {
        server.with_client(async |context| {
            let stream = context.get_stream(stream(&importer.chain)).await.unwrap();
            stream.get_info().await.unwrap().state.messages
        })
    };
    server.with_client(async |context| {
        context.get_stream(stream(&importer.chain)).await.unwrap().purge().await.unwrap();
    });
    assert_eq!(count(&server), 0);
    server.kill();
    server.restart();
    wait_for(|| (count(&server) == 1).then_some(()), || importer.status());
    // A replica without the other blocks knows that the log has lost them.
    let replica = Node::replica(&server);
    replica.fails_with("retention has passed this node by");
    assert!(replica.status().is_behind);
}
