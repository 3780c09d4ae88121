use crate::server::NatsServer;
use crate::{Node, connected_importer, wait_for};
use rhizome_chain::SubPool;
use rhizome_primitives::{Address, Bytes, Transaction, U256, UnsignedTransaction, keccak256};

fn transfer(nonce: u64, gas_price: u64) -> Transaction {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(gas_price),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(9)),
        value: U256::from(1),
        data: Bytes::new(),
    };
    Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap()
}

/// Returns the numbers of pending and queued transactions.
fn counts(node: &Node) -> (usize, usize) {
    (node.chain.pool().count(SubPool::Pending), node.chain.pool().count(SubPool::Queued))
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn a_transaction_of_any_node_is_in_all_pools_once() {
    let mut server = NatsServer::start();
    let importer = Node::importer(&server);
    importer.is_connected();
    let replicas = [Node::replica(&server), Node::replica(&server)];
    replicas.iter().for_each(Node::is_connected);
    let [first, second] = &replicas;
    first.chain.submit(transfer(0, 1_000)).unwrap();
    // Queued: the nonce before it is missing.
    second.chain.submit(transfer(2, 1_000)).unwrap();
    for node in [&importer, first, second] {
        wait_for(|| (counts(node) == (1, 1)).then_some(()), || counts(node));
    }
    // A replacement.
    let replacement = transfer(0, 2_000);
    importer.chain.submit(replacement.clone()).unwrap();
    for node in [first, second] {
        wait_for(|| node.chain.pool().get(&replacement.hash()), || node.status());
        assert_eq!(counts(node), (1, 1));
    }
    let sent = |node: &Node| node.status().transactions.sent;
    assert_eq!((sent(&importer), sent(first), sent(second)), (1, 1, 1), "none goes back");
    // Transactions of an outage follow, and a new node gets those of the last minutes.
    server.kill();
    importer.fails_with("NATS server");
    first.chain.submit(transfer(1, 1_000)).unwrap();
    server.restart();
    let late = Node::replica(&server);
    for node in [&importer, first, second, &late] {
        wait_for(|| (counts(node) == (3, 0)).then_some(()), || (counts(node), node.status()));
    }
    let block = importer.chain.mine(crate::NOW).unwrap();
    for node in [first, second, &late] {
        node.reaches(block.hash);
        wait_for(|| (counts(node) == (0, 0)).then_some(()), || counts(node));
    }
}

#[test]
#[cfg_attr(not(nats_server), ignore = "nats-server is not installed")]
fn messages_that_are_no_transactions_are_counted() {
    let (server, importer) = connected_importer();
    let genesis = rhizome_primitives::hex::encode(importer.chain.main_hash(0).unwrap().unwrap());
    server.with_client(async |context| {
        for (subject, payload) in [("a", b"text".to_vec()), ("b", transfer(0, 0).encoded()[..40].to_vec())] {
            let subject = format!("rhizome.{genesis}.tx.{subject}");
            context.publish(subject, payload.into()).await.unwrap().await.unwrap();
        }
    });
    wait_for(|| (importer.status().transactions.damaged == 2).then_some(()), || importer.status());
    importer.chain.submit(transfer(0, 1_000)).unwrap();
    wait_for(|| (importer.status().transactions.sent == 1).then_some(()), || importer.status());
    assert_eq!(importer.status().failure, None);
}
