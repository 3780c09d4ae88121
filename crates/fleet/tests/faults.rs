use crate::block_log::{genesis, publish};
use crate::server::{NatsServer, USUAL};
use crate::{Node, config, connected_importer, mine, open, options, wait_for};
use rhizome_chain::Chain;
use rhizome_fleet::{Credentials, FleetRole};
use rhizome_primitives::{B256, ChainSpec, U256};

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_server_that_cannot_carry_a_fleet_is_named() {
    let cases = [
        ("max_payload: 1MB\n", true, "max_payload of the NATS server is 1048576 bytes"),
        (USUAL, false, "has no JetStream"),
        ("max_payload: 16MB\nauthorization { user: node, password: right }\n", true, "rejects the credentials"),
    ];
    for (settings, has_streams, failure) in cases {
        let server = NatsServer::start_with(settings, has_streams);
        for role in [FleetRole::Importer, FleetRole::Replica] {
            let node = Node::start(&server, role, &open("node", None, role));
            node.fails_with(failure);
            mine(&node.chain, 1);
            assert_eq!(node.chain.head().number(), 1, "the node goes on without its fleet");
        }
    }
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_server_that_is_away_at_the_start_is_waited_for() {
    let mut server = NatsServer::stopped(USUAL, true);
    let importer = Node::importer(&server);
    let failure = importer.fails_with("cannot be reached");
    assert!(failure.contains(&server.url()), "{failure}");
    let last = mine(&importer.chain, 2).pop().unwrap();
    server.restart();
    Node::replica(&server).reaches(last.hash);
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn users_and_tokens_are_accepted() {
    let user = Credentials::User { name: "node".into(), password: "right".into() };
    let cases = [
        ("authorization { user: node, password: right }\n", user),
        ("authorization { token: secret }\n", Credentials::Token("secret".into())),
    ];
    for (settings, credentials) in cases {
        let server = NatsServer::start_with(&format!("{USUAL}{settings}"), true);
        let chain = open("importer", None, FleetRole::Importer);
        let options = options(FleetRole::Importer, &server.url());
        Node::start_with(rhizome_fleet::FleetOptions { credentials, ..options }, &chain).is_connected();
    }
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_replica_of_another_chain_names_the_chains_of_the_server() {
    let (server, importer) = connected_importer();
    let mut spec = ChainSpec::regtest();
    spec.genesis.fund(rhizome_primitives::Address::repeat_byte(7), U256::from(1));
    let chain = Chain::open(config("replica", spec, None, FleetRole::Replica)).unwrap();
    let replica = Node::start(&server, FleetRole::Replica, &chain);
    let failure = replica.fails_with("no importer of this chain has created it");
    let other = rhizome_primitives::hex::encode(genesis(&importer.chain));
    assert!(failure.contains(&format!("rhizome_{other}_blocks of other chains")), "{failure}");
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn damaged_and_forged_blocks_are_counted_and_passed_over() {
    let (server, importer) = connected_importer();
    let genesis = genesis(&importer.chain);
    let replica = Node::replica(&server);
    let compressed = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).unwrap();
    let other = open("other", None, FleetRole::Replica);
    let block = mine(&other, 1).pop().unwrap();
    let raw = other.raw_block(&block.hash).unwrap().unwrap();
    let faults: [(B256, u64, Vec<u8>, &str); 4] = [
        (B256::repeat_byte(1), 1, b"no zstd".to_vec(), "cannot be decompressed"),
        (B256::repeat_byte(2), 1, compressed(b"no block"), "is not a block"),
        (B256::repeat_byte(3), 1, compressed(&raw), "the payload is block"),
        (block.hash, 9, compressed(&raw), "is not 1"),
    ];
    for (index, (hash, number, payload, fault)) in faults.into_iter().enumerate() {
        server.publish(&genesis, [(hash, number, payload)]);
        let found = || replica.status().last_fault.filter(|found| found.contains(fault));
        wait_for(found, || replica.status());
        assert_eq!(replica.status().log.damaged, index as u64 + 1);
    }
    // A block with another state root, and a child of it, which comes first.
    let mut forged = block.block.clone();
    forged.header.state_root = vec![7; 32].into();
    let (bad, bad_raw) = (forged.hash(), forged.encode());
    let mut child = forged.clone();
    (child.header.number, child.header.parent_hash) = (2, bad.to_vec().into());
    let forged = [(child.hash(), 2, compressed(&child.encode())), (bad, 1, compressed(&bad_raw))];
    server.publish(&genesis, forged);
    wait_for(|| (replica.status().log.invalid == 2).then_some(()), || replica.status());
    assert_eq!(replica.chain.head().number(), 0);
    let last = mine(&importer.chain, 3).pop().unwrap();
    replica.reaches(last.hash);
    let place = || replica.chain.block_log().place().unwrap();
    wait_for(|| (place()?.sequence == 9).then_some(()), || replica.status());
    assert_eq!(replica.status().failure, None);
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_missing_parent_is_named_and_ends_with_its_arrival() {
    let (server, _importer) = connected_importer();
    let other = open("other", None, FleetRole::Replica);
    let blocks = mine(&other, 3);
    publish(&server, &other, [3, 2]);
    let replica = Node::replica(&server);
    let failure = replica.fails_with("which is not in the log");
    assert!(failure.contains(&format!("block 2 ({}) waits for block {}", blocks[1].hash, blocks[0].hash)), "{failure}");
    assert_eq!(replica.status().log.waiting, 2);
    wait_for(|| replica.fleet.has_gap().then_some(()), || replica.status());
    publish(&server, &other, [1]);
    replica.reaches(blocks[2].hash);
    wait_for(|| replica.status().failure.is_none().then_some(()), || replica.status());
    assert!(!replica.fleet.has_gap());
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_block_of_the_future_is_tried_again() {
    use rhizome_chain::Clock;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let server = NatsServer::start();
    let importer = Node::importer(&server);
    let time = Arc::new(AtomicU64::new(NOW_AND_BEFORE));
    let clock = Arc::clone(&time);
    let mut spec = ChainSpec::regtest();
    // As on public networks.
    spec.constants.max_seconds_in_future = 540;
    let slow = rhizome_chain::ChainConfig {
        clock: Clock::new(move || clock.load(Ordering::Relaxed)),
        ..config("replica", spec, None, FleetRole::Replica)
    };
    let replica = Node::start(&server, FleetRole::Replica, &Chain::open(slow).unwrap());
    let last = mine(&importer.chain, 2).pop().unwrap();
    replica.fails_with("is in the future: compare the clock of this machine");
    time.store(crate::NOW + 10, Ordering::Relaxed);
    replica.reaches(last.hash);
    wait_for(|| replica.status().failure.is_none().then_some(()), || replica.status());
}

/// An hour before the blocks.
const NOW_AND_BEFORE: u64 = crate::NOW - 3_600;
