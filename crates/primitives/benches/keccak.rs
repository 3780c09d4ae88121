//! Keccak-256 of messages of a trie node's size, one by one and many at once, in nanoseconds a message; the best of several
//! rounds: `cargo bench -p rhizome-primitives --bench keccak --profile release`.

use rhizome_primitives::{B256, keccak256, keccak256_all};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 300;
const MESSAGES: usize = 1000;
const MESSAGE_BYTES: usize = 100;

fn main() {
    let messages: Vec<Vec<u8>> = (0..MESSAGES).map(|index| vec![index as u8; MESSAGE_BYTES]).collect();
    println!("one by one: {:.0} ns", best(|| messages.iter().map(keccak256).collect()));
    for size in [2, 3, 8, 64, MESSAGES] {
        println!("{size} at once: {:.0} ns", best(|| messages.chunks(size).flat_map(keccak256_all).collect()));
    }
}

fn best(hash: impl Fn() -> Vec<B256>) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(hash());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / MESSAGES as f64);
    }
    best
}
