//! States for a scripted peer, right and wrong ones.

use rhizome_chain::{Chain, STATE_CHUNK_BYTES};
use rhizome_wire::rsk::RskMessage;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Faults of a third of the chunks, in turn.
const FAULTS: u64 = 7;

/// Serves the states of a chain that has all of them.
pub(crate) struct ChunkServer {
    chain: Arc<Chain>,
    /// Whether a third of the chunks is wrong or missing.
    is_lying: bool,
    /// Index of the chunk from which on nothing is answered.
    ends_at: Option<u64>,
    /// Right answers by index.
    served: Mutex<BTreeMap<u64, u32>>,
    /// Right answers that may follow.
    allowed: AtomicUsize,
}

impl fmt::Debug for ChunkServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ChunkServer({})", self.is_lying)
    }
}

impl ChunkServer {
    pub(crate) fn new(chain: &Arc<Chain>, is_lying: bool, ends_at: Option<u64>) -> Arc<ChunkServer> {
        Arc::new(ChunkServer {
            chain: Arc::clone(chain),
            is_lying,
            ends_at,
            served: Mutex::default(),
            allowed: AtomicUsize::new(usize::MAX),
        })
    }

    /// Returns the number of right answers, by index.
    pub(crate) fn served(&self) -> BTreeMap<u64, u32> {
        self.served.lock().unwrap().clone()
    }

    /// Answers right at most `count` times from now on, then not at all.
    pub(crate) fn allow(&self, count: usize) {
        self.allowed.store(count, Ordering::Relaxed);
    }

    pub(crate) fn answer(&self, id: u64, number: u64, from: u64) -> Option<Vec<u8>> {
        let index = from / STATE_CHUNK_BYTES;
        if self.ends_at.is_some_and(|end| index >= end) {
            return None;
        }
        let built = |from| self.chain.state_snapshot(number).unwrap()?.chunk(from).unwrap();
        let right = built(from)?;
        let (mut chunk, mut number, mut from, mut is_complete) = (right.bytes, number, from, right.is_complete);
        if self.is_lying && index.is_multiple_of(3) {
            match index / 3 % FAULTS {
                0 => {
                    let middle = chunk.len() / 2;
                    chunk[middle] ^= 1;
                }
                1 => chunk = built(from + STATE_CHUNK_BYTES)?.bytes,
                2 => chunk.truncate(chunk.len() - 1),
                3 => is_complete = !is_complete,
                4 => number += 1,
                5 => from += STATE_CHUNK_BYTES,
                _ => return None,
            }
        } else {
            self.allowed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
            *self.served.lock().unwrap().entry(index).or_default() += 1;
        }
        let to = from + STATE_CHUNK_BYTES;
        Some(RskMessage::StateChunkResponse { id, chunk: &chunk, number, from, to, is_complete }.encode())
    }
}
