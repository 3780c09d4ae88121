//! Transactions that became executable, as a feed with positions.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use parking_lot::Mutex;
use rhizome_primitives::B256;
use std::collections::VecDeque;

/// Number of remembered hashes. A poll after more new transactions misses the oldest hashes.
const MEMORY: usize = 16_384;

/// The last hashes that became executable. Positions count all of them, from 0.
#[derive(Debug, Default)]
pub(crate) struct PendingFeed(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    hashes: VecDeque<B256>,
    end: u64,
}

impl PendingFeed {
    /// Adds a hash at the end.
    pub(crate) fn push(&self, hash: B256) {
        let mut remembered = self.0.lock();
        if remembered.hashes.len() == MEMORY {
            remembered.hashes.pop_front();
        }
        remembered.hashes.push_back(hash);
        remembered.end += 1;
    }

    /// Position after the last hash.
    pub(crate) fn position(&self) -> u64 {
        self.0.lock().end
    }

    /// Hashes from a position on, and the position after them.
    fn since(&self, position: u64) -> (Vec<B256>, u64) {
        let remembered = self.0.lock();
        let wanted = usize::try_from(remembered.end.saturating_sub(position)).unwrap_or(usize::MAX);
        let known = remembered.hashes.len();
        (remembered.hashes.iter().skip(known.saturating_sub(wanted)).copied().collect(), remembered.end)
    }
}

/// Returns `{"hashes","position"}`: transactions that became executable since a position, and the position of the next poll.
pub fn answer(node: &Node, position: u64) -> Answer {
    let (hashes, end) = node.pending_feed().since(position);
    let mut json = JsonWriter::with_capacity(64 + 70 * hashes.len());
    json.begin_object();
    json.key("hashes").begin_array();
    hashes.iter().for_each(|hash| json.hash(hash));
    json.end_array();
    json.key("position").number(end.cast_signed());
    json.end_object();
    Ok(json.finish())
}

/// The position after the last hash.
pub fn position(node: &Node) -> u64 {
    node.pending_feed().position()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continues_where_the_last_question_ended() {
        let feed = PendingFeed::default();
        assert_eq!(feed.since(0), (vec![], 0));
        (1..=3).for_each(|byte| feed.push(B256::repeat_byte(byte)));
        assert_eq!(feed.since(1), (vec![B256::repeat_byte(2), B256::repeat_byte(3)], 3));
        assert_eq!(feed.since(3), (vec![], 3));
        assert_eq!(feed.since(99), (vec![], 3));
    }

    #[test]
    fn forgets_the_oldest() {
        let feed = PendingFeed::default();
        (0..MEMORY + 5).for_each(|_| feed.push(B256::ZERO));
        let (hashes, end) = feed.since(0);
        assert_eq!((hashes.len(), end), (MEMORY, MEMORY as u64 + 5));
    }
}
