//! Eight Keccak states, interleaved word by word so that one instruction works on all of them.

use alloy_primitives::B256;
use archmage::intrinsics::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_rol_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_epi64,
};
use archmage::{X64V4Token, arcane};

const LANES: usize = 8;
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
struct States([[u64; LANES]; WORDS]);

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
/// others.
pub(super) fn hash_all<M: AsRef<[u8]>>(processor: X64V4Token, messages: &[M]) -> Vec<B256> {
    let mut hashes = vec![B256::ZERO; messages.len()];
    let mut waiting = messages.iter().map(AsRef::as_ref).enumerate();
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
        permute(processor, &mut states);
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

impl States {
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

/// Applies Keccak-f[1600] to all lanes.
#[arcane]
fn permute(_processor: X64V4Token, states: &mut States) {
    // No `map`: closures would not be compiled for this processor.
    let mut words = [_mm512_setzero_si512(); WORDS];
    for (word, state) in words.iter_mut().zip(&states.0) {
        *word = _mm512_loadu_si512(state);
    }
    for constant in ROUND_CONSTANTS {
        words = round(words, constant);
    }
    for (word, state) in words.iter().zip(&mut states.0) {
        _mm512_storeu_si512(state, *word);
    }
}

/// One round, with the step names of the standard: theta, rho and pi, chi, iota.
#[target_feature(enable = "avx512f")]
#[inline]
fn round(a: [__m512i; WORDS], constant: u64) -> [__m512i; WORDS] {
    macro_rules! xor3 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0x96>($a, $b, $c)
        };
    }
    macro_rules! column {
        ($x:literal) => {
            xor3!(xor3!(a[$x], a[$x + 5], a[$x + 10]), a[$x + 15], a[$x + 20])
        };
    }
    let columns = [column!(0), column!(1), column!(2), column!(3), column!(4)];
    macro_rules! moved {
        ($from:literal, $bits:literal) => {
            _mm512_rol_epi64::<$bits>(xor3!(
                a[$from],
                columns[($from + 4) % 5],
                _mm512_rol_epi64::<1>(columns[($from + 1) % 5])
            ))
        };
    }
    // a ^ (!b & c)
    macro_rules! chi {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0xd2>($a, $b, $c)
        };
    }
    macro_rules! row {
        ($($from:literal => $bits:literal),*) => {{
            let [a, b, c, d, e] = [$(moved!($from, $bits)),*];
            [chi!(a, b, c), chi!(b, c, d), chi!(c, d, e), chi!(d, e, a), chi!(e, a, b)]
        }};
    }
    let [p0, p1, p2, p3, p4] = row!(0 => 0, 6 => 44, 12 => 43, 18 => 21, 24 => 14);
    let [q0, q1, q2, q3, q4] = row!(3 => 28, 9 => 20, 10 => 3, 16 => 45, 22 => 61);
    let [r0, r1, r2, r3, r4] = row!(1 => 1, 7 => 6, 13 => 25, 19 => 8, 20 => 18);
    let [s0, s1, s2, s3, s4] = row!(4 => 27, 5 => 36, 11 => 10, 17 => 15, 23 => 56);
    let [t0, t1, t2, t3, t4] = row!(2 => 62, 8 => 55, 14 => 39, 15 => 41, 21 => 2);
    let p0 = _mm512_xor_epi64(p0, _mm512_set1_epi64(constant.cast_signed()));
    [p0, p1, p2, p3, p4, q0, q1, q2, q3, q4, r0, r1, r2, r3, r4, s0, s1, s2, s3, s4, t0, t1, t2, t3, t4]
}
