use std::fs;

use rhizome_chain::{Chain, ChainError, ImportOutcome};
use rhizome_primitives::ChainSpec;

use crate::{config, import, lines, spec, temporary};

#[test]
fn a_restart_keeps_the_head() {
    let dir = tempfile::tempdir().unwrap();
    let blocks = lines("uncles-and-reorgs.arrivals.txt.gz");
    let (first, second) = blocks.split_at(300);
    let open = || Chain::open(config(spec("uncles-and-reorgs"), Some(dir.path()))).unwrap();
    let chain = open();
    first.iter().for_each(|line| drop(import(&chain, line)));
    let head = chain.head().hash();
    drop(chain);
    let chain = open();
    assert_eq!(chain.head().hash(), head);
    assert!(matches!(import(&chain, &first[0]), ImportOutcome::Exists));
    second.iter().for_each(|line| drop(import(&chain, line)));
    let straight = temporary("uncles-and-reorgs");
    blocks.iter().for_each(|line| drop(import(&straight, line)));
    assert_eq!(chain.head().hash(), straight.head().hash());
}

#[test]
fn a_directory_of_another_chain_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    drop(Chain::open(config(ChainSpec::regtest(), Some(dir.path()))).unwrap());
    let error = Chain::open(config(ChainSpec::devnet(), Some(dir.path()))).err().unwrap();
    assert!(matches!(error, ChainError::Storage(_)), "{error}");
    assert!(error.to_string().contains("chain id 33"), "{error}");
}

#[test]
fn a_directory_in_use_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let chain = Chain::open(config(ChainSpec::regtest(), Some(dir.path()))).unwrap();
    let error = Chain::open(config(ChainSpec::regtest(), Some(dir.path()))).err().unwrap();
    assert!(error.to_string().contains("in use"), "{error}");
    drop(chain);
    Chain::open(config(ChainSpec::regtest(), Some(dir.path()))).unwrap();
}

#[test]
fn a_file_instead_of_a_directory_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("taken");
    fs::write(&file, b"").unwrap();
    let error = Chain::open(config(ChainSpec::regtest(), Some(&file))).err().unwrap();
    assert!(error.to_string().contains("taken"), "{error}");
}

#[test]
fn the_built_in_networks_open() {
    for network in ["mainnet", "testnet", "regtest", "devnet"] {
        let chain = Chain::open(config(ChainSpec::by_name(network).unwrap(), None)).unwrap();
        assert_eq!(chain.head().number(), 0, "{network}");
        assert_eq!(chain.main_hash(0).unwrap(), Some(chain.head().hash()), "{network}");
    }
}
