use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rhizome_chain::{Chain, ImportOutcome, InvalidBlock, PreparedBlock};
use rhizome_evm::State;
use rhizome_primitives::{Address, Bytes, ChainSpec, I256, Transaction, U256, UnsignedTransaction, keccak256};

use crate::{config, with_state};

const NOW: u64 = 1_700_000_000;
const RICH: Address = Address::repeat_byte(0x5e);

fn open(dir: Option<&Path>) -> Arc<Chain> {
    Chain::open(config(ChainSpec::regtest(), dir)).unwrap()
}

fn unsigned(nonce: u64) -> UnsignedTransaction {
    UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(1),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(7)),
        value: U256::from(5),
        data: Bytes::new(),
    }
}

fn give(chain: &Chain, wei: u64) {
    chain.change_state(move |state| state.set_balance(RICH, I256::try_from(wei).unwrap())).unwrap();
}

/// As every reader sees it at the head, and as the trie has it at a height.
fn balance_at(chain: &Chain, number: u64) -> I256 {
    let record = chain.main_block(number).unwrap().unwrap();
    let at_head = State::new(chain.state_at(&record).unwrap()).balance(RICH).unwrap();
    let in_trie = State::new(Arc::new(chain.state_trie(&record).unwrap())).balance(RICH).unwrap();
    assert_eq!(at_head, in_trie);
    at_head
}

fn wei(amount: u64) -> I256 {
    I256::try_from(amount).unwrap()
}

/// Verifies everything; returns how many blocks that were.
fn verified_blocks(chain: &Chain) -> u64 {
    let verification = chain.verify(with_state(0, chain.head().number()), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verification.difference, None);
    verification.blocks
}

#[test]
fn a_changed_state_survives_a_restart_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(Some(dir.path()));
    // Once at the genesis, then twice on block 1.
    give(&chain, 1_000_000);
    assert_eq!(balance_at(&chain, 0), wei(1_000_000));
    let genesis = chain.head().record.clone();
    assert_ne!(genesis.block.header.state_root.as_ref(), genesis.state_root.as_slice());
    let transfer = Transaction::impersonate(unsigned(0), 33, &RICH).unwrap();
    assert_eq!(chain.submit(transfer).unwrap().sender, RICH);
    let mined = chain.mine(NOW).unwrap();
    assert_eq!((mined.block.transactions.len(), mined.senders()[0]), (2, RICH));
    assert_eq!(mined.block.header.state_root.as_ref(), mined.state_root.as_slice(), "the header names the change");
    give(&chain, 7);
    give(&chain, 500_000);
    chain.submit(Transaction::sign(unsigned(0), 33, &keccak256("cow")).unwrap()).unwrap();
    let last = chain.mine(NOW).unwrap();
    assert_eq!(verified_blocks(&chain), 3);
    drop(chain);

    let chain = open(Some(dir.path()));
    assert_eq!(chain.head().hash(), last.hash);
    assert_eq!([0, 1, 2].map(|number| balance_at(&chain, number)), [1_000_000, 500_000, 500_000].map(wei));
    assert_eq!(verified_blocks(&chain), 3);
    assert_eq!(chain.mine(NOW).unwrap().number(), 3);

    // The changes go with their blocks, and a way back to a block finds its changed state.
    chain.rewind(1).unwrap();
    assert_eq!(balance_at(&chain, 1), wei(500_000));
    chain.rewind(0).unwrap();
    assert_eq!(balance_at(&chain, 0), wei(1_000_000));
    assert_eq!(chain.mine(NOW).unwrap().number(), 1);
    assert_eq!(verified_blocks(&chain), 2);
    chain.reset().unwrap();
    assert_eq!(balance_at(&chain, 0), I256::ZERO);
    assert_eq!(chain.original_state_root(&chain.head().hash()).unwrap(), None);
}

#[test]
fn snapshots_restore_the_state_of_their_block() {
    let chain = open(None);
    chain.mine(NOW).unwrap();
    let before = chain.snapshot().unwrap();
    give(&chain, 11);
    let between = chain.snapshot().unwrap();
    give(&chain, 22);
    chain.mine(NOW).unwrap();
    assert!(chain.revert(between).unwrap());
    assert_eq!((chain.head().number(), balance_at(&chain, 1)), (1, wei(11)));
    assert!(chain.revert(before).unwrap());
    assert_eq!(balance_at(&chain, 1), I256::ZERO);
    assert_eq!(chain.original_state_root(&chain.head().hash()).unwrap(), None);
    assert_eq!(verified_blocks(&chain), 2);
}

#[test]
fn other_nodes_reject_blocks_on_a_changed_state() {
    let chain = open(None);
    give(&chain, 11);
    let mined = chain.mine(NOW).unwrap();
    let raw = chain.raw_block(&mined.hash).unwrap().unwrap();
    let import = |other: &Chain| other.import_prepared(PreparedBlock::decode(&raw, other.spec()).unwrap()).unwrap();
    assert!(matches!(import(&open(None)), ImportOutcome::Invalid(InvalidBlock::StateRoot { .. })));
    let same = open(None);
    give(&same, 11);
    assert!(matches!(import(&same), ImportOutcome::ImportedBest), "the same change, the same state");
}

#[test]
fn waiting_transactions_follow_the_state() {
    let chain = open(None);
    let first = chain.submit(Transaction::sign(unsigned(1), 33, &keccak256("cow")).unwrap()).unwrap();
    assert!(!first.is_pending, "the nonce before it is missing");
    let sender = first.sender;
    chain.change_state(move |state| state.set_nonce(sender, U256::from(1))).unwrap();
    assert_eq!(chain.pool().next_nonce(&sender).unwrap(), 2);
    let pending = chain.pending_block(NOW).unwrap();
    assert_eq!(pending.block.transactions.len(), 2);
    // The pending block on the state before is outdated.
    chain.change_state(move |state| state.set_nonce(sender, U256::from(9))).unwrap();
    assert_eq!(chain.pending_block(NOW).unwrap().block.transactions.len(), 1);
    assert_eq!(chain.mine(NOW).unwrap().block.transactions.len(), 1);
}

#[test]
fn impersonated_transactions_come_back_after_a_reorganisation() {
    let ours = open(None);
    let theirs = open(None);
    give(&ours, 1_000_000);
    give(&theirs, 1_000_000);
    ours.submit(Transaction::impersonate(unsigned(0), 33, &RICH).unwrap()).unwrap();
    let lost = ours.mine(NOW).unwrap();
    assert_eq!(lost.block.transactions.len(), 2);
    for number in 1..=3 {
        let block = theirs.mine(NOW + 50).unwrap();
        assert_eq!(block.number(), number);
        ours.import_block(block.block.clone()).unwrap();
    }
    assert_eq!(ours.head().number(), 3);
    let again = ours.mine(NOW + 100).unwrap();
    assert_eq!(again.block.transactions[0].hash(), lost.block.transactions[0].hash());
    assert_eq!(again.senders()[0], RICH);
    assert_eq!(verified_blocks(&ours), 5);
}

#[test]
fn a_failed_reorganization_puts_blocks_state_snapshots_and_pool_back() {
    let chain = open(None);
    let mine = || chain.mine(NOW).unwrap().hash;
    let key = keccak256("cow");
    mine();
    chain.submit(Transaction::sign(unsigned(0), 33, &key).unwrap()).unwrap();
    mine();
    give(&chain, 77);
    mine();
    let head = chain.head().hash();
    let at_head = chain.snapshot().unwrap();
    let waiting = chain.submit(Transaction::sign(unsigned(1), 33, &key).unwrap()).unwrap().hash;
    chain.set_next_timestamp(NOW + 1000).unwrap();
    for failing in 0..2 {
        let refused = chain.reorganize(2, NOW, move |_chain, position| match position == failing {
            true => Err("refused".to_owned().into()),
            false => Ok(()),
        });
        assert_eq!(refused.map_err(|error: Box<dyn Error + Send + Sync>| error.to_string()), Err("refused".into()));
        assert_eq!((chain.head().hash(), balance_at(&chain, 2), balance_at(&chain, 3)), (head, wei(77), wei(77)));
        assert!(chain.pool().get(&waiting).is_some());
        assert_eq!(verified_blocks(&chain), 4);
    }
    assert_eq!(chain.mine(NOW).unwrap().block.header.timestamp, NOW + 1000);
    assert!(chain.pool().get(&waiting).is_none());
    assert!(chain.revert(at_head).unwrap());
    assert_eq!((chain.head().hash(), balance_at(&chain, 3)), (head, wei(77)));
}
