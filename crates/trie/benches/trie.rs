//! Speed of the trie on a state of plain accounts and storage slots: `cargo bench -p rhizome-trie --profile release`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use rhizome_primitives::{B256, Bytes, I256, U256, keccak256};
use rhizome_trie::keys::{account_key, storage_key_of};
use rhizome_trie::{AccountState, MemoryNodes, StateDelta, Trie, TrieError, diff, list_root};

const ACCOUNTS: u64 = 200_000;
const BLOCKS: u64 = 200;
const CHANGES: u64 = 500;

fn main() -> Result<(), TrieError> {
    let nodes = Arc::new(MemoryNodes::default());
    let mut trie = Trie::empty(nodes.clone());
    let all: Vec<u64> = (0..ACCOUNTS).collect();
    let delta = accounts(&all, 1);
    measure("accounts built in one batch", ACCOUNTS, || trie.apply(&delta))?;
    let committed = measure("accounts hashed and committed", ACCOUNTS, || Ok(trie.commit()))?;
    nodes.insert(committed);
    let root = trie.root_hash();

    let blocks: Vec<StateDelta> = (0..BLOCKS).map(block).collect();
    let mut roots = Vec::new();
    measure("commits of 500 changes, state in memory", BLOCKS, || {
        for block in &blocks {
            trie.apply(block)?;
            nodes.insert(trie.commit());
            roots.push(trie.root_hash());
        }
        Ok(())
    })?;
    measure("commits of 500 changes, each opened from its root", BLOCKS, || {
        let mut root = root;
        for block in &blocks {
            let mut trie = Trie::open(root, nodes.clone());
            trie.apply(block)?;
            nodes.insert(trie.commit());
            root = trie.root_hash();
        }
        Ok(())
    })?;

    let keys: Vec<_> = (0..ACCOUNTS).map(|n| account_key(&address(n * 7 % ACCOUNTS))).collect();
    measure("reads, in memory", ACCOUNTS, || keys.iter().try_for_each(|key| trie.get(key).map(drop)))?;
    let cold = Trie::open(root, nodes.clone());
    measure("reads, first use of each node", ACCOUNTS, || keys.iter().try_for_each(|key| cold.get(key).map(drop)))?;
    measure("reads, whole way from the source", 20_000, || {
        keys.iter().take(20_000).try_for_each(|key| Trie::open(root, nodes.clone()).get(key).map(drop))
    })?;

    let mut single = Trie::open(root, nodes.clone());
    let key = |n: u64| account_key(&address(n));
    measure("writes one by one", 100_000, || (0..100_000).try_for_each(|n| single.put(&key(n), &[1, 2, 3])))?;
    let (first, last) = (Trie::open(root, nodes.clone()), Trie::open(trie.root_hash(), nodes.clone()));
    let mut found = 0;
    measure("differences found between two roots", BLOCKS * CHANGES, || {
        found = diff(&first, &last)?.writes.len();
        Ok(())
    })?;
    measure("entries listed", ACCOUNTS, || first.entries().try_for_each(|entry| entry.map(drop)))?;

    let items: Vec<Bytes> = (0..300u64).map(|n| keccak256(n.to_be_bytes()).repeat(4).into()).collect();
    measure("roots of lists of 300 items", 200, || {
        (0..200).try_for_each(|_| list_root(items.iter().map(AsRef::as_ref), false).map(black_box).map(drop))
    })?;
    assert!(found > 0 && roots.len() as u64 == BLOCKS, "nothing was measured");
    Ok(())
}

fn measure<T>(name: &str, count: u64, run: impl FnOnce() -> Result<T, TrieError>) -> Result<T, TrieError> {
    let start = Instant::now();
    let result = run()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {:.0} /s", count as f64 / seconds);
    Ok(result)
}

fn address(n: u64) -> [u8; 20] {
    let mut address = [0; 20];
    address.copy_from_slice(&keccak256(n.to_be_bytes())[12..]);
    address
}

fn account(balance: u64, nonce: u64) -> Bytes {
    let balance = I256::try_from(U256::from(balance) * U256::from(1_000_000_007_000_000_000u64)).unwrap_or_default();
    AccountState { nonce: U256::from(nonce), balance, flags: 0 }.encode()
}

fn accounts(numbers: &[u64], nonce: u64) -> StateDelta {
    let writes = numbers.iter().map(|n| (account_key(&address(*n)), Some(account(*n + nonce, nonce)))).collect();
    StateDelta { writes, ..StateDelta::default() }
}

/// Three fifths accounts, the rest storage slots of few contracts.
fn block(number: u64) -> StateDelta {
    let changed: Vec<u64> = (0..CHANGES * 3 / 5).map(|n| (number * 7919 + n * 104_729) % ACCOUNTS).collect();
    let mut delta = accounts(&changed, number + 2);
    for n in 0..CHANGES * 2 / 5 {
        let contract = account_key(&address(n % 4));
        let slot = B256::from(keccak256((number * 31 + n).to_be_bytes()));
        delta.writes.insert(storage_key_of(&contract, &slot), Some(Bytes::copy_from_slice(&slot[..20])));
    }
    delta
}
