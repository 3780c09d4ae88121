//! Replays the golden data of the state, the machine and transactions.

mod vectors;

use std::fs::File;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;
use vectors::bridge::Outcome;

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

replays!(activation calls create gas localcalls opcodes precompiles random remasc selfdestruct traces transactions);

/// The implemented parts of the Bridge are exact. The other parts fail as not implemented.
#[test]
fn bridge() {
    let files: [(&str, usize, usize); 11] = [
        ("authorizers", 118, 0),
        ("federation", 143, 143),
        ("flyover", 4, 44),
        ("headers", 57, 0),
        ("networks", 126, 0),
        ("pegin", 32, 127),
        ("pegin-typing", 5, 92),
        ("pegout", 53, 105),
        ("pegout-split", 1, 8),
        ("transactions", 33, 1),
        ("views", 232, 0),
    ];
    for (name, same, stopped) in files {
        let (mut counts, mut failed) = ([0, 0], Vec::new());
        let replayed = vectors::bridge::replay(&load(&format!("bridge/{name}")), |step, outcome| match outcome {
            Ok(Outcome::Same) => counts[0] += 1,
            Ok(Outcome::Stopped(part)) => {
                println!("{name}: {step}: stops at {part}");
                counts[1] += 1;
            }
            Err(mismatch) => failed.push(format!("{step}: {mismatch}")),
        });
        replayed.unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
        assert!(failed.is_empty(), "{name}:\n{}", failed.join("\n"));
        assert_eq!(counts, [same, stopped], "{name}: exact steps, not implemented steps");
    }
}

/// Counts exact cases and cases that are not implemented.
fn count(cases: &Value, check: impl Fn(&Value) -> Result<Outcome, vectors::Mismatch>) -> [usize; 2] {
    let mut counts = [0, 0];
    for case in vectors::cases(cases) {
        match check(case) {
            Ok(Outcome::Same) => counts[0] += 1,
            Ok(Outcome::Stopped(_)) => counts[1] += 1,
            Err(mismatch) => panic!("{}: {mismatch}", case["note"]),
        }
    }
    counts
}

/// Plain multisig federations are implemented, federations with emergency keys are not.
#[test]
fn scripts_of_federations() {
    assert_eq!(count(&load("bridge/scripts"), vectors::bridge::check_scripts), [18, 90]);
}

#[test]
fn states_of_the_bridge() {
    let json = load("bridge/bridge-state");
    assert_eq!(count(&json, |case| vectors::bridge::check_encoded_state(&json, case)), [4, 7]);
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
