//! Replays the golden data of the state, the machine and transactions.

mod vectors;

use std::fs::File;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;

/// Reads a file of golden data. `name` has no extension.
fn load(name: &str) -> Value {
    let folder: PathBuf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/").into();
    let plain = folder.join(format!("{name}.json"));
    let value = match File::open(&plain) {
        Ok(file) => serde_json::from_reader(file),
        Err(_) => {
            let packed = plain.with_extension("json.gz");
            let file = File::open(&packed).unwrap_or_else(|error| panic!("{}: {error}", packed.display()));
            serde_json::from_reader(GzDecoder::new(file))
        }
    };
    value.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Replays the cases of a file.
fn replay(file: &str) {
    let json = load(&format!("evm/{file}"));
    let forks = load("evm/forks");
    let (mut passed, mut failed) = (0, Vec::new());
    for case in vectors::cases(&json) {
        let name = case["name"].as_str().unwrap_or("?");
        match vectors::check(&json, &forks, case) {
            Ok(()) => passed += 1,
            Err(mismatch) => failed.push(format!("{name}: {mismatch}")),
        }
    }
    println!("{file}: {passed} passed, {} failed", failed.len());
    assert!(failed.is_empty(), "{file}:\n{}", failed.join("\n"));
    assert!(passed > 0, "{file} has no cases");
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*
    };
}

replays!(activation calls create gas localcalls opcodes precompiles random remasc remasc_federations selfdestruct traces transactions);

#[test]
fn bridge() {
    replay_bridge(&[
        "authorizers",
        "federation",
        "flyover",
        "headers",
        "networks",
        "pegin",
        "pegin-typing",
        "pegout",
        "pegout-split",
        "transactions",
        "views",
    ]);
}

/// Paths that no other file reaches: tests/vectors/bridge/README.md.
#[test]
fn rare_paths_of_the_bridge() {
    replay_bridge(&[
        "bad-transactions",
        "big-transactions",
        "burns",
        "coinbase-coins",
        "confirmations",
        "crossings",
        "cut-batches-1",
        "cut-batches-2",
        "cut-batches-3",
        "cut-batches-4",
        "emergency-1",
        "emergency-2",
        "emergency-3",
        "emergency-4",
        "emergency-5",
        "emergency-6",
        "flyover-1",
        "flyover-2",
        "flyover-3",
        "large-federations",
        "refunds",
        "senders",
        "signatures",
        "svp-1",
        "svp-2",
    ]);
}

/// Peg-ins, peg-outs and changes of the federation under the rules of every upgrade.
#[test]
fn life_of_the_bridge_on_mainnet() {
    replay_bridge(&["life-mainnet-1", "life-mainnet-2", "life-mainnet-3", "life-mainnet-4"]);
}

#[test]
fn life_of_the_bridge_on_testnet() {
    replay_bridge(&["life-testnet-1", "life-testnet-2", "life-testnet-3", "life-testnet-4"]);
}

#[test]
fn random_calls_of_the_bridge() {
    replay_bridge(&["random-1", "random-2", "random-3", "random-4", "random-mainnet", "random-testnet"]);
}

fn replay_bridge(files: &[&str]) {
    let mut failed = Vec::new();
    for name in files {
        let mut steps = 0;
        let replayed = vectors::bridge::replay(&load(&format!("bridge/{name}")), |step, verdict| {
            steps += 1;
            if let Err(mismatch) = verdict {
                failed.push(format!("{name}: {step}: {mismatch}"));
            }
        });
        replayed.unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
        assert!(steps > 0, "{name} has no steps");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn check_bridge_cases(cases: &Value, check: impl Fn(&Value) -> vectors::Verdict) {
    for case in vectors::cases(cases) {
        check(case).unwrap_or_else(|mismatch| panic!("{case}: {mismatch}"));
    }
}

#[test]
fn scripts_of_federations() {
    check_bridge_cases(&load("bridge/scripts"), vectors::bridge::check_scripts);
}

#[test]
fn states_of_the_bridge() {
    let json = load("bridge/bridge-state");
    check_bridge_cases(&json, |case| vectors::bridge::check_encoded_state(&json, case));
    for case in vectors::cases(&json) {
        vectors::bridge::stored_state(case).unwrap();
    }
}

#[test]
fn repository() {
    let json = load("state/repo");
    let mut passed = 0;
    for case in vectors::cases(&json) {
        if let Err(mismatch) = vectors::repository::check(case) {
            panic!("{}: {mismatch}", case["name"]);
        }
        passed += 1;
    }
    println!("repository: {passed} passed");
    assert!(passed > 0);
}
