//! Batches of new nodes: the result of a commit, and the form in which the database stores them first.

use rhizome_primitives::{B256, Bytes, keccak256_all};

use crate::record::{NodePlace, RecordLayout, SourceNode, append_record, set_child_place};

/// Size of a length field in an encoded batch: no value is longer.
const LENGTH_BYTES: usize = 3;

/// Records of trie nodes and of long values (`record.rs`). A block adds thousands of them, so all share one allocation.
///
/// A commit with a place makes records with the places of all children: only the root and long values are found by their hashes. In a
/// batch that gets its place later all are, and no record has the place of a child in the batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeBatch {
    records: Vec<u8>,
    /// Place of the first record; unknown before the batch is in a log.
    place: NodePlace,
    /// The records that are found by hash.
    named: Vec<NamedRecord>,
}

/// A record that is found by the hash of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedRecord {
    hash: B256,
    start: usize,
}

/// A node or long value of a batch that is found by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchNode<'a> {
    /// Keccak hash of the message.
    pub hash: &'a B256,
    /// Message of a node, or a long value.
    pub message: &'a [u8],
    /// Offset of its record in the batch.
    pub start: usize,
    /// Length of the record in bytes.
    pub length: usize,
}

impl NodeBatch {
    /// Creates an empty batch with room for `bytes` bytes. With a place, its records have the places of all children.
    pub(crate) fn with_capacity(bytes: usize, place: NodePlace) -> Self {
        Self { records: Vec::with_capacity(bytes), place, named: Vec::new() }
    }

    /// Returns true if the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the number of nodes and values.
    pub fn len(&self) -> usize {
        self.messages().count()
    }

    /// Returns the records, as they are stored in the log.
    pub fn records(&self) -> &[u8] {
        &self.records
    }

    /// Returns the place of the first record in the log.
    pub fn place(&self) -> NodePlace {
        self.place
    }

    /// Gives the batch a place in the log, if it has none.
    pub fn set_place(&mut self, place: NodePlace) {
        if !self.place.is_known() {
            self.place = place;
        }
    }

    /// Iterates over the nodes and values that are found by their hashes.
    pub fn named(&self) -> impl Iterator<Item = BatchNode<'_>> {
        self.named.iter().filter_map(|NamedRecord { hash, start }| {
            let record = self.records.get(*start..)?;
            let layout = RecordLayout::read(record)?;
            Some(BatchNode { hash, message: layout.message(record)?, start: *start, length: layout.length() })
        })
    }

    /// Returns the node at a place in the log, if its record is in this batch.
    pub fn node_at(&self, place: NodePlace) -> Option<SourceNode> {
        let start = place.offset().checked_sub(self.place.offset()).filter(|_| place.file() == self.place.file())?;
        let record = self.records.get(start as usize..)?;
        RecordLayout::read(record)?.node(record)
    }

    /// Iterates over all messages and long values. The nodes of a path follow each other, each before those below it.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.records[..];
        std::iter::from_fn(move || {
            let layout = RecordLayout::read(rest)?;
            let (record, tail) = rest.split_at_checked(layout.length())?;
            rest = tail;
            layout.message(record)
        })
    }

    /// Returns the size in memory in bytes.
    pub fn bytes(&self) -> usize {
        self.records.len() + self.named.len() * size_of::<NamedRecord>()
    }

    /// Passes the encoded batch to `use_encoded`: the messages, the length of each in 3 bytes, and their number in 4 bytes
    /// (both big-endian). Hashes are computed again on decoding.
    pub fn with_encoded<T>(&self, use_encoded: impl FnOnce(&[u8]) -> T) -> T {
        let mut encoded = Vec::with_capacity(self.records.len());
        self.messages().for_each(|message| encoded.extend_from_slice(message));
        for message in self.messages() {
            // The trie rejects values of more than 2^24 - 1 bytes.
            let length = (message.len() as u32).to_be_bytes();
            encoded.extend(length.iter().skip(size_of::<u32>() - LENGTH_BYTES));
        }
        encoded.extend((self.len() as u32).to_be_bytes());
        use_encoded(&encoded)
    }

    /// Decodes the result of [`NodeBatch::with_encoded`], as a batch without a place; `None` if malformed.
    pub fn decode(encoded: &[u8]) -> Option<Self> {
        let (encoded, count) = encoded.split_last_chunk::<4>()?;
        let lengths = (u32::from_be_bytes(*count) as usize).checked_mul(LENGTH_BYTES)?;
        let (mut rest, lengths) = encoded.split_at(encoded.len().checked_sub(lengths)?);
        let (lengths, _) = lengths.as_chunks::<LENGTH_BYTES>();
        let mut messages = Vec::new();
        for [high, middle, low] in lengths {
            let (message, tail) = rest.split_at_checked(u32::from_be_bytes([0, *high, *middle, *low]) as usize)?;
            messages.push(message);
            rest = tail;
        }
        rest.is_empty().then(|| {
            let mut batch = Self::default();
            keccak256_all(&messages).iter().zip(messages).for_each(|(hash, message)| batch.push(hash, message));
            batch
        })
    }

    /// Adds a message with its hash. The places of its children are unknown.
    pub fn push(&mut self, hash: &B256, message: &[u8]) {
        self.named.push(NamedRecord { hash: *hash, start: self.records.len() });
        append_record(message.len(), 0, &mut self.records, |out| out.extend_from_slice(message));
    }

    /// Adds the message of `length` bytes that `write` appends, of a node with the hash `hash()`. [`NodeBatch::set_child_place`] follows
    /// for its `children` children with a place. A root is always found by its hash.
    pub(crate) fn add_node(
        &mut self,
        is_root: bool,
        hash: impl FnOnce() -> B256,
        length: usize,
        children: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> NewRecord {
        let start = self.records.len();
        if is_root || !self.place.is_known() {
            self.named.push(NamedRecord { hash: hash(), start });
        }
        let layout = append_record(length, children, &mut self.records, write);
        NewRecord { start, layout, place: self.place.after(start) }
    }

    /// Sets the place of a child of a new record. `index`: number of the child among those with a place.
    pub(crate) fn set_child_place(&mut self, record: &NewRecord, index: usize, place: NodePlace) {
        set_child_place(&mut self.records, record.start, record.layout, index, place);
    }
}

/// A record that was just added to a batch.
pub(crate) struct NewRecord {
    start: usize,
    layout: RecordLayout,
    /// Its place in the log; unknown in a batch without a place.
    pub(crate) place: NodePlace,
}

/// Yields all messages and long values, each with its hash.
impl IntoIterator for NodeBatch {
    type Item = (B256, Bytes);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let messages: Vec<&[u8]> = self.messages().collect();
        let hashes = keccak256_all(&messages);
        let copied = messages.into_iter().map(Bytes::copy_from_slice);
        hashes.into_iter().zip(copied).collect::<Vec<_>>().into_iter()
    }
}

impl FromIterator<(B256, Bytes)> for NodeBatch {
    fn from_iter<I: IntoIterator<Item = (B256, Bytes)>>(nodes: I) -> Self {
        let mut batch = Self::default();
        batch.extend(nodes);
        batch
    }
}

impl Extend<(B256, Bytes)> for NodeBatch {
    fn extend<I: IntoIterator<Item = (B256, Bytes)>>(&mut self, nodes: I) {
        for (hash, message) in nodes {
            self.push(&hash, &message);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhizome_primitives::keccak256;

    use super::*;
    use crate::{MemoryNodes, StateDelta, Trie, TrieError};

    fn batch(count: u32) -> NodeBatch {
        let messages = (0..count).map(|number| Bytes::from(vec![number as u8; number as usize * 7 % 300]));
        messages.map(|message| (keccak256(&message), message)).collect()
    }

    #[test]
    fn batches_yield_their_nodes_in_order() {
        let nodes = [&b"one"[..], b"", b"three"].map(|message| (keccak256(message), Bytes::from_static(message)));
        let batch: NodeBatch = nodes.iter().cloned().collect();
        assert_eq!((batch.len(), batch.is_empty()), (3, false));
        let named: Vec<_> = batch.named().map(|node| (*node.hash, Bytes::copy_from_slice(node.message))).collect();
        assert_eq!(named, nodes);
        assert_eq!(batch.into_iter().collect::<Vec<_>>(), nodes);
    }

    #[test]
    fn encoded_batches_round_trip_and_truncated_ones_are_rejected() {
        for count in [0, 1, 2, 100] {
            let rows = batch(count);
            let encoded = rows.with_encoded(<[u8]>::to_vec);
            assert_eq!(NodeBatch::decode(&encoded), Some(rows));
        }
        let encoded = batch(5).with_encoded(<[u8]>::to_vec);
        for length in 0..encoded.len() {
            assert_eq!(NodeBatch::decode(&encoded[..length]), None, "{length}");
            assert_eq!(NodeBatch::decode(&encoded[length + 1..]).filter(|rows| rows.len() == 5), None, "{length}");
        }
        assert_eq!(NodeBatch::decode(&[0xff; 40]), None);
    }

    /// Walks from the root through the places of the children, in all batches.
    fn reach(batches: &[NodeBatch], hash: &B256, place: NodePlace, reached: &mut usize) {
        let node = batches.iter().rev().find_map(|batch| batch.node_at(place)).unwrap();
        assert_eq!(keccak256(&node.message), *hash);
        *reached += 1;
        let children = crate::node::hashed_children(&node.message);
        for (child, place) in children.iter().zip(node.children) {
            reach(batches, child, place, reached);
        }
    }

    #[test]
    fn all_nodes_are_reached_through_the_places_of_their_parents() -> Result<(), TrieError> {
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        let mut batches: Vec<NodeBatch> = Vec::new();
        let mut place = NodePlace::new(2, 100);
        let mut other = trie.clone();
        for block in 0..20_u32 {
            // Every other block has subtrees that are committed before the nodes above them.
            let first = block * 400;
            let last = first + if block % 2 == 0 { 50 } else { 400 };
            let mut delta = StateDelta::default();
            for number in first..last {
                let value = vec![7; 1 + number as usize % 60];
                delta.writes.insert(keccak256(number.to_be_bytes()).to_vec(), Some(value.into()));
            }
            // Nodes above deleted ones become one with their other child.
            delta.writes.extend((0..block * 8).map(|n| (keccak256((n * 50).to_be_bytes()).to_vec(), None)));
            let batch = trie.apply_and_commit(&delta, &|_key| None, place)?;
            other.apply(&delta)?;
            assert_eq!(trie.root_hash(), other.root_hash());
            assert!(trie.commit_at(place).is_empty());
            let roots: Vec<_> = batch.named().filter(|node| *node.hash == trie.root_hash()).collect();
            assert_eq!(roots.len(), 1);
            let root = place.after(roots[0].start);
            place = if block == 10 { NodePlace::new(3, 0) } else { place.after(batch.records().len()) };
            batches.push(batch);
            let mut reached = 0;
            reach(&batches, &trie.root_hash(), root, &mut reached);
            let expected = trie.nodes().filter(|node| node.as_ref().is_ok_and(|node| !node.is_embedded)).count();
            assert_eq!(reached, expected);
        }
        Ok(())
    }
}
