//! Bytes of the node files that were read with a record and probably begin with that of one of its children.
//!
//! A block writes the changed nodes of a path one behind the other, and the next change below a node goes to the child that changed last
//! every second time. Then no other page of the data is read.
//!
//! The bytes of the last read of a page are kept, for a bounded number of pages: at most 5 MB.

use parking_lot::Mutex;
use rhizome_trie::{NodePlace, RecordLayout, SourceNode};

use crate::node_files::PAGE_BYTES;

/// Pages of which bytes are kept.
const PAGES: usize = 4096;

/// Bytes that were read with a record, by their page.
pub(crate) struct AdjacentNodes {
    pages: Box<[Mutex<ReadBytes>]>,
}

/// Bytes from a place on.
#[derive(Default)]
struct ReadBytes {
    place: NodePlace,
    bytes: Vec<u8>,
}

impl Default for AdjacentNodes {
    fn default() -> Self {
        Self { pages: (0..PAGES).map(|_| Mutex::default()).collect() }
    }
}

impl AdjacentNodes {
    /// Returns the node that was read at a place. The caller checks its hash: the record may have been written later.
    pub(crate) fn find(&self, place: NodePlace) -> Option<SourceNode> {
        let read = self.page(place)?.lock();
        let bytes = read.bytes.get(place.bytes_behind(read.place)?..)?;
        RecordLayout::read(bytes)?.node(bytes)
    }

    /// Keeps the bytes at a place, in place of those of an earlier read of the same page.
    pub(crate) fn note(&self, place: NodePlace, bytes: Vec<u8>) {
        if let Some(page) = self.page(place) {
            *page.lock() = ReadBytes { place, bytes };
        }
    }

    /// Returns the number of bytes that are kept.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.lock().bytes.len()).sum()
    }

    fn page(&self, place: NodePlace) -> Option<&Mutex<ReadBytes>> {
        // The pages of a file are neighbours, and files differ in their first page.
        let page = place.offset() as usize / PAGE_BYTES + usize::from(place.file()) * 1031;
        self.pages.get(page % PAGES)
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
        assert_eq!(adjacent.find(place), None);
        adjacent.note(place, batch.records().to_vec());
        let mut found = 0;
        for message in batch.messages() {
            let node = adjacent.find(place).unwrap();
            assert_eq!(*node.message, *message);
            assert_eq!(adjacent.find(place), Some(node.clone()));
            place = if node.children[0].is_known() { node.children[0] } else { break };
            found += 1;
        }
        assert!(found > 5, "{found}");
        let before_and_elsewhere = [NodePlace::new(1, 499), NodePlace::new(0, 500), NodePlace::UNKNOWN];
        assert_eq!(before_and_elsewhere.map(|place| adjacent.find(place)), [None, None, None]);
        Ok(())
    }

    #[test]
    fn the_number_of_places_is_bounded() {
        let adjacent = AdjacentNodes::default();
        for page in 0..20_000 {
            adjacent.note(NodePlace::new(0, page * PAGE_BYTES as u32), b"bytes".to_vec());
        }
        let kept = adjacent.pages.iter().filter(|page| !page.lock().bytes.is_empty());
        assert_eq!(kept.count(), PAGES);
    }
}
