//! Rows of trie nodes by their positions: the result of a flush.

use std::mem;

use crate::source::NodePosition;

/// Rows of a source that finds nodes by position: the messages of new nodes, and the positions that have no node any more. In the order of
/// [`NodePosition::row_key`], each position once. A flush has a hundred thousand rows, so all share two allocations.
#[derive(Debug, Default)]
pub struct NodeRows {
    /// Row key and message of each row, one behind the other.
    bytes: Vec<u8>,
    rows: Vec<RowPlace>,
}

/// Place of a row in the bytes.
#[derive(Debug, Clone, Copy)]
struct RowPlace {
    start: usize,
    key_length: u32,
    /// 0 at a position without a node: no message is empty.
    message_length: u32,
}

impl NodeRows {
    /// Creates a list with room for `bytes` bytes of keys and messages.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), rows: Vec::new() }
    }

    /// Adds the row of a node, or of a position without one, behind all others.
    pub fn push(&mut self, key: &[u8], message: Option<&[u8]>) {
        let row = self
            .append(|bytes| bytes.extend_from_slice(key), |bytes| bytes.extend_from_slice(message.unwrap_or_default()));
        self.rows.push(row);
    }

    /// Adds the row of a node whose message `write` appends. Nodes before those below them, left ones before right ones.
    pub(crate) fn push_node(&mut self, position: NodePosition<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        let row = self.append(|bytes| position.write_row_key(bytes), write);
        self.rows.push(row);
    }

    /// Appends a key and a message to the bytes.
    fn append(&mut self, write_key: impl FnOnce(&mut Vec<u8>), write_message: impl FnOnce(&mut Vec<u8>)) -> RowPlace {
        let start = self.bytes.len();
        write_key(&mut self.bytes);
        let message = self.bytes.len();
        write_message(&mut self.bytes);
        // Keys have at most 75 bytes, messages some hundred.
        let (key_length, message_length) = ((message - start) as u32, (self.bytes.len() - message) as u32);
        RowPlace { start, key_length, message_length }
    }

    fn key(&self, row: RowPlace) -> &[u8] {
        self.bytes.get(row.start..row.start + row.key_length as usize).unwrap_or_default()
    }

    /// Orders the rows of nodes, and adds `vacated` (sorted, each once): row keys that belong to no node unless there is a row already.
    pub(crate) fn complete(mut self, vacated: &[Vec<u8>]) -> Self {
        self.sort();
        let nodes = mem::take(&mut self.rows);
        let mut merged = Vec::with_capacity(nodes.len());
        let mut rest = &nodes[..];
        for key in vacated.iter().map(Vec::as_slice) {
            let (before, from) = rest.split_at(rest.partition_point(|row| self.key(*row) < key));
            if from.first().is_none_or(|row| self.key(*row) != key) {
                merged.extend_from_slice(before);
                merged.push(self.append(|bytes| bytes.extend_from_slice(key), |_no_message| ()));
                rest = from;
            }
        }
        merged.extend_from_slice(rest);
        self.rows = merged;
        self
    }

    /// Moves rows to their places. Nodes come in the order of their keys already, except those whose bits end within a byte: their keys
    /// end with the number of used bits, which puts them behind few of the nodes below them.
    fn sort(&mut self) {
        let mut rows = mem::take(&mut self.rows);
        for index in (0..rows.len()).rev() {
            let Some((row, below)) = rows.get(index..).and_then(<[RowPlace]>::split_first) else { continue };
            let key = self.key(*row);
            if below.first().is_some_and(|next| self.key(*next) < key) {
                let passed = below.partition_point(|next| self.key(*next) < key);
                if let Some(moved) = rows.get_mut(index..=index + passed) {
                    moved.rotate_left(1);
                }
            }
        }
        self.rows = rows;
    }

    /// Iterates over the row keys and messages. `None`: the position has no node.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.rows.iter().map(|row| {
            let message = row.start + row.key_length as usize;
            let message = self.bytes.get(message..message + row.message_length as usize);
            (self.key(*row), message.filter(|message| !message.is_empty()))
        })
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the size of all keys and messages.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_keys() {
        // All positions of up to 17 bits, each before those below it: every case of bits that end within a byte.
        fn add(rows: &mut NodeRows, bits: usize, key: u32) {
            let key_bytes = key.to_be_bytes();
            rows.push_node(NodePosition::below(&key_bytes, bits), |bytes| bytes.push(7));
            if bits < 17 {
                add(rows, bits + 1, key);
                add(rows, bits + 1, key | 1 << (31 - bits));
            }
        }
        let mut rows = NodeRows::default();
        add(&mut rows, 0, 0);
        let present = rows.key(rows.rows[1000]).to_vec();
        let rows = rows.complete(&[present.clone(), vec![0xff, 0xff, 0xff, 0]]);
        assert_eq!(rows.len(), (1 << 18) - 1 + 1);
        assert!(rows.iter().is_sorted_by(|one, other| one.0 < other.0));
        let vacant: Vec<_> = rows.iter().filter(|(_, message)| message.is_none()).collect();
        assert_eq!(vacant, [(&[0xff, 0xff, 0xff, 0][..], None)]);
        assert!(rows.iter().any(|row| row == (&present, Some(&[7]))));
    }
}
