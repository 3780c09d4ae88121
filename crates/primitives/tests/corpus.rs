//! Fuzzing from a corpus: small files in `tests/corpus`, one folder for each target. The tests of other crates include
//! this file.

use super::mutation::{Random, with_random};
use proptest::test_runner::Config;
use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for which each target is checked, in seconds, regardless of the number of proptest cases.
const SECONDS: &str = "FUZZ_SECONDS";
const LONGEST_RANDOM: usize = 300;

/// Replays the inputs of a target, then checks `per_case` inputs for each proptest case. They are mutated from the
/// corpus and from `seeds`. An input for which the check panics is added to the corpus, so that later runs replay it,
/// and the test fails with the name of its file.
pub(crate) fn fuzz_corpus(target: &str, per_case: usize, seeds: &[Vec<u8>], check: impl Fn(&[u8], &mut Random)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(target);
    let corpus = inputs(&folder);
    assert!(!corpus.is_empty(), "{}: there is no input", folder.display());
    for (path, input) in &corpus {
        let passes = catch_unwind(AssertUnwindSafe(|| check(input, &mut Random::new(1)))).is_ok();
        assert!(passes, "{target}: {}", path.display());
    }
    let known: Vec<&[u8]> = corpus.iter().map(|(_, input)| input).chain(seeds).map(Vec::as_slice).collect();
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
    let share = seconds.map(|seconds| Duration::from_secs(seconds) / Config::default().cases.max(1));
    let failed = RefCell::new(None);
    with_random(|random| {
        let began = Instant::now();
        loop {
            for _ in 0..per_case {
                if failed.borrow().is_some() {
                    return;
                }
                let input = mutated(random, &known);
                let mut inner = Random::new(random.next());
                if catch_unwind(AssertUnwindSafe(|| check(&input, &mut inner))).is_err() {
                    failed.replace(Some(keep(&folder, &input)));
                }
            }
            if share.is_none_or(|share| began.elapsed() >= share) {
                return;
            }
        }
    });
    if let Some(path) = failed.take() {
        panic!("{target}: the input was saved as {}", path.display());
    }
}

fn inputs(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn mutated(random: &mut Random, known: &[&[u8]]) -> Vec<u8> {
    if random.below(16) == 0 {
        return random.bytes(LONGEST_RANDOM);
    }
    let mut input = random.pick(known).to_vec();
    if random.below(8) == 0 {
        // The start of one input and the end of another.
        let other = *random.pick(known);
        input.truncate(random.below(input.len() + 1));
        input.extend_from_slice(&other[random.below(other.len() + 1)..]);
    }
    random.mutate(&mut input);
    input
}

fn keep(folder: &Path, input: &[u8]) -> PathBuf {
    // FNV-1a, only for a file name.
    let name = input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let path = folder.join(format!("failed-{name:016x}"));
    fs::write(&path, input).unwrap();
    path
}
