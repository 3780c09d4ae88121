//! Keccak-256 of many messages at once: eight in parallel with AVX-512, four with AVX2, otherwise one after another.
//!
//! Measured with messages of 100 bytes in batches of 64 and more (`cargo bench -p rhizome-primitives --bench keccak --profile
//! release`): with AVX-512 101 ns for each message, one by one 279 ns; on another AMD EPYC, with AVX2, 143 ns and 320 ns. Hashes do not
//! go through the cache of short inputs that [`alloy_primitives::keccak256`] has: trie nodes seldom repeat.

#[cfg(target_arch = "x86_64")]
mod lanes;

use alloy_primitives::{B256, keccak256_uncached};
#[cfg(target_arch = "x86_64")]
use archmage::{SimdToken, X64V3Token, X64V4Token};

/// Minimum number of messages: for fewer messages lanes are slower than the scalar code.
const MIN_MESSAGES: usize = 3;

/// Returns the Keccak-256 hash of each message, in order.
///
/// Fastest if the messages have about the same length.
pub fn keccak256_all<M: AsRef<[u8]>>(messages: &[M]) -> Vec<B256> {
    #[cfg(target_arch = "x86_64")]
    if messages.len() >= MIN_MESSAGES {
        // As a trait object: there is one copy of the loop for all types of messages.
        let messages = &mut messages.iter().map(AsRef::as_ref);
        if let Some(processor) = X64V4Token::summon() {
            return lanes::hash_all(processor, messages);
        }
        if let Some(processor) = X64V3Token::summon() {
            return lanes::hash_all(processor, messages);
        }
    }
    messages.iter().map(keccak256_uncached).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares all implementations that this processor has with the scalar code.
    fn assert_plain<M: AsRef<[u8]>>(messages: &[M]) {
        let plain: Vec<B256> = messages.iter().map(keccak256_uncached).collect();
        assert_eq!(keccak256_all(messages), plain);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(processor) = X64V4Token::summon() {
                assert_eq!(lanes::hash_all(processor, &mut messages.iter().map(AsRef::as_ref)), plain);
            }
            if let Some(processor) = X64V3Token::summon() {
                assert_eq!(lanes::hash_all(processor, &mut messages.iter().map(AsRef::as_ref)), plain);
            }
        }
    }

    fn filled(length: usize, seed: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 31 + seed * 101 + at / 256) as u8).collect()
    }

    #[test]
    fn all_lengths_agree_with_the_scalar_code() {
        for length in 0..=300 {
            assert_plain(&(0..8).map(|seed| filled(length, seed)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_counts_of_messages_agree_with_the_scalar_code() {
        for count in 0..40 {
            assert_plain(&(0..count).map(|seed| filled(seed * 7, seed)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_and_short_messages_share_the_lanes() {
        let lengths = [24_576, 0, 135, 136, 137, 271, 272, 273, 1, 5_000, 32, 64, 408, 20, 3, 700];
        for turn in 0..lengths.len() {
            let mut lengths = lengths;
            lengths.rotate_left(turn);
            assert_plain(&lengths.map(|length| filled(length, turn)));
        }
    }

    proptest! {
        #[test]
        fn random_messages_agree_with_the_scalar_code(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 0..40)
        ) {
            assert_plain(&messages);
        }
    }
}
