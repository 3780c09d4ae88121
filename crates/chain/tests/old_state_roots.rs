//! State roots of blocks before RSKIP-126, in the format before RSKIP-107.
//!
//! The golden chains come from a node that does not compare these roots. Most of their old roots use the current account encoding,
//! with signed numbers; historical roots use unsigned numbers. Some are roots in the current format, some are arbitrary.

use std::fs::File;
use std::sync::Arc;

use flate2::read::GzDecoder;
use rhizome_chain::{Chain, ChainConfig, ImportOutcome, InvalidBlock, OldStateRoots};
use rhizome_pow::solve;
use rhizome_primitives::{B256, Block, ChainSpec, EMPTY_CODE_HASH, hex, keccak256, rlp};
use rhizome_trie::keys::{KeyPart, StateKey};
use rhizome_trie::{AccountState, MemoryNodes, Trie, orchid_state_root};

use crate::{config, import, lines, spec, vectors_folder};

const NAME: &str = "testnet-rules";
/// RSKIP-85 and RSKIP-126 activate here.
const RSKIP85: u64 = 24;
const RSKIP126: u64 = 56;

fn open(old_state_roots: OldStateRoots) -> Arc<Chain> {
    Chain::open(ChainConfig { old_state_roots, ..config(spec(NAME), None) }).unwrap()
}

fn header_root(chain: &Chain) -> String {
    hex::encode_prefixed(&chain.head().record.block.header.state_root)
}

fn state(chain: &Chain) -> Trie {
    chain.state_trie(&chain.head().record).unwrap()
}

fn empty() -> Trie {
    Trie::empty(Arc::new(MemoryNodes::default()))
}

/// The old root, built in another way than the product does, with numbers as `numbers` writes them.
fn rebuilt(state: &Trie, numbers: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let mut accounts = Vec::new();
    for entry in state.entries() {
        let (key, value) = entry.unwrap();
        let StateKey { address, part } = StateKey::parse(&key).unwrap();
        match part {
            KeyPart::Account => accounts.push((keccak256(address), numbers(&value), empty(), EMPTY_CODE_HASH)),
            KeyPart::Slot(slot) => accounts.last_mut().unwrap().2.put(keccak256(slot).as_slice(), &value).unwrap(),
            KeyPart::Code => accounts.last_mut().unwrap().3 = keccak256(&value),
            KeyPart::Mark => {}
        }
    }
    let mut all = empty();
    for (key, mut elements, cells, code_hash) in accounts {
        rlp::put_bytes(&mut elements, cells.orchid_root(true).unwrap().as_slice());
        rlp::put_bytes(&mut elements, code_hash.as_slice());
        all.put(key.as_slice(), &rlp::list(&elements)).unwrap();
    }
    all.orchid_root(true).unwrap().to_string()
}

fn without_sign(account: &[u8]) -> Vec<u8> {
    let account = AccountState::decode(account).unwrap();
    let mut numbers = Vec::new();
    rlp::put_value(&mut numbers, &account.nonce);
    rlp::put_value(&mut numbers, &account.balance.into_raw());
    numbers
}

/// As they are stored today: a short list of nothing else.
fn with_sign(account: &[u8]) -> Vec<u8> {
    account[1..].to_vec()
}

#[test]
fn roots_follow_from_the_states_of_the_recording() {
    let file = File::open(vectors_folder().join("chains").join(format!("{NAME}.json.gz"))).unwrap();
    let golden: serde_json::Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    let chain = open(OldStateRoots::Unchecked);
    assert_eq!(header_root(&chain), orchid_state_root(&state(&chain)).unwrap().to_string(), "genesis");
    let mut reproduced = 0;
    for (line, block) in lines("testnet-rules.blocks.txt.gz").iter().zip(golden["blocks"].as_array().unwrap()) {
        if block["number"].as_u64() == Some(RSKIP126) {
            break;
        }
        assert!(matches!(import(&chain, line), ImportOutcome::ImportedBest));
        let state = state(&chain);
        assert_eq!(rebuilt(&state, without_sign), orchid_state_root(&state).unwrap().to_string());
        let is_old = block["stateRootKind"] == "orchid";
        assert_eq!(rebuilt(&state, with_sign) == header_root(&chain), is_old, "{}", block["number"]);
        reproduced += u64::from(is_old);
    }
    assert_eq!(reproduced, 47);
}

/// A chain of blocks whose roots are as history has them.
fn mined(count: u64) -> Vec<Block> {
    let chain = open(OldStateRoots::Checked);
    let now = chain.config().clock.now();
    let blocks: Vec<_> = (0..count).map(|_| chain.mine(now).unwrap().block.clone()).collect();
    assert_eq!(header_root(&chain), orchid_state_root(&state(&chain)).unwrap().to_string());
    blocks
}

fn tampered(block: &Block, chain: &Chain) -> Block {
    let mut block = block.clone();
    block.header.state_root = B256::repeat_byte(0x5a).into();
    solve(&mut block.header, None, chain.spec(), u32::MAX).unwrap();
    block
}

fn is_good(chain: &Chain, block: &Block) -> bool {
    matches!(chain.import_block(block.clone()).unwrap(), ImportOutcome::ImportedBest)
}

fn assert_refused(chain: &Chain, block: Block) {
    let head = chain.head().hash();
    match chain.import_block(block).unwrap() {
        ImportOutcome::Invalid(invalid @ InvalidBlock::OldStateRoot { .. }) => {
            let message = invalid.to_string();
            assert!(message.contains("in the format before RSKIP-126"), "{message}");
            assert!(message.contains(&"5a".repeat(32)), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(chain.head().hash(), head);
}

#[test]
fn a_tampered_root_is_rejected_if_roots_are_checked() {
    let blocks = mined(2);
    let checked = open(OldStateRoots::Checked);
    assert!(is_good(&checked, &blocks[0]));
    assert_refused(&checked, tampered(&blocks[1], &checked));
    assert!(is_good(&checked, &blocks[1]));
    let unchecked = open(OldStateRoots::Unchecked);
    assert!(is_good(&unchecked, &blocks[0]));
    assert!(is_good(&unchecked, &tampered(&blocks[1], &unchecked)));
}

#[test]
fn roots_are_checked_from_rskip_85_on_when_asked_for() {
    let blocks = mined(RSKIP85);
    let chain = open(OldStateRoots::SinceRskip85);
    let (last, below) = blocks.split_last().unwrap();
    let before = below.len() - 1;
    assert!(below[..before].iter().all(|block| is_good(&chain, block)));
    assert!(is_good(&chain, &tampered(&below[before], &chain)));
    // The chain of the right block 23 becomes the longer one.
    assert!(!is_good(&chain, &below[before]));
    assert_refused(&chain, tampered(last, &chain));
    assert!(is_good(&chain, last));
}

#[test]
fn known_roots_are_compared_with_the_state() {
    let blocks = mined(2);
    let chain = open(OldStateRoots::Unchecked);
    assert!(is_good(&chain, &blocks[0]));
    let right = chain.head().record.state_root;
    let with_roots = |roots: &[(u64, B256)]| {
        let mut spec = spec(NAME);
        spec.state_roots = roots.to_vec();
        Chain::open(config(spec, None)).unwrap()
    };
    let right_chain = with_roots(&[(1, right)]);
    assert!(is_good(&right_chain, &blocks[0]) && is_good(&right_chain, &blocks[1]));
    let wrong_chain = with_roots(&[(1, right), (2, right)]);
    assert!(is_good(&wrong_chain, &blocks[0]));
    match wrong_chain.import_block(blocks[1].clone()).unwrap() {
        ImportOutcome::Invalid(InvalidBlock::KnownStateRoot { expected, computed }) => {
            assert!(expected == right && computed != right);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_compared_root_follows_from_the_rules() {
    let spec = spec(NAME);
    assert_eq!(OldStateRoots::Unchecked.compared_from(&spec), RSKIP126);
    assert_eq!(OldStateRoots::SinceRskip85.compared_from(&spec), RSKIP85);
    assert_eq!(OldStateRoots::Checked.compared_from(&spec), 0);
    assert_eq!(OldStateRoots::Unchecked.compared_from(&ChainSpec::mainnet()), 1_591_000);
}
