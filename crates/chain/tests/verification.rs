use std::ops::ControlFlow;
use std::path::Path;

use rhizome_chain::{Chain, ChainConfig, Verification, VerificationError};
use rhizome_primitives::{B256, Bytes, Receipt, U256};
use rhizome_storage::{BestChange, BlockWrite, Identity, Store, StoreOptions};
use rhizome_trie::{NodeRows, StateDelta};

use crate::{config, import, lines, spec};

const CHAIN: &str = "min-gas";
const FILE: &str = "min-gas.blocks.txt.gz";
const DAMAGED: u64 = 7;

fn open(dir: &Path) -> std::sync::Arc<Chain> {
    // Nodes go into files at once, so that a later one under the same hash replaces them.
    Chain::open(ChainConfig { write_buffer_bytes: 1, ..config(spec(CHAIN), Some(dir)) }).unwrap()
}

fn verify(chain: &Chain, from: u64, to: u64) -> Result<Verification, VerificationError> {
    chain.verify_range(from, to, |_| ControlFlow::Continue(()))
}

/// What is stored about a block, to be written again with changes.
struct Stored {
    total_difficulty: U256,
    state_root: B256,
    receipts: Vec<Receipt>,
    nodes: NodeRows,
    flat: Option<StateDelta>,
}

/// Imports the chain, changes what is stored about a block, and verifies. Returns field, expected and found value.
fn damaged(number: u64, change: impl FnOnce(&Chain, &mut Stored)) -> (u64, String, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE).iter().for_each(|line| drop(import(&chain, line)));
    let head = chain.head().number();
    assert_eq!(verify(&chain, 0, head).unwrap(), Verification { blocks: head + 1, difference: None });
    let record = chain.main_block(number).unwrap().unwrap();
    let genesis = chain.main_hash(0).unwrap().unwrap();
    let receipts = chain.receipts(&record.hash).unwrap().unwrap();
    let mut stored = Stored {
        total_difficulty: record.total_difficulty,
        state_root: record.state_root,
        receipts: receipts.to_vec(),
        nodes: NodeRows::default(),
        flat: None,
    };
    change(&chain, &mut stored);
    let identity = Identity { chain_id: chain.spec().chain_id, genesis };
    let hashes = receipts.transaction_hashes().to_vec();
    drop(chain);

    let store = Store::open(dir.path(), &identity, &StoreOptions::default()).unwrap();
    let encoded: Vec<Bytes> = stored.receipts.iter().map(|receipt| receipt.encode().into()).collect();
    let best = stored.flat.as_ref().map(|flat| BestChange { enacted: &[], retracted: &[], flat });
    store
        .write_block(BlockWrite {
            hash: record.hash,
            number,
            raw: &record.block.encode(),
            total_difficulty: stored.total_difficulty,
            state_root: stored.state_root,
            senders: record.senders(),
            transaction_hashes: &hashes,
            receipts: &stored.receipts,
            encoded_receipts: &encoded,
            nodes: stored.nodes,
            best,
        })
        .unwrap();
    drop(store);
    let chain = open(dir.path());
    let difference = verify(&chain, 1, head).unwrap().difference.unwrap();
    assert_eq!(Some(difference.hash), chain.main_hash(difference.number).unwrap());
    (difference.number, difference.field, difference.expected, difference.got)
}

#[test]
fn damage_is_found_and_named() {
    let found = damaged(DAMAGED, |_, stored| stored.total_difficulty += U256::ONE);
    assert_eq!((found.0, found.1.as_str()), (DAMAGED, "totalDifficulty"));
    assert_eq!(found.2.parse::<u64>().unwrap() + 1, found.3.parse::<u64>().unwrap());

    let found = damaged(DAMAGED, |_, stored| stored.receipts[0].gas_used += 1);
    assert_eq!((found.0, found.1.as_str()), (DAMAGED, "receipts[0].gasUsed"));

    let mut node = B256::ZERO;
    let found = damaged(DAMAGED, |_, stored| {
        node = stored.state_root;
        stored.nodes.push(&node, b"@changed");
    });
    assert_eq!((found.0, found.1), (DAMAGED, format!("stateNodes[{node}]")));
    assert_eq!(found.3, "0x406368616e676564");

    // Also the root that an earlier block left.
    let mut root = B256::ZERO;
    let found = damaged(DAMAGED, |chain, stored| {
        root = chain.main_block(DAMAGED - 1).unwrap().unwrap().state_root;
        stored.state_root = root;
    });
    assert_eq!((found.0, found.1.as_str(), found.3), (DAMAGED, "stateRoot", root.to_string()));
}

#[test]
fn a_changed_value_in_the_flat_state_is_found() {
    let mut key = Vec::new();
    let number = lines(FILE).len() as u64;
    let found = damaged(number, |chain, stored| {
        // The account of REMASC's sender changes in every block.
        key = rhizome_trie::keys::account_key(rhizome_trie::keys::REMASC_SENDER);
        assert_eq!(chain.head().number(), number);
        let writes = [(key.clone(), Some(Bytes::from_static(&[0xc0])))].into();
        stored.flat = Some(StateDelta { writes, ..StateDelta::default() });
    });
    assert_eq!((found.0, found.3.as_str()), (number, "0xc0"));
    assert!(found.1.starts_with("flatState["), "{}", found.1);
}

#[test]
fn ranges_off_the_chain_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE)[..3].iter().for_each(|line| drop(import(&chain, line)));
    for (from, to) in [(2, 1), (0, 4), (9, 9), (0, u64::MAX)] {
        let error = verify(&chain, from, to).unwrap_err();
        assert!(matches!(error, VerificationError::Range { head: 3, .. }), "{error}");
    }
    let stopped = chain.verify_range(1, 3, |_| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped, Verification { blocks: 1, difference: None });
}
