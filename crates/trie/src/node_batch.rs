//! Batches of new nodes: the result of a commit, and the form in which the database stores them first.

use rhizome_primitives::{B256, Bytes, keccak256_all};

/// Size of a length field in an encoded batch: no value is longer.
const LENGTH_BYTES: usize = 3;

/// Messages of trie nodes, and long values, with their Keccak hashes. A block adds thousands of them, so all share one
/// allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeBatch {
    hashes: Vec<B256>,
    /// Offset of each message.
    starts: Vec<usize>,
    messages: Vec<u8>,
    /// The positions in the order of iteration.
    order: Vec<u32>,
}

/// One node or long value of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchNode<'a> {
    /// Keccak hash of the message.
    pub hash: &'a B256,
    /// Message of a node, or a long value.
    pub message: &'a [u8],
}

impl NodeBatch {
    /// Creates an empty batch with room for `count` nodes of `bytes` bytes together.
    pub(crate) fn with_capacity(count: usize, bytes: usize) -> Self {
        let (hashes, starts) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Self { hashes, starts, messages: Vec::with_capacity(bytes), order: Vec::with_capacity(count) }
    }

    /// Returns true if the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the number of nodes and values.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the node at a position.
    pub fn get(&self, index: usize) -> Option<BatchNode<'_>> {
        let hash = self.hashes.get(index)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.messages.len());
        Some(BatchNode { hash, message: self.messages.get(start..end)? })
    }

    /// Iterates over the nodes. After a commit the nodes of a path follow each other, each before those below it.
    pub fn iter(&self) -> impl Iterator<Item = BatchNode<'_>> {
        self.order.iter().filter_map(|position| self.get(*position as usize))
    }

    /// Returns the hashes in the order of their positions.
    pub fn hashes(&self) -> &[B256] {
        &self.hashes
    }

    /// Returns the size of all messages in bytes.
    pub(crate) fn message_bytes(&self) -> usize {
        self.messages.len()
    }

    /// Returns the size in memory in bytes.
    pub fn bytes(&self) -> usize {
        self.messages.len() + self.len() * (size_of::<B256>() + size_of::<usize>() + size_of::<u32>())
    }

    /// Passes the encoded batch to `use_encoded`: the messages, the length of each in 3 bytes, and their number in 4 bytes
    /// (both big-endian). Hashes are computed again on decoding.
    pub fn with_encoded<T>(&mut self, use_encoded: impl FnOnce(&[u8]) -> T) -> T {
        let end = self.messages.len();
        let ends = self.starts.iter().skip(1).copied().chain([end]);
        for (start, end) in self.starts.iter().zip(ends) {
            // The trie rejects values of more than 2^24 - 1 bytes.
            let length = ((end - start) as u32).to_be_bytes();
            self.messages.extend(length.iter().skip(size_of::<u32>() - LENGTH_BYTES));
        }
        self.messages.extend((self.hashes.len() as u32).to_be_bytes());
        let result = use_encoded(&self.messages);
        self.messages.truncate(end);
        result
    }

    /// Decodes the result of [`NodeBatch::with_encoded`]; `None` if malformed.
    pub fn decode(encoded: &[u8]) -> Option<Self> {
        let (encoded, count) = encoded.split_last_chunk::<4>()?;
        let lengths = (u32::from_be_bytes(*count) as usize).checked_mul(LENGTH_BYTES)?;
        let (messages, lengths) = encoded.split_at(encoded.len().checked_sub(lengths)?);
        let (lengths, _) = lengths.as_chunks::<LENGTH_BYTES>();
        let (mut starts, mut parts, mut rest) = (Vec::new(), Vec::new(), messages);
        for [high, middle, low] in lengths {
            starts.push(messages.len() - rest.len());
            let (message, tail) = rest.split_at_checked(u32::from_be_bytes([0, *high, *middle, *low]) as usize)?;
            parts.push(message);
            rest = tail;
        }
        rest.is_empty().then(|| Self {
            hashes: keccak256_all(&parts),
            starts,
            messages: messages.to_vec(),
            order: (0..).take(parts.len()).collect(),
        })
    }

    /// Adds a message with a known hash.
    pub fn push(&mut self, hash: &B256, message: &[u8]) {
        let index = self.push_unhashed(|bytes| bytes.extend_from_slice(message));
        self.set_hash(index, hash);
        self.add_to_order([index].into_iter());
    }

    /// Adds positions to the end of the order of iteration.
    pub(crate) fn add_to_order(&mut self, positions: impl Iterator<Item = usize>) {
        // A batch has far fewer than 2^32 nodes.
        self.order.extend(positions.map(|position| position as u32));
    }

    /// Adds the message that `write` appends. [`NodeBatch::set_hash`] and [`NodeBatch::add_to_order`] must follow for the returned
    /// position.
    pub(crate) fn push_unhashed(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        self.starts.push(self.messages.len());
        self.hashes.push(B256::ZERO);
        write(&mut self.messages);
        self.hashes.len() - 1
    }

    /// Returns the message at a position; empty if the position is out of range.
    pub(crate) fn message_at(&self, index: usize) -> &[u8] {
        self.get(index).map_or(&[], |row| row.message)
    }

    pub(crate) fn set_hash(&mut self, index: usize, hash: &B256) {
        if let Some(target) = self.hashes.get_mut(index) {
            *target = *hash;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.starts.clear();
        self.messages.clear();
        self.order.clear();
    }

    pub(crate) fn append(&mut self, other: &NodeBatch) {
        let (start, first) = (self.messages.len(), self.len());
        self.add_to_order(other.order.iter().map(|position| first + *position as usize));
        self.hashes.extend_from_slice(&other.hashes);
        self.starts.extend(other.starts.iter().map(|other| start + other));
        self.messages.extend_from_slice(&other.messages);
    }
}

impl IntoIterator for NodeBatch {
    type Item = (B256, Bytes);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let copy = |row: BatchNode<'_>| (*row.hash, Bytes::copy_from_slice(row.message));
        self.iter().map(copy).collect::<Vec<_>>().into_iter()
    }
}

impl FromIterator<(B256, Bytes)> for NodeBatch {
    fn from_iter<I: IntoIterator<Item = (B256, Bytes)>>(nodes: I) -> Self {
        let mut rows = Self::default();
        rows.extend(nodes);
        rows
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
    use rhizome_primitives::keccak256;

    use super::*;

    fn rows(count: u32) -> NodeBatch {
        let messages = (0..count).map(|number| Bytes::from(vec![number as u8; number as usize * 7 % 300]));
        messages.map(|message| (keccak256(&message), message)).collect()
    }

    #[test]
    fn batches_yield_their_nodes_in_order() {
        let nodes = [(B256::with_last_byte(1), Bytes::from_static(b"one")), (B256::with_last_byte(2), Bytes::new())];
        let rows: NodeBatch = nodes.iter().cloned().collect();
        assert_eq!(rows.clone().into_iter().collect::<Vec<_>>(), nodes);
        assert_eq!((rows.len(), rows.is_empty(), rows.get(2)), (2, false, None));
        let mut twice = rows.clone();
        twice.append(&rows);
        assert_eq!(twice.into_iter().collect::<Vec<_>>(), [nodes.clone(), nodes].concat());
    }

    #[test]
    fn encoded_batches_round_trip_and_truncated_ones_are_rejected() {
        for count in [0, 1, 2, 100] {
            let mut rows = rows(count);
            let encoded = rows.with_encoded(<[u8]>::to_vec);
            assert_eq!(NodeBatch::decode(&encoded), Some(rows));
        }
        let encoded = rows(5).with_encoded(<[u8]>::to_vec);
        for length in 0..encoded.len() {
            assert_eq!(NodeBatch::decode(&encoded[..length]), None, "{length}");
            assert_eq!(NodeBatch::decode(&encoded[length + 1..]).filter(|rows| rows.len() == 5), None, "{length}");
        }
        assert_eq!(NodeBatch::decode(&[0xff; 40]), None);
    }
}
