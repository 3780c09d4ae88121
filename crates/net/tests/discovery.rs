//! Discovery over loopback sockets, and distances on golden data of the reference.

use crate::support::{key, options, start, wait};
use rhizome_net::{HostPort, NetworkOptions, NodeId, bucket, distance};
use serde_json::Value;

#[test]
fn distances() {
    let data: Value = serde_json::from_str(include_str!("data/discovery.json")).unwrap();
    for case in data["distances"].as_array().unwrap() {
        let id = |name: &str| case[name].as_str().unwrap().parse::<NodeId>().unwrap();
        let distance = distance(&id("a"), &id("b"));
        assert_eq!(distance as u64, case["distance"].as_u64().unwrap());
        assert_eq!(bucket(distance) as u64, case["bucket"].as_u64().unwrap());
    }
}

#[test]
fn nodes_that_know_one_node_connect_to_all() {
    let first = start(NetworkOptions { has_discovery: true, ..options(1) });
    let address = first.address();
    let bootnodes = vec![HostPort { host: address.ip().to_string(), port: address.port() }];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nodes");
    let settings = |fill| NetworkOptions {
        has_discovery: true,
        bootnodes: bootnodes.clone(),
        nodes_file: (fill == 2).then(|| file.clone()),
        ..options(fill)
    };
    let second = start(settings(2));
    wait("the first peer", || second.network.peers().len() == 1);
    let third = start(settings(3));
    wait("all peers", || [&first, &second, &third].iter().all(|node| node.network.peers().len() == 2));
    // The known nodes are dialled again after a restart without bootnodes.
    drop(second);
    assert!(std::fs::read_to_string(&file).unwrap().contains(&key(1).id().to_string()));
    let again = start(NetworkOptions { nodes_file: Some(file), ..options(2) });
    wait("the peers of the last run", || again.network.peers().len() == 2);
}
