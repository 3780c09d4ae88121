use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhizome_chain::{Chain, LogFilter, LogPosition, LogSearchError};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Log};

use crate::{import, lines, temporary};

/// All logs of the best chain, from the receipts alone.
fn all_logs(chain: &Chain) -> Vec<(Log, LogPosition)> {
    let mut found = Vec::new();
    for number in 0..=chain.head().number() {
        let record = chain.main_block(number).unwrap().unwrap();
        let receipts = chain.receipts(&record.hash).unwrap().unwrap();
        for (transaction_index, receipt) in receipts.iter().enumerate() {
            for (offset, log) in receipt.logs.iter().enumerate() {
                let position = LogPosition {
                    block_number: number,
                    block_hash: record.hash,
                    transaction_hash: record.block.transactions[transaction_index].hash(),
                    transaction_index: transaction_index as u64,
                    log_index: (receipts.logs_before(transaction_index) + offset) as u64,
                };
                found.push((log.clone(), position));
            }
        }
    }
    found
}

/// Returns the first logs that match, at most `limit`.
fn search_first(
    chain: &Chain,
    filter: &LogFilter,
    range: (u64, u64),
    most: usize,
    deadline: &Deadline,
) -> Result<Vec<(Log, LogPosition)>, LogSearchError> {
    let mut logs = Vec::new();
    chain.visit_logs(filter, range.0, range.1, deadline, &mut |found| {
        if logs.len() == most {
            return ControlFlow::Break(());
        }
        logs.push((found.log.into(), found.position));
        ControlFlow::Continue(())
    })?;
    Ok(logs)
}

fn search(chain: &Chain, filter: &LogFilter, from: u64, to: u64) -> Vec<(Log, LogPosition)> {
    search_first(chain, filter, (from, to), usize::MAX, &Deadline::none()).unwrap()
}

#[test]
fn a_search_finds_the_logs_of_the_receipts() {
    // After this chain's reorganisations the index also names blocks that are off the best chain.
    let chain = temporary("uncles-and-reorgs");
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    let head = chain.head().number();
    let logs = all_logs(&chain);
    assert!(logs.len() > 300, "{}", logs.len());
    assert_eq!(search(&chain, &LogFilter::default(), 0, u64::MAX), logs);
    let addresses: BTreeSet<Address> = logs.iter().map(|(log, _)| log.address).collect();
    let topics: BTreeSet<B256> = logs.iter().flat_map(|(log, _)| log.topics.clone()).collect();
    let mut filters = vec![LogFilter { addresses: vec![Address::ZERO], topics: vec![] }];
    filters.extend(addresses.iter().map(|address| LogFilter { addresses: vec![*address], topics: vec![] }));
    for topic in topics.iter().step_by(7) {
        for position in 0..4 {
            let mut wanted = vec![None; position];
            wanted.push(Some(vec![*topic]));
            filters.push(LogFilter { addresses: vec![], topics: wanted.clone() });
            filters.push(LogFilter { addresses: addresses.iter().copied().take(2).collect(), topics: wanted });
        }
    }
    filters.push(LogFilter {
        addresses: vec![],
        topics: vec![Some(topics.iter().copied().collect()), None, Some(vec![])],
    });
    for (filter, (from, to)) in filters.iter().zip([(0, head), (head / 3, head / 2), (17, 17)].into_iter().cycle()) {
        let wanted = |(log, position): &&(Log, LogPosition)| {
            (from..=to).contains(&position.block_number) && filter.matches(&log.into())
        };
        let expected: Vec<_> = logs.iter().filter(wanted).cloned().collect();
        assert_eq!(search(&chain, filter, from, to), expected, "{filter:?} {from} {to}");
    }
}

#[test]
fn a_search_ends_when_the_visitor_breaks() {
    let chain = temporary("uncles-and-reorgs");
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    let filter = LogFilter::default();
    let range = (0, chain.head().number());
    let logs = search(&chain, &filter, range.0, range.1);
    assert_eq!(search_first(&chain, &filter, range, 100, &Deadline::none()).unwrap(), logs[..100]);
    let cancelled = Deadline::none().or_when(Arc::new(AtomicBool::new(true)));
    let stopped = search_first(&chain, &filter, range, usize::MAX, &cancelled);
    assert!(matches!(stopped, Err(LogSearchError::DeadlineExceeded)));
    assert!(search(&chain, &filter, range.1 + 1, u64::MAX).is_empty());
}

#[test]
fn a_block_off_the_best_chain_can_be_searched() {
    let chain = temporary("uncles-and-reorgs");
    lines("uncles-and-reorgs.arrivals.txt.gz").iter().for_each(|line| drop(import(&chain, line)));
    let sides = (0..=chain.head().number()).flat_map(|number| chain.blocks_at(number).unwrap());
    let mut with_logs = 0;
    for side in sides.filter(|entry| !entry.is_main) {
        let receipts = chain.receipts(&side.hash).unwrap().unwrap();
        let expected: usize = receipts.iter().map(|receipt| receipt.logs.len()).sum();
        let logs = chain.logs_in_block(&side.hash).unwrap().unwrap();
        assert_eq!(logs.matching(&LogFilter::default()).len(), expected);
        with_logs += usize::from(expected > 0);
    }
    assert!(with_logs > 10, "{with_logs}");
    assert!(chain.logs_in_block(&B256::ZERO).unwrap().is_none());
}
