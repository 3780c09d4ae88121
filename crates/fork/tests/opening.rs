//! Opening of remote chains, good and bad.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rhizome_chain::ForkOrigin;
use rhizome_fork::{CacheFolder, ForkError, ForkTarget};
use rhizome_primitives::B256;
use serde_json::json;

use crate::scripted_node::{BEST, Reaction, ScriptedNode, block_object, hash};

#[test]
fn a_fork_begins_at_the_best_block_a_number_or_a_hash() {
    let node = ScriptedNode::start();
    for (target, number) in [(ForkTarget::Latest, BEST), (ForkTarget::Number(2), 2), (ForkTarget::Hash(hash(1)), 1)] {
        let chain = node.open(target, None).unwrap();
        assert_eq!((chain.number(), chain.hash(), chain.block().genesis), (number, hash(number), hash(0)));
        assert_eq!(chain.spec().fork_block, Some(number));
        assert_eq!(chain.ancestor(number).unwrap().map(|ancestor| ancestor.hash), None);
        for below in 0..number {
            let ancestor = chain.ancestor(below).unwrap().unwrap();
            assert_eq!((ancestor.hash, ancestor.header.number), (hash(below), below));
            assert_eq!(chain.ancestor_by_hash(&hash(below)).unwrap().unwrap().hash, hash(below));
        }
        assert!(chain.ancestor_by_hash(&hash(number)).unwrap().is_none());
        assert!(chain.ancestor_by_hash(&B256::repeat_byte(9)).unwrap().is_none());
    }
    assert!(matches!(node.open(ForkTarget::Number(0), None), Err(ForkError::GenesisBlock)));
    assert!(matches!(node.open(ForkTarget::Number(9), None), Err(ForkError::NoBlock { .. })));
    assert!(matches!(node.open(ForkTarget::Hash(B256::ZERO), None), Err(ForkError::NoBlock { .. })));
}

#[test]
fn a_chain_without_blocks_above_genesis_is_refused() {
    // The header of the object has another hash, as that of a network.
    let node = ScriptedNode::scripted(|method, params| {
        (method == "eth_getBlockByNumber" && params[0] == json!("latest")).then(|| {
            let mut object = block_object(0);
            object["stateRoot"] = json!(format!("0x{}", "11".repeat(32)));
            Ok(object)
        })
    });
    assert!(matches!(node.open(ForkTarget::Latest, None), Err(ForkError::GenesisBlock)));
}

#[test]
fn a_remote_node_that_is_away_is_an_error() {
    let node = ScriptedNode::start();
    let target = || ForkTarget::Latest;
    // The listener of this port is closed.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let away = ScriptedNode { url: format!("http://{gone}/key"), ..ScriptedNode::start() };
    let Err(error @ ForkError::Away { .. }) = away.open(target(), None) else { panic!("opened") };
    assert!(error.to_string().contains(&gone.to_string()) && !error.to_string().contains("/key"), "{error}");
    // A node that limits rates, fails or closes connections for a while is asked again.
    node.react(&[Reaction::Status(429), Reaction::Status(503), Reaction::Close]);
    node.open(target(), None).unwrap();
    assert_eq!(node.requests().len(), 6);
    node.react(&[Reaction::Status(403)]);
    assert!(matches!(node.open(target(), None), Err(ForkError::Status { status: 403, .. })));
    node.react(&[Reaction::Text("<html>")]);
    assert!(matches!(node.open(target(), None), Err(ForkError::NotJsonRpc { .. })));
}

#[test]
fn a_node_without_batches_gets_single_calls() {
    let node = ScriptedNode::start();
    node.react(&[Reaction::NoBatches]);
    let chain = node.open(ForkTarget::Number(2), None).unwrap();
    assert_eq!(chain.hash(), hash(2));
    assert!(node.requests().iter().skip(1).all(|methods| methods.len() == 1));
}

#[test]
fn other_chains_are_refused() {
    let with_id =
        |id: &'static str| ScriptedNode::scripted(move |method, _| (method == "eth_chainId").then(|| Ok(json!(id))));
    let opened = |id| with_id(id).open(ForkTarget::Latest, None).map(drop);
    assert!(matches!(opened("0x1"), Err(ForkError::NotRootstock { chain_id: 1 })));
    assert!(matches!(opened("0x1e"), Err(ForkError::Genesis { chain_id: 30, .. })));
    assert!(matches!(opened("0x"), Err(ForkError::Result { .. })));
}

#[test]
fn a_header_without_its_hash_is_refused() {
    for member in ["gasUsed", "miner", "stateRoot", "rskPteEdges", "minimumGasPrice"] {
        let node = ScriptedNode::scripted(move |method, params| {
            (method == "eth_getBlockByNumber" && params[0] != json!("0x0")).then(|| {
                let mut object = block_object(if params[0] == json!("0x1") { 1 } else { 2 });
                object[member] = match member {
                    "rskPteEdges" => json!([1]),
                    "miner" => json!(format!("0x{}", "11".repeat(20))),
                    "stateRoot" => json!(format!("0x{}", "11".repeat(32))),
                    _ => json!("0x1"),
                };
                Ok(object)
            })
        });
        let opened = node.open(ForkTarget::Number(2), None);
        assert!(matches!(opened, Err(ForkError::HeaderHash { number: 2, .. })), "{member}");
    }
    // The same for a block below.
    let node = ScriptedNode::scripted(|method, params| {
        (method == "eth_getBlockByNumber" && params[0] == json!("0x1")).then(|| {
            let mut object = block_object(1);
            object["timestamp"] = json!("0x1");
            Ok(object)
        })
    });
    let chain = node.open(ForkTarget::Number(2), None).unwrap();
    assert!(chain.ancestor(1).unwrap_err().to_string().contains("does not have the hash"));
}

#[test]
fn a_pruned_block_is_an_error() {
    let node =
        ScriptedNode::scripted(|method, _| (method == "eth_getBalance").then_some(Err((-32000, "missing trie node"))));
    let Err(ForkError::Refused { method, code, message }) = node.open(ForkTarget::Latest, None) else {
        panic!("opened")
    };
    assert_eq!((method.as_str(), code, message.as_str()), ("eth_getBalance", -32000, "missing trie node"));
}

#[test]
fn a_second_run_makes_no_request() {
    let dir = tempfile::tempdir().unwrap();
    let folder = CacheFolder::new(dir.path());
    let node = ScriptedNode::start();
    for target in [ForkTarget::Number(2), ForkTarget::Hash(hash(2))] {
        let first = node.open(target.clone(), Some(&folder)).unwrap();
        first.ancestor(1).unwrap().unwrap();
        drop(first);
        assert!(!node.requests().is_empty());
        let second = node.open(target, Some(&folder)).unwrap();
        assert_eq!((second.hash(), second.ancestor(1).unwrap().unwrap().hash), (hash(2), hash(1)));
        assert_eq!((second.requests(), node.requests().len()), (0, 0));
    }
    assert_eq!(folder.list().unwrap().len(), 1);
    // A damaged file is discarded.
    let file = folder
        .path()
        .join(fs::read_dir(folder.path()).unwrap().flatten().find(|entry| entry.path().is_file()).unwrap().file_name());
    let mut content = fs::read(&file).unwrap();
    content[100] ^= 1;
    fs::write(&file, content).unwrap();
    let third = node.open(ForkTarget::Number(2), Some(&folder)).unwrap();
    assert_eq!((third.hash(), third.notes().len()), (hash(2), 1));
    assert!(third.requests() > 0);
}

#[test]
fn a_chain_that_changes_is_an_error() {
    let has_changed = Arc::new(AtomicBool::new(false));
    let changed = Arc::clone(&has_changed);
    // A node that knows no hashes in state reads.
    let node = ScriptedNode::scripted(move |method, params| match method {
        "eth_getBlockByNumber" if changed.load(Ordering::Relaxed) && params[0] == json!("0x2") => {
            Some(Ok(block_object(1)))
        }
        "eth_getBalance" | "eth_getStorageAt" if params.as_array()?.last()?.is_object() => {
            Some(Err((-32602, "invalid argument 1")))
        }
        _ => None,
    });
    let chain = node.open(ForkTarget::Number(2), None).unwrap();
    let read = |slot: u8| {
        let key = rhizome_trie::keys::storage_key(&[1; 20], &B256::with_last_byte(slot));
        chain.state().get(&key)
    };
    assert_eq!(read(1).unwrap().unwrap().to_vec(), [7]);
    has_changed.store(true, Ordering::Relaxed);
    let text = |error: rhizome_trie::StateError| error.to_string();
    assert!(text(read(2).unwrap_err()).contains("its chain has changed"));
    // The first value is known.
    assert_eq!(read(1).unwrap().unwrap().to_vec(), [7]);
    has_changed.store(false, Ordering::Relaxed);
    assert_eq!(read(2).unwrap().unwrap().to_vec(), [7]);
}
