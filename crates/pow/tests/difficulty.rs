//! `difficulty.json`, `difficulty_mainnet.json`.

use crate::{chains, vectors};
use rhizome_pow::difficulty;
use rhizome_primitives::{ChainSpec, U256};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases<T> {
    cases: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    label: String,
    net: String,
    number: u64,
    parent_difficulty: String,
    parent_timestamp: u64,
    timestamp: u64,
    uncle_count: u32,
    expected: String,
}

#[test]
fn all_networks_and_regimes() {
    let file: Cases<Case> = vectors::read("difficulty");
    assert_eq!(file.cases.len(), 401);
    for case in file.cases {
        let found = difficulty(
            &chains::spec(&case.net),
            case.number,
            case.timestamp,
            case.uncle_count,
            case.parent_timestamp,
            case.parent_difficulty.parse().unwrap(),
        );
        assert_eq!(found.to_string(), case.expected, "{} {} {}", case.net, case.number, case.label);
    }
}

#[test]
fn real_mainnet_blocks_follow_from_each_other() {
    let file: Cases<(u64, u64, u32, String)> = vectors::read("difficulty_mainnet");
    assert_eq!(file.cases.len(), 776);
    let spec = ChainSpec::mainnet();
    for pair in file.cases.windows(2) {
        let [(_, parent_time, _, parent), (number, time, uncles, expected)] = pair else { unreachable!() };
        let parse = |text: &str| U256::from_str_radix(text, 16).unwrap();
        let found = difficulty(&spec, *number, *time, *uncles, *parent_time, parse(parent));
        assert_eq!(found, parse(expected), "block {number}");
    }
}
