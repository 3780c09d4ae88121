//! Hashing new nodes level by level from the bottom: a message holds the hashes of the children, so that the nodes of one
//! level can be hashed at once.

use rhizome_primitives::keccak256_all;

use crate::node::{Link, Node};
use crate::rows::NodeRows;

/// Nodes by the number of levels that have to be hashed before them. Embedded nodes are in their parent's message.
#[derive(Default)]
pub(crate) struct Levels<'n> {
    levels: Vec<Vec<&'n Node>>,
}

impl<'n> Levels<'n> {
    /// The nodes of a subtree that have no hash yet.
    pub(crate) fn without_hash(root: &'n Node) -> Levels<'n> {
        let mut levels = Levels::default();
        levels.add(root, true, &mut |node| node.known_hash().is_none());
        levels
    }

    /// The nodes of a subtree that are not saved yet. Their long values go to `out`.
    pub(crate) fn unsaved(root: &'n Node, is_root: bool, out: &mut NodeRows) -> Levels<'n> {
        let mut levels = Levels::default();
        levels.add(root, is_root, &mut |node| {
            if !node.is_saved() {
                node.value.write_unsaved(out);
            }
            !node.is_saved()
        });
        levels
    }

    /// Adds a node that is wanted, after what is wanted below it. Returns how many levels that takes.
    fn add(&mut self, node: &'n Node, is_root: bool, is_wanted: &mut impl FnMut(&Node) -> bool) -> usize {
        if !is_wanted(node) || (!is_root && node.is_embeddable()) {
            return 0;
        }
        let mut below = 0;
        for child in [&node.left, &node.right] {
            if let Link::Loaded(child) = child {
                below = below.max(self.add(child, false, is_wanted));
            }
        }
        if below == self.levels.len() {
            self.levels.push(Vec::new());
        }
        if let Some(level) = self.levels.get_mut(below) {
            level.push(node);
        }
        below + 1
    }

    /// Hashes all of them and adds their messages to `out`, children first.
    pub(crate) fn write(&self, out: &mut NodeRows) {
        for level in &self.levels {
            hash_level(level, out);
        }
    }

    /// Hashes all of them.
    pub(crate) fn hash(&self) {
        let mut messages = NodeRows::default();
        for level in &self.levels {
            messages.clear();
            hash_level(level, &mut messages);
        }
    }
}

/// Adds the messages of nodes whose children have been hashed.
fn hash_level(nodes: &[&Node], out: &mut NodeRows) {
    let mut unhashed = Vec::with_capacity(nodes.len());
    for node in nodes {
        let start = out.push_unhashed(node.message_length(), |bytes| node.write(bytes));
        match node.known_hash() {
            Some(hash) => out.set_hash(start, hash),
            None => unhashed.push((node, start)),
        }
    }
    let messages: Vec<_> = unhashed.iter().map(|(_, start)| out.message_at(*start)).collect();
    for ((node, start), hash) in unhashed.iter().zip(keccak256_all(&messages)) {
        out.set_hash(*start, node.set_hash(hash));
    }
}
