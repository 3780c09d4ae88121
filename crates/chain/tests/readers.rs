use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rhizome_chain::VerifiedPart;
use rhizome_primitives::U256;
use rhizome_trie::AccountState;
use rhizome_trie::keys::{REMASC_SENDER, account_key};

use crate::{import, lines, temporary, with_state};

/// The nonce of the sender of REMASC transactions is the number of the block, so a state identifies its block.
#[test]
fn a_head_shows_its_own_state_while_the_chain_moves_on() {
    let chain = temporary("uncles-and-reorgs");
    let is_over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (chain, is_over) = (Arc::clone(&chain), Arc::clone(&is_over));
            thread::spawn(move || {
                let key = account_key(REMASC_SENDER);
                let mut reads = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let head = chain.head();
                    let state = head.state();
                    for _ in 0..20 {
                        let nonce = state.get(&key).unwrap().map(|value| AccountState::decode(&value).unwrap().nonce);
                        assert_eq!(nonce.unwrap_or_default(), U256::from(head.number()));
                        reads += 1;
                    }
                }
                reads
            })
        })
        .collect();
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    is_over.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.join().unwrap() > 0);
    }
}

#[test]
fn old_blocks_keep_their_state() {
    let chain = temporary("uncles-and-reorgs");
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    let key = account_key(REMASC_SENDER);
    for number in (1..=chain.head().number()).step_by(13) {
        for entry in chain.blocks_at(number).unwrap() {
            let record = chain.block(&entry.hash).unwrap().unwrap();
            let value = chain.state_at(&record).unwrap().get(&key).unwrap().unwrap();
            assert_eq!(AccountState::decode(&value).unwrap().nonce, U256::from(number));
        }
    }
}

#[test]
fn stored_blocks_pass_all_checks_again() {
    let chain = temporary("uncles-and-reorgs");
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    let head = chain.head().number();
    let (mut blocks, mut keys) = (0, 0);
    let found = chain.verify(with_state(0, head), |part| {
        match part {
            VerifiedPart::Block(record) => {
                assert_eq!(record.number(), blocks);
                blocks += 1;
            }
            VerifiedPart::State { keys: now, .. } => keys = now,
        }
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!((found.blocks, found.difference), (head + 1, None));
    assert_eq!(blocks, head + 1);
    let state = chain.state_trie(&chain.head().record).unwrap();
    assert_eq!(found.keys, state.entries().count() as u64);
    assert!(keys <= found.keys);
}
