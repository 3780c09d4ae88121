//! Difference between two versions of the state. Visits only subtrees that differ.

use std::sync::Arc;

use rhizome_primitives::Bytes;

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::Path;
use crate::source::NodePosition;
use crate::state::StateDelta;
use crate::trie::Trie;

/// Returns the writes that turn `from` into `to`. Deleted accounts are not in `wiped`: each deleted key is a write.
pub fn diff(from: &Trie, to: &Trie) -> Result<StateDelta, TrieError> {
    // Also computes missing hashes, in parallel if there are many.
    if from.root_hash() == to.root_hash() {
        return Ok(StateDelta::default());
    }
    let mut walk = DiffWalk { from, to, key: Path::default(), delta: StateDelta::default() };
    let (old, new) = (walk.enter(from, &from.root)?, walk.enter(to, &to.root)?);
    walk.compare(old, new)?;
    Ok(walk.delta)
}

struct DiffWalk<'t> {
    from: &'t Trie,
    to: &'t Trie,
    /// Key bits above the two positions that are compared.
    key: Path,
    delta: StateDelta,
}

/// Position within the shared path of a node: `used` bits of the path are above it.
#[derive(Clone)]
struct DiffPosition {
    node: Arc<TrieNode>,
    used: usize,
}

impl DiffPosition {
    fn is_at_end(&self) -> bool {
        self.used == self.node.path().len()
    }
}

impl DiffWalk<'_> {
    fn enter(&self, trie: &Trie, link: &Link) -> Result<Option<DiffPosition>, TrieError> {
        let node = link.peek(&*trie.source, NodePosition::below_path(&self.key))?;
        Ok(node.map(|node| DiffPosition { node, used: 0 }))
    }

    /// Returns the position one `bit` below `position`.
    fn step(&self, trie: &Trie, position: &DiffPosition, bit: bool) -> Result<Option<DiffPosition>, TrieError> {
        if position.is_at_end() {
            return self.enter(trie, position.node.child(bit));
        }
        let goes_on = position.node.path().bit(position.used) == bit;
        Ok(goes_on.then(|| DiffPosition { node: position.node.clone(), used: position.used + 1 }))
    }

    fn compare(&mut self, old: Option<DiffPosition>, new: Option<DiffPosition>) -> Result<(), TrieError> {
        let (old, new) = match (old, new) {
            (None, None) => return Ok(()),
            (Some(old), None) => return self.delete_all(&old),
            (None, Some(new)) => return self.write_all(&new),
            (Some(old), Some(new)) => (old, new),
        };
        if old.used == new.used && (Arc::ptr_eq(&old.node, &new.node) || old.node.hash() == new.node.hash()) {
            return Ok(());
        }
        let above = self.key.len();
        let common = old.node.path().common_with(old.used, new.node.path(), new.used);
        for at in old.used..old.used + common {
            self.key.push(old.node.path().bit(at));
        }
        let old = DiffPosition { used: old.used + common, ..old };
        let new = DiffPosition { used: new.used + common, ..new };
        if !old.is_at_end() && !new.is_at_end() {
            self.delete_all(&old)?;
            self.write_all(&new)?;
        } else {
            self.compare_values(&old, &new)?;
            for bit in [false, true] {
                let here = self.key.len();
                self.key.push(bit);
                let (old_next, new_next) = (self.step(self.from, &old, bit)?, self.step(self.to, &new, bit)?);
                self.compare(old_next, new_next)?;
                self.key.truncate(here);
            }
        }
        self.key.truncate(above);
        Ok(())
    }

    fn compare_values(&mut self, old: &DiffPosition, new: &DiffPosition) -> Result<(), TrieError> {
        let old_value = old.is_at_end().then_some(old.node.value()).filter(|value| !value.is_none());
        let new_value = new.is_at_end().then_some(new.node.value()).filter(|value| !value.is_none());
        match (old_value, new_value) {
            (Some(old), Some(new)) if old.is_same(new) => Ok(()),
            (_, Some(_)) => self.write(&new.node),
            (Some(_), None) => {
                self.emit(None);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    fn write(&mut self, node: &TrieNode) -> Result<(), TrieError> {
        let value = self.to.value_bytes(node.value())?;
        self.emit(value);
        Ok(())
    }

    fn emit(&mut self, value: Option<Bytes>) {
        self.delta.writes.insert(self.key.bytes().to_vec(), value);
    }

    fn delete_all(&mut self, position: &DiffPosition) -> Result<(), TrieError> {
        self.visit_all(self.from, position, &mut |walk, _| {
            walk.emit(None);
            Ok(())
        })
    }

    fn write_all(&mut self, position: &DiffPosition) -> Result<(), TrieError> {
        self.visit_all(self.to, position, &mut |walk, node| walk.write(node))
    }

    /// Calls `visit` for every node with a value at or below `position`, with its key in `self.key`.
    fn visit_all(
        &mut self,
        trie: &Trie,
        position: &DiffPosition,
        visit: &mut dyn FnMut(&mut Self, &TrieNode) -> Result<(), TrieError>,
    ) -> Result<(), TrieError> {
        let above = self.key.len();
        self.key.append(position.node.path().tail(position.used).all_bits());
        if !position.node.value().is_none() {
            visit(self, &position.node)?;
        }
        let here = self.key.len();
        for bit in [false, true] {
            self.key.push(bit);
            if let Some(next) = self.enter(trie, position.node.child(bit))? {
                self.visit_all(trie, &next, visit)?;
            }
            self.key.truncate(here);
        }
        self.key.truncate(above);
        Ok(())
    }
}
