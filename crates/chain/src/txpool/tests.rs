use super::*;
use crate::{Chain, ChainConfig, ChainEvent, DataDir, ImportOutcome, WaitReasons};
use rhizome_primitives::{BRIDGE, Bytes, UnsignedTransaction, keccak256};
use std::sync::atomic::AtomicU64;

const START: u64 = 1_700_000_000;
const PRICE: u64 = 1_000_000_000;

/// A regtest chain in a temporary folder with a clock that tests move.
struct PoolTest {
    chain: Arc<Chain>,
    time: Arc<AtomicU64>,
}

impl PoolTest {
    fn new() -> Self {
        Self::with(PoolOptions { has_rate_limiter: false, ..PoolOptions::default() })
    }

    fn with(pool: PoolOptions) -> Self {
        let time = Arc::new(AtomicU64::new(START));
        let shown = Arc::clone(&time);
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.clock = Clock::new(move || shown.load(Ordering::Relaxed));
        config.pool = pool;
        Self { chain: Chain::open(config).unwrap(), time }
    }

    fn pool(&self) -> &TransactionPool {
        self.chain.pool()
    }

    fn mine(&self) -> Arc<BlockRecord> {
        self.chain.mine(self.time.load(Ordering::Relaxed)).unwrap()
    }

    fn counts(&self) -> (usize, usize) {
        (self.pool().count(SubPool::Pending), self.pool().count(SubPool::Queued))
    }
}

fn key(name: &str) -> B256 {
    keccak256(name)
}

fn unsigned(nonce: u64, gas_price: u64) -> UnsignedTransaction {
    UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(gas_price),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(0x77)),
        value: U256::from(5),
        data: Bytes::new(),
    }
}

fn sign(name: &str, transaction: UnsignedTransaction) -> Transaction {
    Transaction::sign(transaction, 33, &key(name)).unwrap()
}

/// A transfer of five wei.
fn transfer(name: &str, nonce: u64, gas_price: u64) -> Transaction {
    sign(name, unsigned(nonce, gas_price))
}

fn refusal(world: &PoolTest, transaction: Transaction) -> String {
    world.pool().add(transaction).map_or_else(|rejection| rejection.to_string(), |admitted| format!("{admitted:?}"))
}

#[test]
fn a_filled_gap_promotes_queued_transactions() {
    let world = PoolTest::new();
    assert!(!world.chain.submit(transfer("cow", 2, PRICE)).unwrap().is_pending);
    assert!(!world.chain.submit(transfer("cow", 1, PRICE)).unwrap().is_pending);
    assert_eq!(world.counts(), (0, 2));
    assert_eq!(refusal(&world, transfer("cow", 1, PRICE)), "queued transaction with same hash already exists");
    let sender = transfer("cow", 0, PRICE).recover_sender().unwrap();
    assert_eq!(world.pool().next_nonce(&sender).unwrap(), 0);
    let admitted = world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    assert_eq!(admitted.now_pending.len(), 3);
    assert_eq!(world.counts(), (3, 0));
    assert_eq!(world.pool().next_nonce(&sender).unwrap(), 3);
    assert_eq!(refusal(&world, transfer("cow", 1, PRICE)), "pending transaction with same hash already exists");
}

#[test]
fn rules_have_the_texts_that_clients_know() {
    let world = PoolTest::new();
    // Sublists exist from block 1 on.
    world.mine();
    let cases: [(Transaction, &str); 9] = [
        (transfer("nobody", 0, PRICE), "the sender account doesn't exist"),
        (
            sign("cow", UnsignedTransaction { to: None, data: vec![0; 49_153].into(), ..unsigned(0, PRICE) }),
            "transaction's init code size is invalid",
        ),
        (
            sign("cow", UnsignedTransaction { data: vec![0; 131_072].into(), ..unsigned(0, PRICE) }),
            "transaction's size is higher than defined maximum: 131178 > 131072",
        ),
        (
            sign("cow", UnsignedTransaction { gas_limit: 10_000_000, ..unsigned(0, PRICE) }),
            "transaction's gas limit of 10000000 is higher than the block's gas limit of 6800001",
        ),
        (transfer("cow", 16, PRICE), "transaction nonce too high"),
        (
            sign("cow", UnsignedTransaction { gas_price: U256::from(1) << 110, ..unsigned(0, PRICE) }),
            "insufficient funds",
        ),
        (
            sign("cow", UnsignedTransaction { gas_limit: 20_999, ..unsigned(0, PRICE) }),
            "transaction's basic cost is above the gas limit",
        ),
        (
            sign("cow", UnsignedTransaction { value: U256::from(1) << 120, ..unsigned(0, PRICE) }),
            "insufficient funds to pay for pending and new transactions",
        ),
        (Transaction::sign(unsigned(0, PRICE), 30, &key("cow")).unwrap(), "the signature is not valid on this chain"),
    ];
    for (transaction, expected) in cases {
        assert_eq!(refusal(&world, transaction), expected);
    }
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    world.mine();
    assert_eq!(refusal(&world, transfer("cow", 0, 2 * PRICE)), "transaction nonce too low");
    assert_eq!(world.counts(), (0, 0));
}

#[test]
fn a_replacement_must_pay_more() {
    let world = PoolTest::new();
    let first = world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    let refused = refusal(&world, transfer("cow", 0, PRICE / 10 * 14 - 1));
    assert_eq!(refused, "gas price not enough to bump transaction");
    let second = world.pool().add(transfer("cow", 0, PRICE / 10 * 14)).unwrap();
    assert!(world.pool().get(&first.hash).is_none());
    assert!(world.pool().get(&second.hash).is_some());
    assert_eq!(world.counts(), (1, 0));
}

#[test]
fn the_best_price_goes_first_and_nonces_in_order() {
    let world = PoolTest::new();
    for (name, nonce, price) in [("cow", 0, PRICE), ("cow", 1, 9 * PRICE), ("cow1", 0, 3 * PRICE), ("cow2", 0, PRICE)] {
        world.pool().add(transfer(name, nonce, price)).unwrap();
    }
    let (mut order, _) = world.pool().by_price();
    let mut taken = Vec::new();
    while let Some(next) = order.take() {
        taken.push((next.sender, next.nonce));
    }
    let sender = |name: &str| transfer(name, 0, PRICE).recover_sender().unwrap();
    assert_eq!(taken, [(sender("cow1"), 0), (sender("cow"), 0), (sender("cow"), 1), (sender("cow2"), 0)]);
    let (mut order, _) = world.pool().by_price();
    let mut passed_over = 0;
    while order.take().is_some() {
        order.pass_over();
        passed_over += 1;
    }
    assert_eq!(passed_over, 3, "a follower does not come when the one before it was passed over");
}

#[test]
fn old_transactions_are_dropped() {
    let world = PoolTest::new();
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    world.pool().add(transfer("cow", 3, PRICE)).unwrap();
    world.time.fetch_add(649, Ordering::Relaxed);
    assert_eq!(world.counts(), (1, 1));
    world.time.fetch_add(1, Ordering::Relaxed);
    assert_eq!(world.counts(), (0, 0));
    world.pool().add(transfer("cow", 3, PRICE)).unwrap();
    (0..10).for_each(|_block| drop(world.mine()));
    assert_eq!(world.counts(), (0, 1));
    world.mine();
    assert_eq!(world.counts(), (0, 0));
}

#[test]
fn a_full_pool_keeps_the_highest_prices() {
    let options = PoolOptions { max_transactions: 2, has_rate_limiter: false, ..PoolOptions::default() };
    let world = PoolTest::with(options);
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    let cheap = world.pool().add(transfer("cow1", 0, PRICE / 2)).unwrap();
    assert_eq!(refusal(&world, transfer("cow2", 0, PRICE / 2)), "the transaction pool is full");
    assert_eq!(refusal(&world, transfer("cow2", 1, 9 * PRICE)), "the transaction pool is full", "queued");
    world.pool().add(transfer("cow2", 0, 2 * PRICE)).unwrap();
    assert!(world.pool().get(&cheap.hash).is_none());
    // The one before it is given up for it, so it has to wait.
    let admitted = world.pool().add(transfer("cow", 1, 3 * PRICE)).unwrap();
    assert!(!admitted.is_pending);
    assert_eq!(world.counts(), (1, 1));
}

#[test]
fn the_rate_limiter_slows_a_new_account_down() {
    let world = PoolTest::with(PoolOptions::default());
    let heavy = |nonce| UnsignedTransaction { gas_limit: 2_500_000, ..unsigned(nonce, PRICE) };
    world.pool().add(sign("cow", heavy(0))).unwrap();
    assert_eq!(refusal(&world, sign("cow", heavy(1))), "account exceeds quota");
    world.time.fetch_add(10, Ordering::Relaxed);
    world.pool().add(sign("cow", heavy(1))).unwrap();
    let receiver = world.pool().quota(&Address::repeat_byte(0x77)).unwrap();
    assert!(receiver.available_virtual_gas > 9_000_000.0);
}

#[test]
fn blocks_take_their_transactions_out() {
    let world = PoolTest::new();
    for nonce in [0, 1, 3] {
        world.pool().add(transfer("cow", nonce, PRICE)).unwrap();
    }
    let record = world.mine();
    assert_eq!(record.block.transactions.len(), 3);
    assert_eq!(world.counts(), (0, 1));
    // A block that was mined elsewhere fills the gap.
    let elsewhere = PoolTest::new();
    elsewhere.chain.import_block(record.block.clone()).unwrap();
    elsewhere.pool().add(transfer("cow", 2, 2 * PRICE)).unwrap();
    let next = elsewhere.mine();
    assert!(matches!(world.chain.import_block(next.block.clone()).unwrap(), ImportOutcome::ImportedBest));
    assert_eq!(world.counts(), (1, 0));
}

#[test]
fn a_reorganisation_brings_transactions_back() {
    let (world, other) = (PoolTest::new(), PoolTest::new());
    let (kept, lost) = (transfer("cow", 0, PRICE), transfer("cow1", 0, PRICE));
    world.pool().add(kept.clone()).unwrap();
    world.pool().add(lost.clone()).unwrap();
    world.mine();
    assert_eq!(world.counts(), (0, 0));
    // A longer branch that has only one of the two.
    other.pool().add(kept.clone()).unwrap();
    for _block in 0..2 {
        let record = other.mine();
        world.chain.import_block(record.block.clone()).unwrap();
    }
    assert_eq!(world.chain.head().hash(), other.chain.head().hash());
    assert!(world.pool().get(&kept.hash()).is_none());
    assert!(world.pool().get(&lost.hash()).is_some());
    let record = world.mine();
    assert_eq!(record.block.transactions.first().map(Transaction::hash), Some(lost.hash()));
}

#[test]
fn free_transactions_need_neither_account_nor_gas() {
    let world = PoolTest::new();
    // receiveHeaders without headers.
    let data = [&[0xe5, 0x40, 0x0e, 0x7b][..], &[0; 31], &[32], &[0; 32]].concat();
    let call = UnsignedTransaction { to: Some(BRIDGE), value: U256::ZERO, data: data.into(), ..unsigned(0, PRICE) };
    let spent = UnsignedTransaction { value: U256::from(1), ..call.clone() };
    assert_eq!(
        refusal(&world, sign("federator1", spent)),
        "insufficient funds to pay for pending and new transactions"
    );
    assert_eq!(refusal(&world, sign("nobody", call.clone())), "the sender account doesn't exist");
    let free = sign("federator1", UnsignedTransaction { gas_limit: 1, ..call });
    world.pool().add(free).unwrap();
    let block = world.mine();
    assert_eq!((block.block.transactions.len(), block.block.header.gas_used), (2, 0));
}

/// Calculated with the hash tables and the heap of the reference's platform; the same calculation gives the blocks of
/// recorded chains.
#[test]
fn equal_prices_go_as_in_the_reference() {
    let world = PoolTest::new();
    let sent = [("cow", 0), ("cow1", 0), ("cow2", 0), ("cow3", 0), ("cow4", 0), ("cow5", 0), ("cow6", 0), ("cow", 1)];
    let sent = sent.map(|(name, nonce)| {
        let transaction = transfer(name, nonce, PRICE);
        let hash = transaction.hash();
        world.pool().add(transaction).unwrap();
        hash
    });
    let place = |entry: Arc<PooledTransaction>| sent.iter().position(|hash| *hash == entry.hash).unwrap();
    let (mut order, _) = world.pool().by_price();
    assert_eq!(std::iter::from_fn(|| order.take()).map(place).collect::<Vec<_>>(), [1, 0, 2, 7, 5, 6, 3, 4]);
    assert_eq!(world.pool().pending_listed().into_iter().map(place).collect::<Vec<_>>(), [7, 4, 1, 6, 3, 5, 2, 0]);
}

#[test]
fn admitted_transactions_fit_into_the_next_block() {
    let world = PoolTest::new();
    for _block in 0..40 {
        let sender = transfer("cow", 0, PRICE).recover_sender().unwrap();
        let nonce = world.pool().next_nonce(&sender).unwrap();
        let most: u64 = world.pool().transaction_gas(&world.chain.head().record).limit.to();
        let heavy = |gas_limit| sign("cow", UnsignedTransaction { gas_limit, ..unsigned(nonce, PRICE) });
        let refused = refusal(&world, heavy(most + 1));
        assert!(refused.ends_with(&format!("is higher than the block's gas limit of {most}")), "{refused}");
        world.pool().add(heavy(most)).unwrap();
        assert_eq!(world.mine().block.transactions.len(), 2);
    }
}

/// A chain as the reference runs it, with a transaction at nonce 0 that no block has room for, and one behind it.
fn stuck() -> (PoolTest, Transaction) {
    let time = Arc::new(AtomicU64::new(START));
    let shown = Arc::clone(&time);
    let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
    config.clock = Clock::new(move || shown.load(Ordering::Relaxed));
    config.pool = PoolOptions { has_rate_limiter: false, fits_next_block: false, ..PoolOptions::default() };
    // The gas limit stays the same.
    config.target_gas_limit = 10_000_000;
    let world = PoolTest { chain: Chain::open(config).unwrap(), time };
    let heavy = sign("cow", UnsignedTransaction { gas_limit: 9_000_000, ..unsigned(0, PRICE) });
    world.pool().add(heavy.clone()).unwrap();
    world.pool().add(transfer("cow", 1, PRICE)).unwrap();
    (world, heavy)
}

#[test]
fn a_reason_for_waiting_is_reported_once() {
    let (world, heavy) = stuck();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    world.chain.on_event(Box::new(move |event| {
        if let ChainEvent::TransactionSkipped(left) = event {
            sink.lock().push(left.clone());
        }
    }));
    let pending = world.chain.pending_block(START).unwrap();
    let reasons = WaitReasons::new(&pending.block, &pending.skipped);
    let texts: Vec<String> = [0, 1]
        .map(|nonce| {
            let pooled = world.pool().pending().into_iter().find(|pooled| pooled.nonce == nonce).unwrap();
            reasons.of(&pooled.hash, &pooled.sender, pooled.nonce).unwrap().to_string()
        })
        .into();
    let own =
        "its gas limit of 9000000 is above 6800000, the most of one transaction in the next block (gas limit 10000000)";
    let behind = format!("the transaction with nonce 0 of the same sender is before it: {own}");
    assert_eq!(texts, [own.to_owned(), behind]);
    assert_eq!(world.mine().block.transactions.len(), 1);
    world.mine();
    let texts: Vec<(B256, String)> = reported.lock().iter().map(|left| (left.hash, left.reason.to_string())).collect();
    assert_eq!(texts, [(heavy.hash(), own.to_owned())]);
}

#[test]
fn a_stuck_transaction_frees_its_sender_when_replaced_dropped_or_outdated() {
    let is_free = |world: &PoolTest| {
        let mined = world.mine().block.transactions.len();
        assert_eq!((mined, world.counts()), (3, (0, 0)), "both, and REMASC");
    };
    let (world, _) = stuck();
    world.mine();
    world.pool().add(transfer("cow", 0, 2 * PRICE)).unwrap();
    is_free(&world);

    let (world, heavy) = stuck();
    world.pool().remove(&[heavy.hash()]);
    assert_eq!(world.counts(), (0, 1), "the one behind it waits for the gap to be filled");
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    is_free(&world);

    let (world, _) = stuck();
    (0..6).for_each(|_block| drop(world.mine()));
    world.pool().add(transfer("cow", 1, 2 * PRICE)).unwrap();
    (0..5).for_each(|_block| drop(world.mine()));
    assert_eq!(world.counts(), (0, 1));
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    is_free(&world);

    let (world, _) = stuck();
    world.time.fetch_add(650, Ordering::Relaxed);
    assert_eq!(world.counts(), (0, 0));
    world.pool().add(transfer("cow", 0, PRICE)).unwrap();
    world.pool().add(transfer("cow", 1, PRICE)).unwrap();
    is_free(&world);
}
