//! Bytes of the node files that were read with a record and probably begin with that of one of its children.
//!
//! A block writes the changed nodes of a path one behind the other, and the next change below a node goes to the child that changed last
//! every second time. Then no other page of the data is read.
//!
//! The bytes are kept until about as many others were noted, so that the memory stays below 10 MB.

use std::collections::HashMap;
use std::mem;

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use rhizome_primitives::Bytes;
use rhizome_trie::{NodePlace, RecordLayout, SourceNode};

/// Places in a generation. Two generations are kept.
const GENERATION: usize = 4096;

/// Bytes behind records that were read, by their places.
#[derive(Default)]
pub(crate) struct AdjacentNodes {
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    new: HashMap<NodePlace, Bytes, RandomState>,
    old: HashMap<NodePlace, Bytes, RandomState>,
}

impl AdjacentNodes {
    /// Returns the node that was read at a place. The caller checks its hash: the record may have been written later. A second call does
    /// not find it.
    pub(crate) fn take(&self, place: NodePlace) -> Option<SourceNode> {
        let bytes = self.generations.lock().take(place)?;
        let layout = RecordLayout::read(&bytes)?;
        let node = layout.node(&bytes)?;
        self.note(place.after(layout.length()), bytes.slice(layout.length()..));
        Some(node)
    }

    /// Notes the bytes at a place, which were read with the record before it.
    pub(crate) fn note(&self, place: NodePlace, bytes: Bytes) {
        if !bytes.is_empty() {
            self.generations.lock().insert(place, bytes);
        }
    }
}

impl Generations {
    fn take(&mut self, place: NodePlace) -> Option<Bytes> {
        self.new.remove(&place).or_else(|| self.old.remove(&place))
    }

    fn insert(&mut self, place: NodePlace, bytes: Bytes) {
        if self.new.len() >= GENERATION {
            self.old = mem::take(&mut self.new);
        }
        self.new.insert(place, bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhizome_primitives::keccak256;
    use rhizome_trie::{MemoryNodes, Trie, TrieError};

    use super::*;

    #[test]
    fn the_records_of_a_path_are_found_behind_its_first_one() -> Result<(), TrieError> {
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        for number in 0..200_u32 {
            trie.put(keccak256(number.to_be_bytes()).as_slice(), &[7; 20])?;
        }
        let mut place = NodePlace::new(1, 500);
        let batch = trie.commit_at(place);
        let adjacent = AdjacentNodes::default();
        adjacent.note(place, Bytes::copy_from_slice(batch.records()));
        let mut found = 0;
        for message in batch.messages() {
            let node = adjacent.take(place).unwrap();
            assert_eq!(*node.message, *message);
            assert_eq!(adjacent.take(place), None);
            place = if node.children[0].is_known() { node.children[0] } else { break };
            found += 1;
        }
        assert!(found > 5, "{found}");
        Ok(())
    }

    #[test]
    fn the_number_of_places_is_bounded() {
        let adjacent = AdjacentNodes::default();
        for offset in 0..20_000 {
            adjacent.note(NodePlace::new(0, offset), Bytes::from_static(b"bytes"));
        }
        let generations = adjacent.generations.lock();
        assert!(generations.new.len() + generations.old.len() <= 2 * GENERATION);
    }
}
