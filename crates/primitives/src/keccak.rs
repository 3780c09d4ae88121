//! Keccak-256 of many messages at once: eight side by side where the processor has AVX-512, else one after another.

#[cfg(target_arch = "x86_64")]
mod lanes;

use alloy_primitives::{B256, keccak256};
#[cfg(target_arch = "x86_64")]
use archmage::{SimdToken, X64V4Token};

/// For fewer messages than this the eight lanes are slower than the scalar code, message by message.
const MIN_MESSAGES: usize = 3;

/// The Keccak-256 hash of each message, in their order.
///
/// Several times as fast as one call for each message, at best when they are about equally long.
pub fn keccak256_all<M: AsRef<[u8]>>(messages: &[M]) -> Vec<B256> {
    #[cfg(target_arch = "x86_64")]
    if messages.len() >= MIN_MESSAGES
        && let Some(processor) = X64V4Token::summon()
    {
        return lanes::hash_all(processor, messages);
    }
    messages.iter().map(keccak256).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_plain<M: AsRef<[u8]>>(messages: &[M]) {
        let plain: Vec<B256> = messages.iter().map(keccak256).collect();
        assert_eq!(keccak256_all(messages), plain);
    }

    fn filled(length: usize, seed: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 31 + seed * 101 + at / 256) as u8).collect()
    }

    #[test]
    fn every_length_agrees_with_the_scalar_code() {
        for length in 0..=300 {
            assert_plain(&(0..8).map(|seed| filled(length, seed)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_number_of_messages_gets_as_many_hashes() {
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
