//! Verification of a chunk against a state root.

use rhizome_primitives::rlp::{Item, decode_list};
use rhizome_primitives::{B256, DecodeError, keccak256_uncached};

use super::sync_form::{RebuiltMessage, SyncChild, SyncForm};
use super::{ChunkNode, SnapChunkError, VerifiedChunk};
use crate::path::Path;
use crate::processor_turn::yield_processor;
use crate::source::NodePosition;

/// Returns the maximum number of nodes in a chunk of this length. A node takes at least 4 bytes on average: only a node with
/// children is shorter.
fn max_nodes(chunk: &[u8]) -> usize {
    (chunk.len() / 4 + 16).min(65_536)
}

/// Maximum length of a key in bits. Those of the state have less than 900.
const MAX_KEY_BITS: usize = 8192;

/// Verifies that a chunk has exactly the nodes of the bytes `from..to` of the trie with this root hash, and that they are the
/// last ones if `is_complete`. Takes time and memory in proportion to the chunk, also if it is wrong.
pub fn verify_chunk(
    root: B256,
    chunk: &[u8],
    from: u64,
    to: u64,
    is_complete: bool,
) -> Result<VerifiedChunk, SnapChunkError> {
    let elements = ChunkElements::read(chunk)?;
    let ChunkElements { elements, nodes_start, nodes_end } = elements;
    if (nodes_end == elements.len()) != is_complete {
        return Err(SnapChunkError::Range);
    }
    let (rebuilt, top) = rebuild(&elements)?;
    match rebuilt.get(top) {
        Some(node) if node.hash == root => {}
        Some(node) => return Err(SnapChunkError::Root(node.hash)),
        None => return Err(SnapChunkError::Length(0)),
    }
    let ranges = node_ranges(&elements, &rebuilt, top)?;
    check_range(&ranges, nodes_start, nodes_end, from, to)?;
    let trie_size = rebuilt.get(top).map_or(0, |root| root.total);
    let mut verified = VerifiedChunk { trie_size, ..VerifiedChunk::default() };
    let nodes = elements.iter().zip(rebuilt).zip(ranges).take(nodes_end).skip(nodes_start);
    for ((element, node), range) in nodes {
        yield_processor();
        element.form.long_values(&mut verified.values)?;
        element.form.entries(range.above.clone(), &mut verified.entries)?;
        let row_key = NodePosition::below_path(&range.above).row_key();
        verified.nodes.push(ChunkNode { row_key, hash: node.hash, message: node.message.bytes });
    }
    Ok(verified)
}

/// Node of a chunk with the hashes of children that came with it.
struct ChunkElement<'a> {
    form: SyncForm<'a>,
    left: Option<B256>,
    right: Option<B256>,
    /// True if the left subtree cannot be in the chunk.
    is_before: bool,
    /// True if the right subtree cannot be in the chunk.
    is_after: bool,
}

/// Nodes of a chunk in order of their keys: those before the range, those of the range, those after it.
struct ChunkElements<'a> {
    elements: Vec<ChunkElement<'a>>,
    nodes_start: usize,
    nodes_end: usize,
}

impl<'a> ChunkElements<'a> {
    fn read(chunk: &'a [u8]) -> Result<ChunkElements<'a>, SnapChunkError> {
        let [pre, nodes, first_left, last_hashes, post] = decode_list(chunk)?.exactly("chunk")?;
        let limit = max_nodes(chunk);
        let mut elements = Vec::new();
        for pair in pre.elements("nodes before the range")? {
            let [form, left] = pair?.exactly("node before the range")?;
            let form = SyncForm::parse(string(&form)?)?;
            push(
                &mut elements,
                limit,
                ChunkElement { form, left: hash(&left)?, right: None, is_before: true, is_after: false },
            )?;
        }
        let nodes_start = elements.len();
        for form in nodes.elements("nodes")? {
            let form = SyncForm::parse(string(&form?)?)?;
            push(
                &mut elements,
                limit,
                ChunkElement { form, left: None, right: None, is_before: false, is_after: false },
            )?;
        }
        let nodes_end = elements.len();
        for pair in post.elements("nodes after the range")? {
            let [form, right] = pair?.exactly("node after the range")?;
            let form = SyncForm::parse(string(&form)?)?;
            push(
                &mut elements,
                limit,
                ChunkElement { form, left: None, right: hash(&right)?, is_before: false, is_after: true },
            )?;
        }
        if nodes_start < nodes_end {
            let [left, right] = last_hashes.exactly("hashes of the last node")?;
            if let Some(last) = elements.get_mut(nodes_end - 1) {
                last.left = hash(&left)?;
                last.right = hash(&right)?;
            }
        } else {
            let [] = last_hashes.exactly("hashes of the last node")?;
        }
        let first_left = hash(&first_left)?;
        let is_single = nodes_end - nodes_start == 1;
        match elements.get_mut(nodes_start) {
            // Both say the same about a single node.
            Some(first) if is_single && first.left != first_left => return Err(SnapChunkError::ChildHash),
            Some(first) => first.left = first_left,
            None => return Err(SnapChunkError::Length(nodes_end)),
        }
        Ok(ChunkElements { elements, nodes_start, nodes_end })
    }
}

fn push<'a>(
    elements: &mut Vec<ChunkElement<'a>>,
    limit: usize,
    element: ChunkElement<'a>,
) -> Result<(), SnapChunkError> {
    if elements.len() == limit {
        return Err(SnapChunkError::Length(limit + 1));
    }
    elements.push(element);
    Ok(())
}

fn string<'a>(item: &Item<'a>) -> Result<&'a [u8], DecodeError> {
    if item.is_list() { Err(DecodeError::FieldLength { field: "node", got: 0 }) } else { Ok(item.content()) }
}

/// Reads a hash; an empty string is none.
fn hash(item: &Item<'_>) -> Result<Option<B256>, DecodeError> {
    match item.bytes() {
        [] => Ok(None),
        bytes => B256::try_from(bytes).map(Some).or(Err(DecodeError::FieldLength { field: "hash", got: bytes.len() })),
    }
}

/// Node with its message.
struct RebuiltNode {
    hash: B256,
    message: RebuiltMessage,
    /// Children in the chunk.
    left: Option<usize>,
    right: Option<usize>,
    /// Size in bytes of the subtree.
    total: u64,
}

/// Builds the tree: the root of a run of nodes is the one with the largest children size, the first of several. The nodes before
/// it are its left subtree, those after it its right one. Returns the nodes in the order of the elements, and the index of the
/// root.
fn rebuild(elements: &[ChunkElement<'_>]) -> Result<(Vec<RebuiltNode>, usize), SnapChunkError> {
    let mut nodes: Vec<Option<RebuiltNode>> = Vec::with_capacity(elements.len());
    // Nodes whose right subtree is not complete, each in that of the one before, with the root of their left subtree.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        nodes.push(None);
        let below = close(elements, &mut nodes, &mut open, Some(element.form.children_size))?;
        open.push((index, below));
    }
    let top = close(elements, &mut nodes, &mut open, None)?;
    let nodes: Vec<RebuiltNode> = nodes.into_iter().flatten().collect();
    Ok((nodes, top.unwrap_or_default()))
}

/// Completes the open nodes with a children size below `limit`; returns the index of the last one.
fn close(
    elements: &[ChunkElement<'_>],
    nodes: &mut [Option<RebuiltNode>],
    open: &mut Vec<(usize, Option<usize>)>,
    limit: Option<u64>,
) -> Result<Option<usize>, SnapChunkError> {
    let mut closed = None;
    while let Some(&(index, left)) = open.last()
        && let Some(element) = elements.get(index)
        && limit.is_none_or(|limit| element.form.children_size < limit)
    {
        yield_processor();
        open.pop();
        let node = element.rebuild(nodes, left, closed)?;
        if let Some(slot) = nodes.get_mut(index) {
            *slot = Some(node);
        }
        closed = Some(index);
    }
    Ok(closed)
}

impl ChunkElement<'_> {
    /// Returns the node with these children in the chunk.
    fn rebuild(
        &self,
        nodes: &[Option<RebuiltNode>],
        left: Option<usize>,
        right: Option<usize>,
    ) -> Result<RebuiltNode, SnapChunkError> {
        if (self.is_before && left.is_some()) || (self.is_after && right.is_some()) {
            return Err(SnapChunkError::ChildHash);
        }
        let included = |child: Option<usize>| child.and_then(|index| nodes.get(index)).and_then(Option::as_ref);
        let left_hash = child_hash(self.form.left, included(left), self.left)?;
        let right_hash = child_hash(self.form.right, included(right), self.right)?;
        let message = self.form.message(left_hash.as_ref(), right_hash.as_ref())?;
        let total = self.form.children_size.saturating_add(message.own_size);
        Ok(RebuiltNode { hash: keccak256_uncached(&message.bytes), message, left, right, total })
    }
}

/// Returns the hash of a child: that of the node in the chunk, which a received hash must repeat, or the received one.
fn child_hash(
    child: SyncChild<'_>,
    included: Option<&RebuiltNode>,
    received: Option<B256>,
) -> Result<Option<B256>, SnapChunkError> {
    let included = included.map(|node| node.hash);
    match (child, included, received) {
        (SyncChild::Outside, Some(hash), None) | (SyncChild::Outside, None, Some(hash)) => Ok(Some(hash)),
        (SyncChild::Outside, Some(hash), Some(same)) if hash == same => Ok(Some(hash)),
        (SyncChild::None | SyncChild::Embedded(_), None, None) => Ok(None),
        _ => Err(SnapChunkError::ChildHash),
    }
}

/// Bytes of the trie that a node takes.
#[derive(Default)]
struct NodeRange {
    /// Key bits above the node.
    above: Path,
    /// Offset of the node without its subtrees.
    start: u64,
    /// Offset of its end.
    end: u64,
}

/// Computes the range of each node from the root down. Fails if the chunk has neither subtree of a node, so that only the sum
/// of their sizes is known. The reference builds such chunks only for an inner node above the size of a chunk, which no state has.
fn node_ranges(
    elements: &[ChunkElement<'_>],
    nodes: &[RebuiltNode],
    top: usize,
) -> Result<Vec<NodeRange>, SnapChunkError> {
    let mut ranges: Vec<NodeRange> = nodes.iter().map(|_| NodeRange::default()).collect();
    let mut pending = vec![(top, Path::default(), 0u64)];
    while let Some((index, above, base)) = pending.pop() {
        let (Some(element), Some(node)) = (elements.get(index), nodes.get(index)) else { continue };
        let size = |child: SyncChild<'_>, included: Option<usize>| match child {
            SyncChild::Outside => included.and_then(|index| nodes.get(index)).map(|node| node.total),
            SyncChild::None | SyncChild::Embedded(_) => Some(0),
        };
        let (left, right) = (size(element.form.left, node.left), size(element.form.right, node.right));
        let rest = |part: u64| element.form.children_size.checked_sub(node.message.embedded_size)?.checked_sub(part);
        let left_size = match (left, right) {
            (Some(left), Some(right)) => (rest(left) == Some(right)).then_some(left),
            (Some(left), None) => rest(left).and(Some(left)),
            (None, Some(right)) => rest(right),
            (None, None) => None,
        };
        let start = base.saturating_add(left_size.ok_or(SnapChunkError::Range)?);
        let weight = node.message.own_size.saturating_add(node.message.embedded_size);
        let end = start.saturating_add(weight);
        let mut path = above.clone();
        path.append(element.form.path.all_bits());
        if path.len() > MAX_KEY_BITS {
            return Err(SnapChunkError::KeyLength(path.len()));
        }
        for (bit, child, base) in [(false, node.left, base), (true, node.right, end)] {
            if let Some(child) = child {
                let mut below = path.clone();
                below.push(bit);
                pending.push((child, below, base));
            }
        }
        if let Some(range) = ranges.get_mut(index) {
            *range = NodeRange { above, start, end };
        }
    }
    Ok(ranges)
}

/// Checks that the range begins in or at the end of its first node, ends after its last one, and that the node after it reaches
/// its end.
fn check_range(
    ranges: &[NodeRange],
    nodes_start: usize,
    nodes_end: usize,
    from: u64,
    to: u64,
) -> Result<(), SnapChunkError> {
    let is_first_right =
        ranges.get(nodes_start).is_some_and(|first| (first.start < from || first.start == 0) && from <= first.end);
    let is_last_right = nodes_end == nodes_start || ranges.get(nodes_end - 1).is_some_and(|last| last.end < to);
    let is_next_right = ranges.get(nodes_end).is_none_or(|next| next.end >= to);
    if is_first_right && is_last_right && is_next_right { Ok(()) } else { Err(SnapChunkError::Range) }
}
