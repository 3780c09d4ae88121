//! Several Keccak states, interleaved word by word so that one instruction works on all of them.

/// Steps rho, pi and chi of a round: `$row` makes a row of the new state of five words, which it takes from these places and rotates
/// by these numbers of bits.
macro_rules! rows {
    ($row:ident) => {
        [
            $row!(0 => 0, 6 => 44, 12 => 43, 18 => 21, 24 => 14),
            $row!(3 => 28, 9 => 20, 10 => 3, 16 => 45, 22 => 61),
            $row!(1 => 1, 7 => 6, 13 => 25, 19 => 8, 20 => 18),
            $row!(4 => 27, 5 => 36, 11 => 10, 17 => 15, 23 => 56),
            $row!(2 => 62, 8 => 55, 14 => 39, 15 => 41, 21 => 2),
        ]
    };
}

mod avx2;
mod avx512;

use alloy_primitives::B256;

const WORDS: usize = 25;
/// Number of message bytes absorbed by each permutation.
const RATE: usize = 136;
const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// Word `w` of the state in lane `l` is at `[w][l]`.
#[repr(align(64))]
pub(super) struct States<const LANES: usize>([[u64; LANES]; WORDS]);

/// Instructions that apply Keccak-f[1600] to all lanes.
pub(super) trait Permutation<const LANES: usize>: Copy {
    fn permute(self, states: &mut States<LANES>);
}

/// Message that a lane absorbs.
#[derive(Clone, Copy)]
struct LaneInput<'m> {
    /// Index of the message.
    index: usize,
    /// Bytes that are not absorbed yet.
    rest: &'m [u8],
}

/// Returns the hash of each message. A lane that has finished takes the next message and never waits for longer
/// messages.
pub(super) fn hash_all<const LANES: usize>(
    processor: impl Permutation<LANES>,
    messages: &mut dyn ExactSizeIterator<Item = &[u8]>,
) -> Vec<B256> {
    let mut hashes = vec![B256::ZERO; messages.len()];
    let mut waiting = messages.enumerate();
    let mut states = States([[0; LANES]; WORDS]);
    let mut inputs: [Option<LaneInput<'_>>; LANES] = [None; LANES];
    loop {
        let mut is_busy = false;
        let mut is_last = [false; LANES];
        for (lane, (input, is_last)) in inputs.iter_mut().zip(&mut is_last).enumerate() {
            if input.is_none() {
                *input = waiting.next().map(|(index, rest)| LaneInput { index, rest });
            }
            let Some(input) = input else { continue };
            is_busy = true;
            match input.rest.split_first_chunk() {
                Some((block, rest)) => {
                    states.absorb(lane, block);
                    input.rest = rest;
                }
                None => {
                    states.absorb(lane, &padded(input.rest));
                    *is_last = true;
                }
            }
        }
        if !is_busy {
            return hashes;
        }
        processor.permute(&mut states);
        for (lane, (input, _)) in inputs.iter_mut().zip(is_last).enumerate().filter(|(_, (_, is_last))| *is_last) {
            let hash = states.squeeze(lane);
            if let Some(target) = input.take().and_then(|input| hashes.get_mut(input.index)) {
                *target = hash;
            }
        }
    }
}

/// Pads the last block of a message, which is shorter than the rate, as in Keccak before the SHA-3 standard.
fn padded(rest: &[u8]) -> [u8; RATE] {
    let mut block = [0; RATE];
    if let Some((message, [first, ..])) = block.split_at_mut_checked(rest.len()) {
        message.copy_from_slice(rest);
        *first = 0x01;
    }
    block[RATE - 1] |= 0x80;
    block
}

impl<const LANES: usize> States<LANES> {
    fn absorb(&mut self, lane: usize, block: &[u8; RATE]) {
        for (word, bytes) in self.0.iter_mut().zip(block.as_chunks().0) {
            word[lane % LANES] ^= u64::from_le_bytes(*bytes);
        }
    }

    /// Returns the hash of a lane and clears the lane.
    fn squeeze(&mut self, lane: usize) -> B256 {
        let mut hash = B256::ZERO;
        for (bytes, word) in hash.0.as_chunks_mut().0.iter_mut().zip(&self.0) {
            *bytes = word[lane % LANES].to_le_bytes();
        }
        for word in &mut self.0 {
            word[lane % LANES] = 0;
        }
        hash
    }
}
