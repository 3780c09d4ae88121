//! The address index: the transactions of each address on the best chain, after any sequence of blocks, reorganizations, rewinds
//! and restarts with and without the index.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_chain::{AddressPage, AddressRange, AddressSearchError, BlockRecord, Chain, ChainConfig};
use rhizome_evm::{Deadline, execute_block_with_inner_accounts};
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, keccak256};

use crate::{config, import, lines, raw, spec};

const CHAIN: &str = "uncles-and-reorgs";
const ARRIVALS: &str = "uncles-and-reorgs.arrivals.txt.gz";

#[derive(Debug, Clone)]
enum Operation {
    /// Imports this number of blocks.
    Import(usize),
    /// Imports this number of blocks as one stream, in groups.
    Stream(usize),
    /// Opens the database again, with another index.
    Reopen(Index),
    /// Goes back by this number of blocks.
    Rewind(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Index {
    Off,
    Addresses,
    /// With inner calls.
    Calls,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1..60_usize).prop_map(Operation::Import),
        2 => (1..60_usize).prop_map(Operation::Stream),
        3 => prop_oneof![Just(Index::Off), Just(Index::Addresses), Just(Index::Calls)].prop_map(Operation::Reopen),
        1 => (0..24_u64).prop_map(Operation::Rewind),
    ]
}

fn open(dir: &Path, index: Index) -> Arc<Chain> {
    open_chain(CHAIN, dir, index)
}

fn open_chain(name: &str, dir: &Path, index: Index) -> Arc<Chain> {
    let (has_address_index, has_call_index) = (index != Index::Off, index == Index::Calls);
    let config = config(spec(name), Some(dir));
    Chain::open(ChainConfig { has_address_index, has_call_index, grouped_from: 1, ..config }).unwrap()
}

fn wait_until_complete(chain: &Chain) {
    let limit = Instant::now() + Duration::from_secs(60);
    let is_complete = || {
        let calls = chain.unindexed_calls().unwrap();
        chain.blocks_missing_in_address_index().unwrap() == Some(0) && calls.is_none_or(|calls| calls.missing == 0)
    };
    while !is_complete() {
        assert!(Instant::now() < limit, "the index is never complete");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Executes a block and returns the accounts of the inner calls of each transaction.
fn inner_accounts(chain: &Chain, record: &BlockRecord) -> Vec<Vec<Address>> {
    let parent = chain.block(&record.parent().unwrap()).unwrap().unwrap();
    let (state, ancestry) = (chain.state_at(&parent).unwrap(), chain.ancestry(&parent));
    let (spec, senders, deadline) = (chain.spec(), record.senders(), Deadline::none());
    let executed = execute_block_with_inner_accounts(spec, &record.block, senders, state, &ancestry, &deadline);
    executed.unwrap().inner_accounts.unwrap()
}

/// Returns block and index of the transactions of each address, highest first, from the blocks of the best chain.
fn expected(chain: &Chain) -> BTreeMap<Address, Vec<(u64, usize)>> {
    let transfer = keccak256("Transfer(address,address,uint256)");
    let mut expected: BTreeMap<Address, Vec<(u64, usize)>> = BTreeMap::new();
    for number in (1..=chain.head().number()).rev() {
        let record = chain.main_block(number).unwrap().unwrap();
        let receipts = chain.receipts(&record.hash).unwrap().unwrap();
        let has_calls = chain.unindexed_calls().unwrap().is_some();
        let inner = if has_calls { inner_accounts(chain, &record) } else { Vec::new() };
        for (index, transaction) in record.block.transactions.iter().enumerate().rev() {
            if record.block.is_remasc(index) {
                continue;
            }
            let (sender, receipt) = (record.senders()[index], &receipts[index]);
            let mut addresses = vec![sender];
            addresses.extend(transaction.to());
            if transaction.is_creation() && receipt.success {
                addresses.push(created_address(&sender, &transaction.nonce()));
            }
            for log in receipt.logs.iter().filter(|log| log.topics.first() == Some(&transfer)) {
                let holders = log.topics.iter().skip(1).take(2).map(|topic| Address::from_word(*topic));
                addresses.extend(holders.filter(|address| !address.is_zero()));
            }
            addresses.extend(inner.get(index).into_iter().flatten());
            addresses.sort_unstable();
            addresses.dedup();
            for address in addresses {
                expected.entry(address).or_default().push((number, index));
            }
        }
    }
    expected
}

fn positions(page: &AddressPage) -> Vec<(u64, usize)> {
    page.transactions.iter().map(|found| (found.record.number(), found.index)).collect()
}

/// Compares all transactions of all addresses, in pages of this number.
fn compare(chain: &Chain, count: usize) {
    wait_until_complete(chain);
    let expected = expected(chain);
    for (address, expected) in &expected {
        let (mut found, mut before) = (Vec::new(), u64::MAX);
        loop {
            let page = chain.address_transactions(address, AddressRange::Before(before), count).unwrap();
            found.extend(positions(&page));
            before = found.last().map_or(0, |(number, _)| *number);
            if !page.has_more {
                break;
            }
            assert!(page.transactions.len() >= count);
        }
        assert_eq!(&found, expected, "{address} downwards");
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = chain.address_transactions(address, AddressRange::After(after), count).unwrap();
            found.extend(positions(&page));
            after = found.last().map_or(u64::MAX, |(number, _)| *number);
            if !page.has_more {
                break;
            }
        }
        found.reverse();
        assert_eq!(&found, expected, "{address} upwards");
    }
    let unknown = chain.address_transactions(&Address::repeat_byte(0xaa), AddressRange::Before(u64::MAX), count);
    assert!(unknown.unwrap().transactions.is_empty());
}

#[test]
fn the_index_follows_the_best_chain() {
    let lines = lines(ARRIVALS);
    let cases = (prop::collection::vec(operation(), 4..14), 1..8_usize);
    let run = |(operations, count): (Vec<Operation>, usize)| {
        let dir = tempfile::tempdir().unwrap();
        let mut chain = open(dir.path(), Index::Calls);
        let (mut arrived, mut index) = (0, Index::Calls);
        for operation in operations {
            match operation {
                Operation::Import(count) => {
                    for line in lines.iter().skip(arrived).take(count) {
                        import(&chain, line);
                    }
                    arrived += count;
                }
                Operation::Stream(count) => {
                    let blocks: Vec<Vec<u8>> = lines.iter().skip(arrived).take(count).map(|line| raw(line)).collect();
                    // A block that is not next to the chain ends the stream; the others come one by one.
                    drop(chain.import_stream(blocks.into_iter(), |_| std::ops::ControlFlow::Continue(())));
                    for line in lines.iter().skip(arrived).take(count) {
                        import(&chain, line);
                    }
                    arrived += count;
                }
                Operation::Reopen(other) => {
                    drop(chain);
                    index = other;
                    chain = open(dir.path(), index);
                }
                Operation::Rewind(blocks) => {
                    let height = chain.head().number().saturating_sub(blocks);
                    chain.rewind(height).unwrap();
                    let known = |line: &String| {
                        let number = line.split(',').next().and_then(|number| number.parse::<u64>().ok());
                        number.is_some_and(|number| number <= height)
                    };
                    arrived = lines.iter().position(|line| !known(line)).unwrap_or(lines.len());
                }
            }
            if index != Index::Off {
                compare(&chain, count);
            }
        }
        drop(chain);
        compare(&open(dir.path(), Index::Calls), count);
        Ok(())
    };
    let config = ProptestConfig { cases: 8, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&cases, run).unwrap();
}

#[test]
fn a_stop_while_the_index_is_built_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path(), Index::Off);
    for line in lines(ARRIVALS) {
        import(&chain, &line);
    }
    let error = chain.address_transactions(&Address::ZERO, AddressRange::Before(u64::MAX), 25);
    assert!(matches!(error, Err(AddressSearchError::Off)));
    assert_eq!(chain.blocks_missing_in_address_index().unwrap(), None);
    drop(chain);
    for _ in 0..10 {
        // The thread stops before, during or after its steps.
        drop(open(dir.path(), Index::Calls));
    }
    let chain = open(dir.path(), Index::Calls);
    assert!(!expected(&chain).is_empty());
    compare(&chain, 25);
}

#[test]
fn inner_calls_of_stored_and_of_new_blocks_are_indexed() {
    const CHAIN: &str = "regtest-basic";
    let dir = tempfile::tempdir().unwrap();
    let lines = lines("regtest-basic.blocks.txt.gz");
    let (stored, new) = lines.split_at(lines.len() / 2);
    let chain = open_chain(CHAIN, dir.path(), Index::Addresses);
    stored.iter().for_each(|line| drop(import(&chain, line)));
    drop(chain);
    let chain = open_chain(CHAIN, dir.path(), Index::Calls);
    compare(&chain, 25);
    new.iter().for_each(|line| drop(import(&chain, line)));
    compare(&chain, 25);
    let inner = |number| inner_accounts(&chain, &chain.main_block(number).unwrap().unwrap());
    assert!((1..=chain.head().number()).any(|number| inner(number).iter().any(|accounts| !accounts.is_empty())));
    chain.rewind(chain.head().number() - 20).unwrap();
    compare(&chain, 25);
}
