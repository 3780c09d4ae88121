//! Random bytes and small mutations, reproducible in every run. The fuzz tests of other crates include this file.

use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Seed of the random numbers; `PROPTEST_RNG_SEED` overrides it.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Runs a test with as many random sources as proptest has cases (`PROPTEST_CASES`).
pub(crate) fn with_random(test: impl Fn(&mut Random)) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let outcome = TestRunner::new(config).run(&any::<u64>(), |seed| {
        test(&mut Random::new(seed));
        Ok(())
    });
    outcome.unwrap();
}

/// Xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below the bound; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns fewer than `longest` bytes.
    pub(crate) fn bytes(&mut self, longest: usize) -> Vec<u8> {
        (0..self.below(longest)).map(|_| self.next() as u8).collect()
    }

    /// Returns an element of a list that is not empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Changes, removes, inserts or truncates a few bytes; prefers bytes with a meaning in RLP, Bitcoin messages and
    /// node messages.
    pub(crate) fn mutate(&mut self, data: &mut Vec<u8>) {
        const MARKS: &[u8] = &[0, 1, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xc1, 0xf7, 0xf8, 0xfd, 0xfe, 0xff];
        for _ in 0..=self.below(4) {
            let at = self.below(data.len());
            let byte = if self.below(2) == 0 { *self.pick(MARKS) } else { self.next() as u8 };
            match self.below(8) {
                0 => data.truncate(at),
                1 if !data.is_empty() => {
                    data.remove(at);
                }
                2 => data.insert(at, byte),
                _ if !data.is_empty() => data[at] = byte,
                _ => data.push(byte),
            }
        }
    }
}
