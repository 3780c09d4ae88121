//! New nodes as one run of bytes: how they leave the trie, and how a database may keep them until it has sorted them.

use std::iter;

use rhizome_primitives::{B256, Bytes};

const HASH_BYTES: usize = 32;
/// Hash and length in front of the bytes.
const HEAD_BYTES: usize = HASH_BYTES + 4;

/// Node messages and long values with their Keccak hashes: `hash ‖ length (4 bytes, big-endian) ‖ bytes`, one after the
/// other. A block adds thousands of them, and one allocation for all is a good deal cheaper than one for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeRows {
    bytes: Vec<u8>,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeRow<'a> {
    /// Keccak of the message, 32 bytes.
    pub hash: &'a [u8],
    /// Bytes of a node, or a long value.
    pub message: &'a [u8],
    /// Where the next row starts.
    pub end: usize,
}

impl<'a> NodeRow<'a> {
    /// The row that starts at `start`; None when there is no complete one.
    pub fn at(rows: &'a [u8], start: usize) -> Option<Self> {
        let (hash, rest) = rows.get(start..)?.split_at_checked(HASH_BYTES)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        Some(Self { hash, message: rest.get(..length)?, end: start + HEAD_BYTES + length })
    }
}

impl NodeRows {
    /// No rows, and room for so many bytes of them.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The rows in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = NodeRow<'_>> {
        let mut start = 0;
        iter::from_fn(move || {
            let row = NodeRow::at(&self.bytes, start)?;
            start = row.end;
            Some(row)
        })
    }

    /// All rows as they stand.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a message whose hash is known.
    pub fn push(&mut self, hash: &B256, message: &[u8]) {
        let start = self.push_unhashed(message.len(), |bytes| bytes.extend_from_slice(message));
        self.set_hash(start, hash);
    }

    /// Adds the message of `length` bytes that `write` appends, to be followed by [`NodeRows::set_hash`] at the place that
    /// is returned.
    pub(crate) fn push_unhashed(&mut self, length: usize, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        self.bytes.reserve(HEAD_BYTES + length);
        self.bytes.extend_from_slice(&[0; HASH_BYTES]);
        // The trie refuses values of more than 2^24 - 1 bytes.
        self.bytes.extend_from_slice(&(length as u32).to_be_bytes());
        write(&mut self.bytes);
        start
    }

    /// The message of the row that starts at `start`; empty if there is none.
    pub(crate) fn message_at(&self, start: usize) -> &[u8] {
        NodeRow::at(&self.bytes, start).map_or(&[], |row| row.message)
    }

    pub(crate) fn set_hash(&mut self, start: usize, hash: &B256) {
        if let Some(place) = self.bytes.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
            *place = hash.0;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn append(&mut self, other: &NodeRows) {
        self.bytes.extend_from_slice(&other.bytes);
    }
}

impl From<NodeRows> for Vec<u8> {
    fn from(rows: NodeRows) -> Self {
        rows.bytes
    }
}

impl IntoIterator for NodeRows {
    type Item = (B256, Bytes);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let copy = |row: NodeRow<'_>| (B256::from_slice(row.hash), Bytes::copy_from_slice(row.message));
        self.iter().map(copy).collect::<Vec<_>>().into_iter()
    }
}

impl FromIterator<(B256, Bytes)> for NodeRows {
    fn from_iter<I: IntoIterator<Item = (B256, Bytes)>>(nodes: I) -> Self {
        let mut rows = Self::default();
        rows.extend(nodes);
        rows
    }
}

impl Extend<(B256, Bytes)> for NodeRows {
    fn extend<I: IntoIterator<Item = (B256, Bytes)>>(&mut self, nodes: I) {
        for (hash, message) in nodes {
            self.push(&hash, &message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let nodes = [(B256::with_last_byte(1), Bytes::from_static(b"one")), (B256::with_last_byte(2), Bytes::new())];
        let rows: NodeRows = nodes.iter().cloned().collect();
        assert_eq!(rows.clone().into_iter().collect::<Vec<_>>(), nodes);
        assert!(!rows.is_empty());
        for length in 0..rows.as_bytes().len() {
            let cut = NodeRow::at(&rows.as_bytes()[..length], 0);
            assert_eq!(cut.is_some(), length >= HEAD_BYTES + 3, "{length}");
        }
    }
}
