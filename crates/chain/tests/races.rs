//! Many threads on one chain: no order of their calls may fail or give contradictory results.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rhizome_bitcoin::coinbase::{synthetic, transaction_id};
use rhizome_bitcoin::merkle::root_of;
use rhizome_bitcoin::{BitcoinHeader, display};
use rhizome_chain::{
    BlockTime, Chain, ChainConfig, ChainError, ImportOutcome, MineError, MiningSolution, PoolOptions, PoolRejection,
    SubPool,
};
use rhizome_primitives::{
    Address, B256, Bytes, ChainSpec, I256, SignatureError, Transaction, U256, UnsignedTransaction, keccak256,
};

use crate::{config, with_state};

const NOW: u64 = 1_700_000_000;
const THREADS: u64 = 4;

fn open() -> Arc<Chain> {
    let pool = PoolOptions { has_rate_limiter: false, ..PoolOptions::default() };
    let chain = Chain::open(ChainConfig { pool, ..config(ChainSpec::regtest(), None) }).unwrap();
    chain.set_automine(true);
    chain
}

/// Why a transaction was not sent.
#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error(transparent)]
    Pool(#[from] PoolRejection),
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error(transparent)]
    Mine(Box<MineError>),
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl From<MineError> for SendError {
    fn from(error: MineError) -> Self {
        Self::Mine(Box::new(error))
    }
}

fn sender(name: &str) -> Address {
    transfer(name, 0).unwrap().recover_sender().unwrap()
}

fn transfer(name: &str, nonce: u64) -> Result<Transaction, SendError> {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(1),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(0x77)),
        value: U256::from(1),
        data: Bytes::new(),
    };
    Ok(Transaction::sign(unsigned, 33, &keccak256(name))?)
}

/// Sends with the next nonce. Waits for a block when the account has as many transactions as it may.
fn send(chain: &Chain, name: &str, from: &Address) -> B256 {
    loop {
        match chain.submit_next(from, |nonce| transfer(name, nonce)) {
            Ok(submitted) => {
                assert!(submitted.is_pending, "a gap before the next nonce");
                return submitted.hash;
            }
            Err(SendError::Pool(PoolRejection::NonceTooHigh)) => thread::yield_now(),
            Err(refused) => panic!("{refused}"),
        }
    }
}

/// Counts down when its thread ends, also by a panic.
struct CountDown<'a>(&'a AtomicU64);

impl Drop for CountDown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The next number of a sequence that a seed begins (xorshift).
fn next(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

#[test]
fn sends_at_once_beside_mining_use_each_nonce_once() {
    const SENDS: u64 = 100;
    let (chain, from) = (open(), sender("cow"));
    let open_senders = AtomicU64::new(THREADS);
    let hashes: HashSet<B256> = thread::scope(|scope| {
        scope.spawn(|| {
            while open_senders.load(Ordering::Relaxed) > 0 {
                chain.mine(NOW).unwrap();
            }
        });
        let send_all = || {
            let _end = CountDown(&open_senders);
            (0..SENDS).map(|_send| send(&chain, "cow", &from)).collect::<Vec<_>>()
        };
        let senders: Vec<_> = (0..THREADS).map(|_thread| scope.spawn(send_all)).collect();
        senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect()
    });
    chain.mine(NOW).unwrap();
    assert_eq!(hashes.len() as u64, THREADS * SENDS);
    assert_eq!(chain.pool().next_nonce(&from).unwrap(), THREADS * SENDS);
    assert!(hashes.iter().all(|hash| chain.transaction(hash).unwrap().is_some()), "all are mined");
    assert_eq!(chain.pool().count(SubPool::Pending) + chain.pool().count(SubPool::Queued), 0);
}

#[test]
fn a_chosen_time_is_that_of_the_block() {
    let chain = open();
    let time = AtomicU64::new(NOW + 1000);
    thread::scope(|scope| {
        for _thread in 0..THREADS {
            scope.spawn(|| {
                for _block in 0..20 {
                    let timestamp = time.fetch_add(1000, Ordering::Relaxed);
                    if let Ok(mined) = chain.mine_at(NOW, BlockTime::At(timestamp)) {
                        assert_eq!(mined.block.header.timestamp, timestamp);
                    }
                    let mined = chain.mine_at(NOW, BlockTime::After(7)).unwrap();
                    let parent = chain.block(&mined.parent().unwrap()).unwrap().unwrap();
                    assert_eq!(mined.block.header.timestamp, parent.block.header.timestamp + 7);
                }
            });
        }
    });
}

/// Solves the current work and submits the block.
fn submit_solution(chain: &Chain, extra: u32) {
    let Some(work) = chain.block_template(NOW).unwrap() else { return };
    let coinbase = synthetic(&work.hash.0, extra);
    let root = root_of(&[transaction_id(&coinbase)]);
    let mut headers = (0..).map(|nonce| BitcoinHeader::new(1, [0; 32], root, 5, 0, nonce));
    let header = headers.find(|header| U256::from_be_bytes(display(header.hash())) <= work.target).unwrap();
    let solution = MiningSolution::from_block(&[header.as_bytes().as_slice(), &[1], &coinbase].concat()).unwrap();
    match chain.submit_solution(&solution, NOW) {
        Ok(submitted) => assert!(!matches!(submitted.outcome, ImportOutcome::Invalid(_)), "{:?}", submitted.outcome),
        // The state below the work was changed meanwhile.
        Err(refused) => assert!(refused.to_string().contains("could not find hash"), "{refused}"),
    }
}

/// Moves the head once, or reads while it moves.
fn step(chain: &Arc<Chain>, names: &[(&str, Address)], random: &mut u64) {
    let (name, from) = &names[next(random, names.len() as u64) as usize];
    match next(random, 14) {
        0..3 => drop(chain.mine(NOW).unwrap()),
        3..5 => drop(chain.submit_next(from, |nonce| transfer(name, nonce))),
        5 => drop(chain.snapshot()),
        6 | 7 => drop(chain.revert(1 + next(random, 4)).unwrap()),
        8 => {
            let wei = I256::try_from(next(random, 1 << 40)).unwrap();
            chain.change_state(move |state| state.set_balance(Address::repeat_byte(9), wei)).unwrap();
        }
        9 => {
            let (from, nonce) = (*from, U256::from(next(random, 4)));
            chain.change_state(move |state| state.set_nonce(from, nonce)).unwrap();
        }
        10 => submit_solution(chain, next(random, 3) as u32),
        11 => {
            let draft = chain.pending_block(NOW).unwrap();
            assert_eq!(draft.block.header.number, draft.parent.number() + 1);
        }
        12 => {
            let (name, from) = (name.to_string(), *from);
            let sent =
                chain.submit_and_mine(NOW, 1, move |chain| chain.submit_next(&from, |nonce| transfer(&name, nonce)));
            match sent {
                Ok((sent, mined)) => {
                    let is_mined = mined.record.block.transactions.iter().any(|one| one.hash() == sent.hash);
                    assert!(is_mined, "sent alone, mined at once: {:?}", mined.skipped);
                }
                Err(SendError::Pool(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        _ if next(random, 4) == 0 => chain.reset().unwrap(),
        _ => chain.rewind(chain.head().number().saturating_sub(3)).unwrap(),
    }
}

#[test]
fn concurrent_moves_of_the_head_leave_a_valid_chain() {
    let seed = std::env::var("RHIZOME_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let steps = std::env::var("RHIZOME_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(150);
    println!("RHIZOME_SEED={seed} RHIZOME_STEPS={steps}");
    let chain = open();
    let names = ["cow", "cow1", "cow2"].map(|name| (name, sender(name)));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (chain, names) = (&chain, &names);
            scope.spawn(move || {
                let mut random = (seed * 1_000_003 + thread) | 1;
                (0..steps).for_each(|_step| step(chain, names, &mut random));
            });
        }
    });
    // A replaced state may have left a gap or an empty account. The pool must follow it.
    for pooled in chain.pool().pending() {
        assert!(pooled.nonce < chain.pool().next_nonce(&pooled.sender).unwrap());
    }
    chain.mine(NOW).unwrap();
    let verification = chain.verify(with_state(0, chain.head().number()), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verification.difference, None);
}
