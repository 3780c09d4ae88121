//! Trie nodes and the links to their children.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rhizome_primitives::{B256, keccak256};

use crate::cache_lines::SUBTREE_CHANGES;
use crate::error::TrieError;
use crate::hash_cell::HashCell;
use crate::hashing::HashLevels;
use crate::message::{
    ChildPart, EMBEDDING_LIMIT, Flags, NodeMessage, NodeMessageError, path_size, varint_size, write_path, write_varint,
};
use crate::node_batch::NodeBatch;
use crate::node_content::NodeContent;
use crate::node_rows::NodeRows;
use crate::path::{NodePath, Path, PathBits};
use crate::record::{NodePlace, SourceNode, WantedNode};
use crate::source::{NodePosition, NodeSource};
use crate::value::NodeValue;

/// Reference to a subtree. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) enum Link {
    #[default]
    Empty,
    /// In memory, committed or not. With the place of a committed node that is not embedded.
    Loaded(Arc<TrieNode>, NodePlace),
    /// In the source; loaded by the first use, for all clones of the link.
    Stored(Arc<StoredNode>),
}

/// Node in the source, with its loaded form.
#[derive(Debug)]
pub(crate) struct StoredNode {
    hash: B256,
    place: NodePlace,
    node: OnceLock<Arc<TrieNode>>,
}

/// Node of the trie. Its lengths are always known, its hash is computed on demand.
///
/// Known lengths mean that a change never loads the siblings on its path: the children size of a parent changes by the
/// difference between the old child and the new one.
///
/// Takes 128 bytes with its counts of links, two cache lines: changes wait for the memory most of the time.
#[derive(Clone, Debug)]
pub(crate) struct TrieNode {
    path: NodePath,
    pub(crate) content: NodeContent,
    /// Size in bytes of everything below this node, as in the message.
    pub(crate) children_size: u64,
    message_length: u32,
    below_left: ChildInfo,
    below_right: ChildInfo,
    /// Number of the last change of the trie that went through this node, 0 if none did.
    pub(crate) last_used: u32,
    /// True if the source has this node (inside its parent if embedded), or a commit or flush has returned it.
    is_saved: SavedFlag,
    hash: HashCell,
}

/// Flag that a flush sets in nodes that other versions share.
#[derive(Debug)]
struct SavedFlag(AtomicBool);

impl SavedFlag {
    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, is_saved: bool) {
        self.0.store(is_saved, Ordering::Relaxed);
    }
}

impl Clone for SavedFlag {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.get()))
    }
}

/// Summary of a child, so that a change of one child does not load the other: the length of the message of an embedded child,
/// otherwise 0, with [`ChildInfo::UNSAVED`].
#[derive(Clone, Copy, Debug, Default)]
struct ChildInfo(u8);

impl ChildInfo {
    /// Set if anything in the child is not committed. Can be set for a child that was committed or flushed.
    const UNSAVED: u8 = 0x80;

    fn embedded_length(self) -> u8 {
        self.0 & !Self::UNSAVED
    }

    fn is_unsaved(self) -> bool {
        self.0 & Self::UNSAVED != 0
    }

    /// Removes the mark of a child that is not committed. Returns true if it was set.
    fn take_unsaved(&mut self) -> bool {
        let is_unsaved = self.is_unsaved();
        self.0 &= !Self::UNSAVED;
        is_unsaved
    }
}

impl Link {
    pub(crate) fn stored(hash: B256, place: NodePlace) -> Link {
        Link::Stored(Arc::new(StoredNode { hash, place, node: OnceLock::new() }))
    }

    /// Creates a link to a node that is not committed, or is embedded in its parent.
    pub(crate) fn loaded(node: TrieNode) -> Link {
        Link::Loaded(Arc::new(node), NodePlace::UNKNOWN)
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Link::Empty)
    }

    /// Returns the node if it is in memory.
    pub(crate) fn in_memory(&self) -> Option<&Arc<TrieNode>> {
        match self {
            Link::Empty => None,
            Link::Loaded(node, _) => Some(node),
            Link::Stored(stored) => stored.node.get(),
        }
    }

    /// Returns the node; loads it and keeps it in memory if necessary.
    pub(crate) fn node(
        &self,
        source: &dyn NodeSource,
        position: NodePosition<'_>,
    ) -> Result<Option<&Arc<TrieNode>>, TrieError> {
        match self {
            Link::Empty => Ok(None),
            Link::Loaded(node, _) => Ok(Some(node)),
            Link::Stored(stored) => {
                if let Some(node) = stored.node.get() {
                    return Ok(Some(node));
                }
                let node = stored.load(source, position)?;
                // Two threads may load the same node; both results are equal.
                Ok(Some(stored.node.get_or_init(|| node)))
            }
        }
    }

    /// Returns the node for a change: a copy if other links share it.
    pub(crate) fn node_mut(
        &mut self,
        source: &dyn NodeSource,
        position: NodePosition<'_>,
    ) -> Result<Option<&mut TrieNode>, TrieError> {
        if let Link::Stored(stored) = self {
            let unshared = Arc::get_mut(stored).and_then(|stored| stored.node.take());
            let node = match unshared.or_else(|| stored.node.get().cloned()) {
                Some(node) => node,
                None => stored.load(source, position)?,
            };
            *self = Link::Loaded(node, stored.place);
        }
        match self {
            Link::Loaded(node, _) => Ok(Some(Arc::make_mut(node))),
            Link::Empty | Link::Stored(_) => Ok(None),
        }
    }

    /// Returns the node if it is in memory and no other link shares it.
    pub(crate) fn unshared_node(&mut self) -> Option<&mut TrieNode> {
        match self {
            Link::Empty => None,
            Link::Loaded(node, _) => Arc::get_mut(node),
            Link::Stored(stored) => Arc::get_mut(Arc::get_mut(stored)?.node.get_mut()?),
        }
    }

    /// Returns the node without keeping a loaded one in memory, for walks over whole subtrees.
    pub(crate) fn peek(
        &self,
        source: &dyn NodeSource,
        position: NodePosition<'_>,
    ) -> Result<Option<Arc<TrieNode>>, TrieError> {
        match self {
            Link::Stored(stored) if stored.node.get().is_none() => stored.load(source, position).map(Some),
            _ => Ok(self.in_memory().cloned()),
        }
    }

    /// Returns the hash of the node.
    pub(crate) fn hash(&self) -> Option<B256> {
        match self {
            Link::Empty => None,
            Link::Loaded(node, _) => Some(node.hash()),
            Link::Stored(stored) => Some(stored.hash),
        }
    }

    /// Returns the place of the node, if it is committed.
    pub(crate) fn place(&self) -> NodePlace {
        match self {
            Link::Empty => NodePlace::UNKNOWN,
            Link::Loaded(_, place) => *place,
            Link::Stored(stored) => stored.place,
        }
    }

    /// Returns the child if its message is embedded in that of its parent.
    pub(crate) fn embedded(&self) -> Option<&Arc<TrieNode>> {
        match self {
            Link::Loaded(node, _) if node.is_embeddable() => Some(node),
            _ => None,
        }
    }

    fn summary(&self) -> ChildInfo {
        match self {
            Link::Loaded(node, _) => {
                // At most EMBEDDING_LIMIT.
                let embedded_length = if node.is_embeddable() { node.message_length as u8 } else { 0 };
                ChildInfo(embedded_length | if node.is_saved() { 0 } else { ChildInfo::UNSAVED })
            }
            Link::Empty | Link::Stored(_) => ChildInfo::default(),
        }
    }

    /// Returns presence and embedding, for the flags of the parent's message.
    fn flags(&self, below: ChildInfo) -> (bool, bool) {
        (!self.is_empty(), below.embedded_length() > 0)
    }

    /// Returns the number of bytes that the child takes in the message of its parent.
    fn message_size(&self, below: ChildInfo) -> usize {
        match (self.is_empty(), below.embedded_length()) {
            (true, _) => 0,
            (false, 0) => 32,
            (false, length) => 1 + usize::from(length),
        }
    }

    fn write(&self, below: ChildInfo, out: &mut Vec<u8>) {
        match (self, below.embedded_length()) {
            (Link::Loaded(node, _), length @ 1..) => {
                out.push(length);
                node.write(out);
            }
            _ => out.extend_from_slice(self.hash().as_ref().map_or(&[], B256::as_slice)),
        }
    }

    /// Reads the cache line with the hash. The result has no meaning.
    fn read_hash(&self) -> u8 {
        match self {
            Link::Empty => 0,
            Link::Loaded(node, _) => node.hash.get().map_or(0, |hash| hash[0]),
            Link::Stored(stored) => stored.hash[0],
        }
    }
}

impl StoredNode {
    pub(crate) fn hash(&self) -> B256 {
        self.hash
    }

    /// Returns the node if it is in memory.
    pub(crate) fn loaded(&self) -> Option<&Arc<TrieNode>> {
        self.node.get()
    }

    /// Sets the node, unless another thread has.
    pub(crate) fn set(&self, node: Arc<TrieNode>) {
        self.node.get_or_init(|| node);
    }

    /// Returns what a source needs to find the node.
    pub(crate) fn wanted<'a>(&self, position: NodePosition<'a>) -> WantedNode<'a> {
        WantedNode { position, hash: self.hash, place: self.place }
    }

    fn load(&self, source: &dyn NodeSource, position: NodePosition<'_>) -> Result<Arc<TrieNode>, TrieError> {
        TrieNode::from_source(self.hash, source.node(&self.wanted(position))?)
    }

    /// Sets the node as the source has it.
    pub(crate) fn fill(&self, found: Option<SourceNode>) -> Result<(), TrieError> {
        self.set(TrieNode::from_source(self.hash, found)?);
        Ok(())
    }
}

impl TrieNode {
    /// Creates a node. `children_size` is the sum of [`TrieNode::size`] of the children.
    pub(crate) fn new(path: Path, value: NodeValue, left: Link, right: Link, children_size: u64) -> TrieNode {
        Self::with_fields(path, value, left, right, children_size, false)
    }

    pub(crate) fn leaf(path: Path, value: NodeValue) -> TrieNode {
        TrieNode::new(path, value, Link::Empty, Link::Empty, 0)
    }

    /// Creates a leaf that the source has.
    pub(crate) fn saved_leaf(path: Path, value: NodeValue) -> TrieNode {
        Self::with_fields(path, value, Link::Empty, Link::Empty, 0, true)
    }

    fn with_fields(
        path: Path,
        value: NodeValue,
        left: Link,
        right: Link,
        children_size: u64,
        is_saved: bool,
    ) -> TrieNode {
        let mut node = TrieNode {
            below_left: left.summary(),
            below_right: right.summary(),
            path: path.into(),
            content: NodeContent::new(value, left, right),
            children_size,
            message_length: 0,
            last_used: 0,
            is_saved: SavedFlag(AtomicBool::new(is_saved)),
            hash: HashCell::default(),
        };
        node.measure();
        node
    }

    fn measure(&mut self) {
        let length = 1
            + path_size(self.path())
            + self.left().message_size(self.below_left)
            + self.right().message_size(self.below_right)
            + if self.is_terminal() { 0 } else { varint_size(self.children_size) }
            + self.value().message_size();
        // A key of 4 GB is impossible.
        self.message_length = length as u32;
    }

    /// Updates lengths after a change of the value or of the stated children. `children_size` as in [`TrieNode::new`].
    pub(crate) fn changed(&mut self, is_left: bool, is_right: bool, children_size: u64) {
        if is_left {
            self.below_left = self.left().summary();
        }
        if is_right {
            self.below_right = self.right().summary();
        }
        self.children_size = children_size;
        self.is_saved.set(false);
        self.hash = HashCell::default();
        self.measure();
    }

    pub(crate) fn set_path(&mut self, path: Path) {
        self.path = path.into();
        self.changed(false, false, self.children_size);
    }

    pub(crate) fn from_source(hash: B256, found: Option<SourceNode>) -> Result<Arc<TrieNode>, TrieError> {
        let SourceNode { message, children } = found.ok_or(TrieError::MissingNode { hash })?;
        let message = NodeMessage::parse(&message).and_then(|message| Self::from_message(message, children));
        let node = message.map_err(|reason| TrieError::Message { hash, reason })?;
        // The source is trusted for the hash: hashing again would cost more than the look-up.
        Ok(Arc::new(TrieNode { hash: HashCell::known(hash), ..node }))
    }

    /// `places`: those of the children that the message has by their hashes.
    fn from_message(message: NodeMessage<'_>, places: [NodePlace; 2]) -> Result<TrieNode, NodeMessageError> {
        let mut places = places.into_iter();
        let mut child = |part: ChildPart<'_>| match part {
            ChildPart::None => Ok(Link::Empty),
            ChildPart::Hash(hash) => Ok(Link::stored(hash, places.next().unwrap_or_default())),
            ChildPart::Embedded(bytes) => {
                Ok(Link::loaded(Self::from_message(NodeMessage::parse_embedded(bytes)?, [NodePlace::UNKNOWN; 2])?))
            }
        };
        let (left, right) = (child(message.left)?, child(message.right)?);
        let value = NodeValue::from_part(message.value);
        Ok(Self::with_fields(message.path, value, left, right, message.children_size, true))
    }

    pub(crate) fn path(&self) -> PathBits<'_> {
        self.path.bits()
    }

    pub(crate) fn value(&self) -> &NodeValue {
        self.content.value()
    }

    pub(crate) fn left(&self) -> &Link {
        self.content.left()
    }

    pub(crate) fn right(&self) -> &Link {
        self.content.right()
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.left().is_empty() && self.right().is_empty()
    }

    pub(crate) fn is_embeddable(&self) -> bool {
        self.message_length as usize <= EMBEDDING_LIMIT && self.is_terminal()
    }

    /// Iterates over the children that are not fully committed.
    pub(crate) fn unsaved_children(&self) -> impl Iterator<Item = &Arc<TrieNode>> {
        let children = [(self.left(), self.below_left), (self.right(), self.below_right)];
        children.into_iter().filter_map(|(link, below)| match link {
            Link::Loaded(node, _) if below.is_unsaved() && !node.is_saved() => Some(node),
            _ => None,
        })
    }

    /// Returns the same node with links that hold other parts of the same children in memory.
    pub(crate) fn with_links(&self, left: Link, right: Link) -> TrieNode {
        TrieNode { content: NodeContent::new(self.value().clone(), left, right), ..self.clone() }
    }

    /// Returns the child in the direction of `bit`.
    pub(crate) fn child(&self, bit: bool) -> &Link {
        if bit { self.right() } else { self.left() }
    }

    /// Reads a field in each cache line. The result has no meaning.
    pub(crate) fn read_all_parts(&self) -> usize {
        self.path().len() ^ (self.message_length ^ self.last_used) as usize ^ usize::from(self.left().is_empty())
    }

    /// Reads what the message has of the children. The result has no meaning.
    pub(crate) fn read_child_hashes(&self) -> u8 {
        self.left().read_hash() ^ self.right().read_hash()
    }

    /// Returns the contribution of the node to the children size of its parent.
    pub(crate) fn size(&self) -> u64 {
        self.children_size.saturating_add(self.message_length.into()).saturating_add(self.value().outside_size())
    }

    pub(crate) fn message(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.message_length as usize);
        self.write(&mut out);
        out
    }

    /// Appends the message.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let flags = Flags {
            is_long_value: matches!(self.value(), NodeValue::Long { .. }),
            has_path: !self.path().is_empty(),
            left: self.left().flags(self.below_left),
            right: self.right().flags(self.below_right),
        };
        out.push(flags.byte());
        write_path(self.path(), out);
        self.left().write(self.below_left, out);
        self.right().write(self.below_right, out);
        if !self.is_terminal() {
            write_varint(self.children_size, out);
        }
        match self.value() {
            NodeValue::None => {}
            NodeValue::Short(bytes) => out.extend_from_slice(bytes),
            NodeValue::Long { value, .. } => {
                out.extend_from_slice(value.hash().as_slice());
                out.extend_from_slice(&value.length_field());
            }
        }
    }

    /// Returns the Keccak hash of the message, also for embedded nodes. Computed once.
    pub(crate) fn hash(&self) -> B256 {
        self.hash.get().unwrap_or_else(|| {
            let hash = keccak256(self.message());
            self.hash.set(hash);
            hash
        })
    }

    /// Like [`TrieNode::hash`], for about `work` changed keys below: hashes many nodes at once, subtree by subtree.
    pub(crate) fn hash_with(&self, work: usize) -> B256 {
        if work >= SUBTREE_CHANGES
            && self.known_hash().is_none()
            && let (Link::Loaded(left, _), Link::Loaded(right, _)) = (self.left(), self.right())
        {
            let (left, right) = (|| left.hash_with(work / 2), || right.hash_with(work / 2));
            if work >= PARALLEL_WORK {
                rayon::join(left, right)
            } else {
                (left(), right())
            };
        }
        HashLevels::without_hash(self).hash();
        self.hash()
    }

    pub(crate) fn known_hash(&self) -> Option<B256> {
        self.hash.get()
    }

    /// Sets the hash of the message.
    pub(crate) fn set_hash(&self, hash: B256) {
        self.hash.set(hash);
    }

    /// Adds the rows. `above`: key bits above the node; as before afterwards.
    fn flush(&self, above: &mut Path, rows: &mut NodeRows) {
        if self.is_saved() {
            return;
        }
        self.is_saved.set(true);
        if !above.is_empty() && self.is_embeddable() {
            return;
        }
        rows.push_node(NodePosition::below_path(above), |bytes| self.write(bytes));
        let length = above.len();
        above.append(self.path());
        let end = above.len();
        for (bit, link, below) in [(false, self.left(), self.below_left), (true, self.right(), self.below_right)] {
            if let Link::Loaded(node, _) = link
                && below.is_unsaved()
            {
                above.push(bit);
                node.flush(above, rows);
                above.truncate(end);
            }
        }
        above.truncate(length);
    }

    /// Returns true if the source has this node (inside its parent if embedded), or a commit or flush has returned it.
    pub(crate) fn is_saved(&self) -> bool {
        self.is_saved.get()
    }

    /// Adds the records of this node and of those below it that are not saved, and marks them as saved. Returns the place of the
    /// record of this node.
    fn save(&mut self, is_root: bool, out: &mut NodeBatch) -> NodePlace {
        self.is_saved.set(true);
        if let Some(value) = self.content.value_mut() {
            value.save(out);
        }
        if !is_root && self.is_embeddable() {
            return NodePlace::UNKNOWN;
        }
        let below = [self.below_left, self.below_right];
        let is_hashed = |link: &Link, below: ChildInfo| !link.is_empty() && below.embedded_length() == 0;
        let children =
            [self.left(), self.right()].into_iter().zip(below).filter(|(link, below)| is_hashed(link, *below));
        let (length, children) = (self.message_length as usize, children.count());
        let record = out.add_node(is_root, || self.hash(), length, children, |bytes| self.write(bytes));
        let Some((left, right)) = self.content.children_mut() else { return record.place };
        let mut index = 0;
        for (link, below) in [(left, &mut self.below_left), (right, &mut self.below_right)] {
            if below.take_unsaved() {
                link.save(false, out);
            }
            if is_hashed(link, *below) {
                out.set_child_place(&record, index, link.place());
                index += 1;
            }
        }
        record.place
    }
}

/// Below this number of changed keys a subtree is hashed by one thread: the hand-over would cost more than it saves.
const PARALLEL_WORK: usize = 1024;

impl Link {
    /// Adds the records of the nodes of the subtree that are not saved, each before those below it, and their new long values, and marks
    /// them as saved. Their hashes are known. The root has a record even if its message is short enough to be embedded.
    pub(crate) fn save(&mut self, is_root: bool, out: &mut NodeBatch) {
        if let Link::Loaded(node, place) = self
            && !node.is_saved()
        {
            // Copies the node only if another trie shares it, and that trie has not been committed.
            *place = Arc::make_mut(node).save(is_root, out);
        }
    }

    /// Marks the subtree as flushed, for all versions that share it, and adds the rows of nodes that were not. The root
    /// has a row even if it is short enough to be embedded.
    pub(crate) fn flush(&self, rows: &mut NodeRows) {
        if let Link::Loaded(node, _) = self {
            node.flush(&mut Path::default(), rows);
        }
    }
}

/// Returns the hashes of the children that a message refers to.
#[cfg(test)]
pub(crate) fn hashed_children(message: &[u8]) -> Vec<B256> {
    let children = NodeMessage::parse(message).map(|message| [message.left, message.right]);
    let hash = |child| match child {
        ChildPart::Hash(hash) => Some(hash),
        ChildPart::None | ChildPart::Embedded(_) => None,
    };
    children.into_iter().flatten().filter_map(hash).collect()
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::hex;

    use super::*;

    #[test]
    fn nodes_take_two_cache_lines() {
        assert_eq!(size_of::<TrieNode>() + 2 * size_of::<usize>(), 128);
    }

    #[test]
    fn messages_round_trip() {
        let account = concat!(
            "5d7800a28629e41841cc5e7028cd2a3d9f938e13cd947ec05abc7fe734df8dd826",
            "5f48f06e2f67d5836e39bf195c4484104f587f9458d2ec79aee4749b9753a170",
            "26700600755396577b63ec11aebd72c1462f58ffc50cb4d1da3599deef699d23841f3b85000028",
            "93c20100",
        );
        for text in ["500f0123aa", "4f0450060011045006fe2208", account] {
            let bytes = hex::decode(text).unwrap();
            let node = TrieNode::from_message(NodeMessage::parse(&bytes).unwrap(), [NodePlace::UNKNOWN; 2]).unwrap();
            assert_eq!(node.message(), bytes);
            assert_eq!(node.message_length as usize, bytes.len());
            assert_eq!(node.hash(), keccak256(&bytes));
        }
    }
}
