use crate::block_log::genesis;
use crate::changes::{changes, publisher, publishes_up_to};
use crate::server::NatsServer;
use crate::{FleetRole, Node, connected_importer, mine, open, wait_for};
use rhizome_primitives::{B256, hex};
use std::time::{Duration, Instant};

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn nodes_know_the_heads_of_each_other() {
    let mut server = NatsServer::start();
    let importer = Node::importer(&server);
    let last = mine(&importer.chain, 3).pop().unwrap();
    let replicas = [Node::replica(&server), Node::replica(&server)];
    replicas.iter().for_each(|replica| replica.reaches(last.hash));
    for node in [&importer, &replicas[0], &replicas[1]] {
        let heads = || node.status().nodes.iter().map(|node| node.head.number).collect::<Vec<_>>();
        wait_for(|| (heads() == [3, 3, 3]).then_some(()), || node.status());
        assert_eq!(node.fleet.agreed_number(), 3);
        let are_ready = || node.status().nodes.iter().all(|node| node.is_ready) && !node.status().is_behind;
        wait_for(|| are_ready().then_some(()), || node.status());
    }
    // Without the server each node knows itself, and soon counts itself only.
    server.kill();
    mine(&importer.chain, 1);
    wait_for(|| (importer.fleet.agreed_number() == 4).then_some(()), || importer.status());
    server.restart();
    replicas
        .iter()
        .for_each(|replica| wait_for(|| (replica.fleet.agreed_number() == 4).then_some(()), || replica.status()));
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_node_that_lacks_the_best_head_is_behind_and_does_not_hold_the_others() {
    let (server, importer) = connected_importer();
    let replica = Node::replica(&server);
    let stuck = Node::replica(&server);
    stuck.is_connected();
    // A command occupies its importer.
    let held = std::sync::Arc::clone(&stuck.chain);
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = std::sync::mpsc::channel::<()>();
    let holder = std::thread::spawn(move || {
        held.change_state(move |_| {
            begin.send(()).unwrap();
            drop_when(wait)
        })
        .unwrap();
    });
    begun.recv().unwrap();
    let last = mine(&importer.chain, 2).pop().unwrap();
    replica.reaches(last.hash);
    wait_for(|| stuck.status().is_behind.then_some(()), || stuck.status());
    wait_for(|| (replica.fleet.agreed_number() == 2).then_some(()), || replica.status());
    drop(release);
    holder.join().unwrap();
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_forged_head_keeps_no_node_from_its_work() {
    let server = NatsServer::start();
    let chain = open("only", None, FleetRole::Importer);
    let node = publisher(&server, &chain);
    let replica = Node::replica(&server);
    let first = mine(&chain, 1).pop().unwrap();
    publishes_up_to(&node, &server, first.hash);
    replica.reaches(first.hash);
    wait_for(|| (!replica.status().is_behind).then_some(()), || replica.status());
    let subject = format!("rhizome.{}.head.forged", hex::encode(genesis(&chain)));
    server.with_client(async |context| {
        let start = Instant::now();
        for count in 0u8.. {
            // The same head for a while, then others.
            let hash = B256::repeat_byte(count.saturating_sub(30));
            let text = format!("1000000 {hash} 1000000000 importer 1");
            context.client().publish(subject.clone(), text.into()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(changes(&node).is_holder && !node.status().is_behind, "{:#?}", node.status());
            assert!(!replica.status().is_behind, "{:#?}", replica.status());
            if start.elapsed() > Duration::from_secs(4) {
                return;
            }
        }
    });
    let last = mine(&chain, 1).pop().unwrap();
    publishes_up_to(&node, &server, last.hash);
    replica.reaches(last.hash);
    wait_for(|| (replica.fleet.agreed_number() == 2).then_some(()), || replica.status());
    let fault = replica.status().last_fault.unwrap();
    assert!(fault.contains("node forged announces block 1000000"), "{fault}");
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_replica_is_behind_until_it_knows_the_fleet_and_has_its_head() {
    let mut server = NatsServer::stopped(crate::server::USUAL, true);
    let replica = Node::replica(&server);
    replica.fails_with("cannot be reached");
    assert!(replica.status().is_behind);
    server.restart();
    let importer = Node::importer(&server);
    let last = mine(&importer.chain, 3).pop().unwrap();
    wait_for(|| (!replica.status().is_behind).then_some(()), || replica.status());
    assert_eq!(replica.chain.head().hash(), last.hash);
}

/// Waits until the sender is dropped.
fn drop_when(wait: std::sync::mpsc::Receiver<()>) -> Result<(), rhizome_trie::StateError> {
    let _disconnected = wait.recv();
    Ok(())
}
