//! Sync form of a node: without the hashes of its children, and with the whole of a long value (docs/spec/p2p.md, 10.4).

use rhizome_primitives::{B256, Bytes, keccak256};

use super::SnapChunkError;
use crate::error::TrieError;
use crate::message::{
    HAS_LEFT, HAS_PATH, HAS_RIGHT, Input, LEFT_EMBEDDED, LONG_VALUE, MAX_VALUE_LENGTH, NodeMessageError,
    RIGHT_EMBEDDED, write_path, write_varint,
};
use crate::node::{Link, TrieNode};
use crate::path::Path;
use crate::trie::Trie;

/// Child in a sync form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncChild<'a> {
    None,
    /// A node that is not embedded. Its hash is not part of the form.
    Outside,
    /// The sync form of an embedded child.
    Embedded(&'a [u8]),
}

/// Fields of a sync form. Parts that the message of the node repeats are kept as received.
#[derive(Debug)]
pub(super) struct SyncForm<'a> {
    flags: u8,
    path_field: &'a [u8],
    pub(super) path: Path,
    pub(super) left: SyncChild<'a>,
    pub(super) right: SyncChild<'a>,
    children_size_field: &'a [u8],
    pub(super) children_size: u64,
    value: &'a [u8],
}

/// Message of a node, and the bytes that the node takes.
#[derive(Debug)]
pub(super) struct RebuiltMessage {
    pub(super) bytes: Vec<u8>,
    /// Length of the message and of a long value.
    pub(super) own_size: u64,
    /// The same of the embedded children.
    pub(super) embedded_size: u64,
}

impl<'a> SyncForm<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<SyncForm<'a>, SnapChunkError> {
        let mut input = Input(bytes);
        let flags = input.byte()?;
        let has = |mask: u8| flags & mask != 0;
        let start = input.0;
        let path = if has(HAS_PATH) { input.path()? } else { Path::default() };
        let path_field = read_since(start, &input);
        let left = child(&mut input, has(HAS_LEFT), has(LEFT_EMBEDDED))?;
        let right = child(&mut input, has(HAS_RIGHT), has(RIGHT_EMBEDDED))?;
        let start = input.0;
        let children_size = if has(HAS_LEFT) || has(HAS_RIGHT) { input.varint()? } else { 0 };
        let children_size_field = read_since(start, &input);
        let value = input.0;
        if value.len() > MAX_VALUE_LENGTH {
            return Err(SnapChunkError::ValueLength(value.len()));
        }
        Ok(SyncForm { flags, path_field, path, left, right, children_size_field, children_size, value })
    }

    /// Returns the message of the node with the hashes of its children.
    pub(super) fn message(&self, left: Option<&B256>, right: Option<&B256>) -> Result<RebuiltMessage, SnapChunkError> {
        let mut bytes = Vec::with_capacity(self.path_field.len() + 128);
        let mut embedded_size = 0;
        bytes.push(self.flags);
        bytes.extend_from_slice(self.path_field);
        for (child, hash) in [(self.left, left), (self.right, right)] {
            match (child, hash) {
                (SyncChild::None, None) => {}
                (SyncChild::Outside, Some(hash)) => bytes.extend_from_slice(hash.as_slice()),
                (SyncChild::Embedded(form), None) => {
                    let message = SyncForm::parse_embedded(form)?.message(None, None)?;
                    bytes.push(u8::try_from(message.bytes.len()).or(Err(SnapChunkError::Embedding))?);
                    bytes.extend_from_slice(&message.bytes);
                    embedded_size += message.own_size;
                }
                _ => return Err(SnapChunkError::ChildHash),
            }
        }
        bytes.extend_from_slice(self.children_size_field);
        let mut outside_size = 0;
        match self.long_value() {
            None => bytes.extend_from_slice(self.value),
            Some(value) => {
                bytes.extend_from_slice(keccak256(value).as_slice());
                // Checked when the form was read: fits into three bytes.
                let [_, length @ ..] = (value.len() as u32).to_be_bytes();
                bytes.extend_from_slice(&length);
                outside_size = value.len() as u64;
            }
        }
        Ok(RebuiltMessage { own_size: bytes.len() as u64 + outside_size, embedded_size, bytes })
    }

    /// Parses an embedded node, which has no children.
    fn parse_embedded(bytes: &'a [u8]) -> Result<SyncForm<'a>, SnapChunkError> {
        let form = SyncForm::parse(bytes)?;
        let is_terminal = form.left == SyncChild::None && form.right == SyncChild::None;
        if is_terminal { Ok(form) } else { Err(SnapChunkError::Embedding) }
    }

    fn long_value(&self) -> Option<&'a [u8]> {
        (self.flags & LONG_VALUE != 0).then_some(self.value)
    }

    /// Appends the long values of the node and of its embedded children.
    pub(super) fn long_values(&self, out: &mut Vec<(B256, Vec<u8>)>) -> Result<(), SnapChunkError> {
        if let Some(value) = self.long_value() {
            out.push((keccak256(value), value.to_vec()));
        }
        for child in [self.left, self.right] {
            if let SyncChild::Embedded(form) = child {
                SyncForm::parse_embedded(form)?.long_values(out)?;
            }
        }
        Ok(())
    }

    /// Appends key and value of the node and of its embedded children. `above`: key bits above the node.
    pub(super) fn entries(&self, mut above: Path, out: &mut Vec<(Vec<u8>, Bytes)>) -> Result<(), SnapChunkError> {
        above.append(self.path.all_bits());
        if !self.value.is_empty() {
            if !above.len().is_multiple_of(8) {
                return Err(SnapChunkError::KeyLength(above.len()));
            }
            out.push((above.bytes().to_vec(), Bytes::copy_from_slice(self.value)));
        }
        for (bit, child) in [(false, self.left), (true, self.right)] {
            if let SyncChild::Embedded(form) = child {
                let mut below = above.clone();
                below.push(bit);
                SyncForm::parse_embedded(form)?.entries(below, out)?;
            }
        }
        Ok(())
    }
}

/// Returns the bytes from `start` up to the unread part.
fn read_since<'a>(start: &'a [u8], input: &Input<'a>) -> &'a [u8] {
    start.get(..start.len() - input.0.len()).unwrap_or_default()
}

fn child<'a>(input: &mut Input<'a>, is_present: bool, is_embedded: bool) -> Result<SyncChild<'a>, NodeMessageError> {
    Ok(match (is_present, is_embedded) {
        (false, _) => SyncChild::None,
        (true, false) => SyncChild::Outside,
        (true, true) => {
            let &[a, b, c] = input.array::<3>()?;
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            SyncChild::Embedded(input.take(length)?)
        }
    })
}

/// Returns the sync form of a node.
pub(super) fn sync_form(trie: &Trie, node: &TrieNode) -> Result<Vec<u8>, TrieError> {
    let mut out: Vec<u8> = node.message().into_iter().take(1).collect();
    write_path(node.path(), &mut out);
    for link in [node.left(), node.right()] {
        if let Some(child) = link.embedded() {
            let form = sync_form(trie, child)?;
            // At most a long value and the bytes of an embedded message: fits into three bytes unless the value is near
            // the limit of the trie.
            let length = u32::try_from(form.len()).unwrap_or(u32::MAX);
            let [high, length @ ..] = length.to_be_bytes();
            if high != 0 {
                return Err(TrieError::ValueTooLong { length: form.len() });
            }
            out.extend_from_slice(&length);
            out.extend_from_slice(&form);
        }
    }
    if !node.is_terminal() {
        write_varint(node.children_size, &mut out);
    }
    out.extend_from_slice(&trie.value_bytes(node.value())?.unwrap_or_default());
    Ok(out)
}

/// Returns the hash of a child that is not embedded.
pub(super) fn outside_hash(link: &Link) -> Option<B256> {
    if link.embedded().is_some() { None } else { link.hash() }
}
