use crate::server::NatsServer;
use crate::{Node, connected_importer, mine, wait_for};

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
        assert!(node.status().nodes.iter().all(|node| node.is_ready) && !node.status().is_behind);
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

/// Waits until the sender is dropped.
fn drop_when(wait: std::sync::mpsc::Receiver<()>) -> Result<(), rhizome_trie::StateError> {
    let _disconnected = wait.recv();
    Ok(())
}
