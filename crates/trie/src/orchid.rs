//! Roots in the format before RSKIP-107, for blocks without RSKIP-126 (docs/spec/state.md, 2).

use rhizome_primitives::{B256, EMPTY_ROOT, keccak256};

use crate::error::TrieError;
use crate::node::Link;
use crate::path::Path;
use crate::source::{NodePosition, NodeSource};
use crate::trie::Trie;
use crate::value::NodeValue;

const ARITY: u8 = 2;
const SECURE: u8 = 1;
const LONG_VALUE: u8 = 2;
const LEFT: u8 = 1;
const RIGHT: u8 = 2;

impl Trie {
    /// Returns the root of the same map in the old format. `is_secure` is part of every node: true for states and
    /// storage, whose keys are hashed, false for lists. Reads the whole trie.
    pub fn orchid_root(&self, is_secure: bool) -> Result<B256, TrieError> {
        let root = orchid_hash(&self.root, is_secure, &*self.source, &mut Path::default())?;
        Ok(root.unwrap_or(EMPTY_ROOT))
    }
}

/// `above`: key bits above the node; as before afterwards.
fn orchid_hash(
    link: &Link,
    is_secure: bool,
    source: &dyn NodeSource,
    above: &mut Path,
) -> Result<Option<B256>, TrieError> {
    let Some(node) = link.peek(source, NodePosition::below_path(above))? else { return Ok(None) };
    let length = above.len();
    above.append(node.path());
    let end = above.len();
    let mut child = |bit: bool| {
        above.push(bit);
        let hash = orchid_hash(node.child(bit), is_secure, source, above);
        above.truncate(end);
        hash
    };
    let (left, right) = (child(false)?, child(true)?);
    above.truncate(length);
    let mut message = Vec::with_capacity(6 + node.path().bytes().len() + 3 * 32);
    let secure = if is_secure { SECURE } else { 0 };
    let long = if matches!(node.value(), NodeValue::Long { .. }) { LONG_VALUE } else { 0 };
    let children = left.map_or(0, |_| LEFT) | right.map_or(0, |_| RIGHT);
    // The field has two bytes. No key of that format is longer; the reference drops higher bits too.
    let [.., high, low] = node.path().len().to_be_bytes();
    message.extend_from_slice(&[ARITY, secure | long, 0, children, high, low]);
    message.extend_from_slice(node.path().bytes());
    for hash in [left, right].into_iter().flatten() {
        message.extend_from_slice(hash.as_slice());
    }
    match node.value() {
        NodeValue::None => {}
        NodeValue::Short(bytes) => message.extend_from_slice(bytes),
        NodeValue::Long { value, .. } => message.extend_from_slice(value.hash().as_slice()),
    }
    Ok(Some(keccak256(message)))
}
