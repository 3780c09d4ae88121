//! Iteration in key order.

use std::sync::Arc;

use rhizome_primitives::Bytes;

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::{Path, bit};
use crate::source::NodePosition;
use crate::trie::Trie;
use crate::value::NodeValue;

/// Iterator over keys and values in lexicographic order. Ends after an error.
///
/// Nodes are loaded when they are reached and dropped afterwards, so that memory stays bounded in a large state.
pub struct TrieEntries {
    trie: Trie,
    /// Prefix of the keys; taken by the first step, which searches the subtree.
    prefix: Option<Vec<u8>>,
    /// Subtrees to visit, with the key length above each and the bit that leads to it.
    pending: Vec<(Link, usize, Option<bool>)>,
    key: Path,
    max_bits: usize,
}

impl TrieEntries {
    pub(crate) fn new(trie: &Trie, prefix: &[u8], max_length: usize) -> TrieEntries {
        TrieEntries {
            trie: trie.clone(),
            prefix: Some(prefix.to_vec()),
            pending: Vec::new(),
            key: Path::default(),
            max_bits: max_length.saturating_mul(8),
        }
    }

    /// Returns the highest subtree whose keys all begin with `prefix`; `key` becomes the key bits above it.
    fn seek(&mut self, prefix: &[u8]) -> Result<Option<Link>, TrieError> {
        let mut link = self.trie.root.clone();
        loop {
            let position = NodePosition::below_path(&self.key);
            let Some(node) = link.peek(&*self.trie.source, position)? else { return Ok(None) };
            let (at, wanted) = (self.key.len(), prefix.len() * 8);
            let common = node.path().common_with_key(prefix, at);
            if at + common == wanted {
                return Ok(Some(link));
            }
            if common < node.path().len() {
                return Ok(None);
            }
            self.key.append(node.path());
            let next = bit(prefix, self.key.len());
            self.key.push(next);
            link = node.child(next).clone();
        }
    }

    /// Iterates over the keys only, without reading long values.
    pub fn keys(self) -> TrieKeys {
        TrieKeys { entries: self }
    }

    /// Returns the next node with a value; its key is in `self.key`.
    fn next_node(&mut self) -> Result<Option<Arc<TrieNode>>, TrieError> {
        if let Some(prefix) = self.prefix.take()
            && let Some(start) = self.seek(&prefix)?
        {
            self.pending.push((start, self.key.len(), None));
        }
        while let Some((link, above, step)) = self.pending.pop() {
            self.key.truncate(above);
            if let Some(step) = step {
                self.key.push(step);
            }
            let position = NodePosition::below_path(&self.key);
            let Some(node) = link.peek(&*self.trie.source, position)? else { continue };
            self.key.append(node.path());
            let length = self.key.len();
            if length > self.max_bits {
                continue;
            }
            if length < self.max_bits {
                self.pending.push((node.right().clone(), length, Some(true)));
                self.pending.push((node.left().clone(), length, Some(false)));
            }
            if !node.value().is_none() {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    fn next_value<T>(
        &mut self,
        read: impl FnOnce(&Trie, &[u8], &NodeValue) -> Result<T, TrieError>,
    ) -> Option<Result<T, TrieError>> {
        let result = match self.next_node() {
            Ok(None) => return None,
            Ok(Some(node)) => read(&self.trie, self.key.bytes(), node.value()),
            Err(error) => Err(error),
        };
        if result.is_err() {
            self.pending.clear();
        }
        Some(result)
    }
}

impl Iterator for TrieEntries {
    type Item = Result<(Vec<u8>, Bytes), TrieError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_value(|trie, key, value| Ok((key.to_vec(), trie.value_bytes(value)?.unwrap_or_default())))
    }
}

/// Iterator over the keys of [`TrieEntries`].
pub struct TrieKeys {
    entries: TrieEntries,
}

impl Iterator for TrieKeys {
    type Item = Result<Vec<u8>, TrieError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next_value(|_, key, _| Ok(key.to_vec()))
    }
}
