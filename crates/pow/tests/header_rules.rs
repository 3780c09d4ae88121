//! `rules.json`: boundaries of the header rules and the choice between two tips.

use crate::{chains, vectors};
use rhizome_bitcoin::BitcoinHeader;
use rhizome_pow::header_rules::{
    gas_limit_range, gas_price_is_below_cap, gas_used_fits, minimum_gas_price_range, timestamp,
};
use rhizome_pow::sublists::edges_are_valid;
use rhizome_pow::{Tip, is_better};
use rhizome_primitives::{B256, Bytes, ChainSpec, Header, I256, SublistGasLimits, U256};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tables {
    cases: Vec<BestBlock>,
    gas_limit: Vec<(u64, u64, bool)>,
    min_gas_price: Vec<(i64, i64, bool)>,
    gas_price_cap: Vec<(u64, u64, bool)>,
    sublist_gas_limits: Vec<(u64, u64, u64, u64)>,
    edges: Vec<(usize, Vec<i16>, bool)>,
    timestamp: Vec<(String, u64, i64, i64, bool)>,
    gas_used: Vec<(String, u64, bool)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BestBlock {
    current_total_difficulty: String,
    new_total_difficulty: String,
    current_fees: u64,
    new_fees: u64,
    current_hash: String,
    new_hash: String,
    new_is_best: bool,
}

fn tables() -> Tables {
    vectors::read("rules")
}

/// Two headers with the fields that `set` writes from `before` and `after`.
fn pair<T>(before: T, after: T, set: impl Fn(&mut Header, T)) -> (Header, Header) {
    let spec = ChainSpec::mainnet();
    let (mut parent, mut child) = (Header::new(10, &spec), Header::new(11, &spec));
    set(&mut parent, before);
    set(&mut child, after);
    (parent, child)
}

#[test]
fn better_tip() {
    let cases = tables().cases;
    assert_eq!(cases.len(), 60);
    for case in cases {
        let tip = |difficulty: &str, fees, hash: &str| Tip {
            total_difficulty: difficulty.parse().unwrap(),
            paid_fees: U256::from(fees),
            hash: B256::from_slice(&hex::decode(hash).unwrap()),
        };
        let current = tip(&case.current_total_difficulty, case.current_fees, &case.current_hash);
        let new = tip(&case.new_total_difficulty, case.new_fees, &case.new_hash);
        assert_eq!(is_better(&new, &current), case.new_is_best, "{new:?} against {current:?}");
    }
}

#[test]
fn gas_limit_steps() {
    for (before, after, valid) in tables().gas_limit {
        let (parent, child) = pair(before, after, |header, limit: u64| {
            header.gas_limit = Bytes::copy_from_slice(&limit.to_be_bytes());
        });
        assert_eq!(gas_limit_range(&child, &parent, &ChainSpec::mainnet()).is_ok(), valid, "{before} -> {after}");
    }
}

#[test]
fn minimum_gas_price_steps() {
    for (before, after, valid) in tables().min_gas_price {
        let (parent, child) = pair(before, after, |header, price: i64| {
            header.minimum_gas_price = Some(I256::try_from(price).unwrap());
        });
        assert_eq!(minimum_gas_price_range(&child, &parent).is_ok(), valid, "{before} -> {after}");
    }
}

#[test]
fn gas_price_cap() {
    for (minimum, price, valid) in tables().gas_price_cap {
        assert_eq!(gas_price_is_below_cap(U256::from(minimum), U256::from(price)), valid, "{price} over {minimum}");
    }
}

#[test]
fn gas_of_sublists() {
    for (minimum, limit, parallel, sequential) in tables().sublist_gas_limits {
        let found = SublistGasLimits::divide(minimum, 2, U256::from(limit));
        assert_eq!((found.parallel, found.sequential), (U256::from(parallel), U256::from(sequential)), "{limit}");
    }
}

#[test]
fn sublist_edges() {
    for (transactions, edges, valid) in tables().edges {
        assert_eq!(edges_are_valid(&edges, 2, transactions), valid, "{edges:?} of {transactions}");
    }
}

#[test]
fn timestamps() {
    const NOW: u64 = 1_700_000_000;
    for (net, number, block_offset, bitcoin_offset, valid) in tables().timestamp {
        let spec = chains::spec(&net);
        let mut header = Header::new(number, &spec);
        header.timestamp = NOW.saturating_add_signed(block_offset);
        let time = u32::try_from(NOW.saturating_add_signed(bitcoin_offset)).unwrap();
        let bitcoin = BitcoinHeader::new(1, [0; 32], [0; 32], time, 0, 0);
        header.bitcoin_header = Some(Bytes::copy_from_slice(bitcoin.as_bytes()));
        let found = timestamp(&header, &spec, NOW);
        assert_eq!(found.is_ok(), valid, "{net} {number}: {block_offset}, {bitcoin_offset}: {found:?}");
    }
}

#[test]
fn gas_used_of_uncles() {
    for (limit, used, valid) in tables().gas_used {
        assert_eq!(gas_used_fits(&hex::decode(&limit).unwrap(), used), valid, "{used} of {limit}");
    }
}
