//! The head cache must not return values of a previous head.

use crate::dispatch::dispatch;
use crate::node::{import, reference_options, regtest};
use flate2::read::GzDecoder;
use rhizome_answers::Node;
use rhizome_answers::options::{AnswerOptions, MiningMode};
use rhizome_chain::{Chain, ChainConfig, Clock, DataDir, PreparedBlock};
use rhizome_primitives::{B256, ChainSpec, hex};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn ask(node: &Node, method: &str, parameters: &[Value]) -> Value {
    serde_json::from_slice(&dispatch(node, method, parameters).unwrap()).unwrap()
}

/// Returns all transaction hashes and addresses in the stored blocks of a node.
fn names(node: &Node) -> (BTreeSet<B256>, BTreeSet<String>) {
    let (mut transactions, mut addresses) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..=node.chain().highest_number().unwrap() {
        for entry in node.chain().blocks_at(number).unwrap() {
            let record = node.chain().block(&entry.hash).unwrap().unwrap();
            transactions.extend(record.block.transactions.iter().map(|one| one.hash()));
            addresses.extend(record.senders().iter().map(|sender| format!("{sender:?}")));
            addresses.extend(record.block.transactions.iter().filter_map(|one| Some(format!("{:?}", one.to()?))));
        }
    }
    (transactions, addresses)
}

/// Returns the results of all reads that use the head cache. Each read runs twice: the second one hits the cache.
fn answers(node: &Node, (transactions, addresses): &(BTreeSet<B256>, BTreeSet<String>)) -> Vec<Value> {
    let once = || {
        let mut found = Vec::new();
        for hash in transactions {
            found.push(ask(node, "eth_getTransactionReceipt", &[json!(hash.to_string())]));
            let block = &ask(node, "eth_getTransactionByHash", &[json!(hash.to_string())])["blockHash"];
            found.push(block.clone());
        }
        for address in addresses {
            for number in 0..=10 {
                let block = json!(format!("0x{number:x}"));
                if number <= node.chain().head().number() {
                    found.push(ask(node, "eth_getBalance", &[json!(address), block.clone()]));
                }
            }
            found.push(ask(node, "eth_getBalance", &[json!(address), json!("latest")]));
            found.push(ask(node, "eth_getTransactionCount", &[json!(address), json!("latest")]));
            for position in 0..3 {
                let slot = [json!(address), json!(format!("0x{position}")), json!("latest")];
                found.push(ask(node, "eth_getStorageAt", &slot));
            }
        }
        for number in 0..=10 {
            found.push(ask(node, "eth_getBlockByNumber", &[json!(format!("0x{number:x}")), json!(false)]));
        }
        found
    };
    let found = once();
    assert_eq!(found, once());
    found
}

/// A node with a filled cache answers like a new node after each change of the best chain.
#[test]
fn answers_follow_the_best_chain() {
    let fresh = || regtest(reference_options(MiningMode::Off), Clock::system());
    let node = fresh();
    import(&node, "deep-reorg.replaced.blocks");
    let before = answers(&node, &names(&node));
    import(&node, "deep-reorg.blocks");
    let names = names(&node);
    let replaced = answers(&node, &names);
    assert_ne!(before, replaced);
    let other = fresh();
    import(&other, "deep-reorg.blocks");
    assert_eq!(replaced, answers(&other, &names));

    node.chain().rewind(2).unwrap();
    let rewound = answers(&node, &names);
    assert_ne!(replaced, rewound);
    let other = fresh();
    import(&other, "deep-reorg.blocks");
    other.chain().rewind(2).unwrap();
    assert_eq!(rewound, answers(&other, &names));
    // Imports the same blocks again.
    import(&node, "deep-reorg.blocks");
    assert_eq!(answers(&node, &names), replaced);
}

/// Returns a file of golden chains, decompressed.
fn unpacked(file: &str) -> String {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/chains"));
    let mut text = String::new();
    GzDecoder::new(File::open(folder.join(file)).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Two threads read without pause while the head changes.
#[test]
fn does_not_cache_values_read_during_a_change_of_the_head() {
    let description: Value = serde_json::from_str(&unpacked("uncles-and-reorgs.json.gz")).unwrap();
    let spec = Arc::new(ChainSpec::from_json(&description["spec"].to_string()).unwrap());
    let chain = Chain::open(ChainConfig::new(spec, DataDir::Temporary)).unwrap();
    let node = Arc::new(Node::new(chain, AnswerOptions::reference()).unwrap());
    let is_over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (node, is_over) = (Arc::clone(&node), Arc::clone(&is_over));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let head = node.chain().head().number();
                    for number in head.saturating_sub(8)..=head {
                        main_block(&node, number);
                    }
                    for transaction in &node.chain().head().record.block.transactions {
                        mined_in(&node, &transaction.hash());
                    }
                }
            })
        })
        .collect();
    let mut heads = 0;
    for line in unpacked("uncles-and-reorgs.arrivals.txt.gz").lines() {
        let raw = hex::decode(line.rsplit(',').next().unwrap()).unwrap();
        let prepared = PreparedBlock::decode(&raw, node.chain().spec()).unwrap();
        node.chain().import_prepared(prepared).unwrap();
        // The head does not change here: only this thread imports blocks.
        let head = node.chain().head();
        let branch = node.chain().ancestry(&head.record);
        for number in head.number().saturating_sub(8)..=head.number() {
            let hash = branch.hash(number).unwrap().unwrap();
            assert_eq!(main_block(&node, number), json!(hash.to_string()));
            for transaction in &node.chain().block(&hash).unwrap().unwrap().block.transactions {
                assert_eq!(mined_in(&node, &transaction.hash()), json!(hash.to_string()));
            }
        }
        heads += 1;
    }
    is_over.store(true, Ordering::Relaxed);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    assert!(heads > 100, "{heads}");
}

fn main_block(node: &Node, number: u64) -> Value {
    ask(node, "eth_getBlockByNumber", &[json!(format!("0x{number:x}")), json!(false)])["hash"].clone()
}

fn mined_in(node: &Node, hash: &B256) -> Value {
    ask(node, "eth_getTransactionReceipt", &[json!(hash.to_string())])["blockHash"].clone()
}
