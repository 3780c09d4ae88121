//! The iteration order of a hash set of the Java library, which decides the order of confirmation (docs/spec/bridge.md, 7.6).
//!
//! A bin is a list in insertion order. A bin of more than eight elements becomes a red-black tree by hash: its root moves to
//! the front of the list, and a later element follows its parent in the tree. Elements with equal hashes have no defined
//! order in the reference once their bin is a tree.

const DEFAULT_CAPACITY: usize = 16;
/// A bin of this size becomes a tree with its next element.
const TREE_THRESHOLD: usize = 8;
/// A tree that a resize leaves with at most this size becomes a list.
const LIST_THRESHOLD: usize = 6;
/// A table of fewer bins grows instead of making a tree.
const MINIMUM_TREE_CAPACITY: usize = 64;

/// An element: its index in the caller's list, its hash, and its links in the tree of its bin.
struct TreeNode {
    index: usize,
    hash: i32,
    parent: Option<usize>,
    /// Left and right child.
    children: [Option<usize>; 2],
    is_red: bool,
}

/// Elements of one bin, as positions in [`JavaHashSet::nodes`], in the order of iteration.
#[derive(Default)]
struct Bin {
    order: Vec<usize>,
    /// Root of the tree; `None` if the bin is a list.
    root: Option<usize>,
}

/// A set of distinct elements in Java's order.
pub(crate) struct JavaHashSet {
    nodes: Vec<TreeNode>,
    bins: Vec<Bin>,
}

impl JavaHashSet {
    /// Returns an empty set of the default capacity.
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::new(), bins: empty_bins(DEFAULT_CAPACITY) }
    }

    /// Returns a copy as `new HashSet<>(elements)` makes it: room for `elements` at a load factor of 0.75, in 32-bit floats.
    pub(crate) fn copy_of(elements: &[(usize, i32)]) -> Self {
        let capacity = (elements.len() as f32 / 0.75) as usize + 1;
        let mut set = Self { nodes: Vec::new(), bins: empty_bins(capacity.max(DEFAULT_CAPACITY).next_power_of_two()) };
        set.extend(elements);
        set
    }

    /// Adds elements, which must not be in the set. Each is an index and a hash code.
    pub(crate) fn extend(&mut self, elements: &[(usize, i32)]) {
        for (index, code) in elements {
            self.add(*index, code ^ ((*code as u32) >> 16) as i32);
        }
    }

    /// Returns the indexes of the elements in the order of iteration.
    pub(crate) fn indexes(&self) -> Vec<usize> {
        self.bins.iter().flat_map(|bin| &bin.order).map(|node| self.nodes[*node].index).collect()
    }

    fn add(&mut self, index: usize, hash: i32) {
        let node = self.nodes.len();
        self.nodes.push(TreeNode { index, hash, parent: None, children: [None; 2], is_red: false });
        let mask = self.bins.len() - 1;
        let mut bin = std::mem::take(&mut self.bins[hash as usize & mask]);
        if let Some(root) = bin.root {
            let parent = self.attach(root, node);
            let after = bin.order.iter().position(|other| *other == parent).map_or(bin.order.len(), |at| at + 1);
            bin.order.insert(after, node);
            self.set_root(&mut bin, node, root);
        } else {
            bin.order.push(node);
        }
        let is_crowded = bin.root.is_none() && bin.order.len() > TREE_THRESHOLD;
        if is_crowded && self.bins.len() >= MINIMUM_TREE_CAPACITY {
            self.make_tree(&mut bin);
        }
        self.bins[hash as usize & mask] = bin;
        if is_crowded && self.bins.len() < MINIMUM_TREE_CAPACITY {
            self.grow();
        }
        if self.nodes.len() > self.bins.len() / 4 * 3 {
            self.grow();
        }
    }

    /// Doubles the number of bins.
    fn grow(&mut self) {
        let old = self.bins.len();
        let bins = std::mem::replace(&mut self.bins, empty_bins(2 * old));
        for (position, bin) in bins.into_iter().enumerate() {
            let is_high = |node: &usize| self.nodes[*node].hash as usize & old != 0;
            let (high, low): (Vec<_>, Vec<_>) = bin.order.iter().copied().partition(is_high);
            let is_split = !high.is_empty() && !low.is_empty();
            for (target, order) in [(position, low), (position + old, high)] {
                let is_tree = bin.root.is_some() && order.len() > LIST_THRESHOLD;
                let mut half = Bin { root: bin.root.filter(|_| is_tree), order };
                if is_tree && is_split {
                    self.make_tree(&mut half);
                }
                self.bins[target] = half;
            }
        }
    }

    fn make_tree(&mut self, bin: &mut Bin) {
        let mut root: Option<usize> = None;
        for node in bin.order.clone() {
            self.nodes[node].parent = None;
            self.nodes[node].children = [None; 2];
            self.nodes[node].is_red = false;
            root = Some(match root {
                None => node,
                Some(root) => {
                    self.attach(root, node);
                    self.balance(root, node)
                }
            });
        }
        if let Some(root) = root {
            move_to_front(bin, root);
        }
    }

    /// Balances a tree after the insertion of `node`.
    fn set_root(&mut self, bin: &mut Bin, node: usize, root: usize) {
        let root = self.balance(root, node);
        move_to_front(bin, root);
    }

    /// Makes `node` a leaf of the tree. Returns its parent.
    fn attach(&mut self, root: usize, node: usize) -> usize {
        let mut parent = root;
        loop {
            let side = usize::from(self.nodes[parent].hash < self.nodes[node].hash);
            match self.nodes[parent].children[side] {
                Some(child) => parent = child,
                None => {
                    self.nodes[parent].children[side] = Some(node);
                    self.nodes[node].parent = Some(parent);
                    return parent;
                }
            }
        }
    }

    /// Restores the invariants of the red-black tree after the insertion of a leaf. Returns the root.
    fn balance(&mut self, mut root: usize, leaf: usize) -> usize {
        let mut node = leaf;
        self.nodes[node].is_red = true;
        loop {
            let Some(parent) = self.nodes[node].parent else {
                self.nodes[node].is_red = false;
                return node;
            };
            let Some(grandparent) = self.nodes[parent].parent.filter(|_| self.nodes[parent].is_red) else {
                return root;
            };
            let side = usize::from(self.nodes[grandparent].children[1] == Some(parent));
            let uncle = self.nodes[grandparent].children[1 - side];
            if let Some(uncle) = uncle.filter(|uncle| self.nodes[*uncle].is_red) {
                self.nodes[uncle].is_red = false;
                self.nodes[parent].is_red = false;
                self.nodes[grandparent].is_red = true;
                node = grandparent;
                continue;
            }
            let mut top = parent;
            if self.nodes[parent].children[1 - side] == Some(node) {
                root = self.rotate(root, parent, side);
                top = node;
                node = parent;
            }
            self.nodes[top].is_red = false;
            self.nodes[grandparent].is_red = true;
            root = self.rotate(root, grandparent, 1 - side);
        }
    }

    /// Moves `node` down to `side`; its child of the other side moves up. Returns the root.
    fn rotate(&mut self, root: usize, node: usize, side: usize) -> usize {
        let Some(up) = self.nodes[node].children[1 - side] else { return root };
        let inner = self.nodes[up].children[side];
        self.nodes[node].children[1 - side] = inner;
        if let Some(inner) = inner {
            self.nodes[inner].parent = Some(node);
        }
        let above = self.nodes[node].parent;
        self.nodes[up].parent = above;
        self.nodes[up].children[side] = Some(node);
        self.nodes[node].parent = Some(up);
        let Some(above) = above else {
            self.nodes[up].is_red = false;
            return up;
        };
        let from = usize::from(self.nodes[above].children[1] == Some(node));
        self.nodes[above].children[from] = Some(up);
        root
    }
}

fn empty_bins(capacity: usize) -> Vec<Bin> {
    std::iter::repeat_with(Bin::default).take(capacity).collect()
}

fn move_to_front(bin: &mut Bin, root: usize) {
    bin.root = Some(root);
    if let Some(at) = bin.order.iter().position(|node| *node == root) {
        bin.order[..=at].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudorandom hash codes. With `shared_bits` above 0, the low bits of all spread hashes are zero.
    fn codes(seed: &mut u64, count: usize, shared_bits: u32) -> Vec<(usize, i32)> {
        let mut code = |index| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let code = (*seed >> 32) as u32;
            let high = code >> 16;
            let crafted = (high << 16) | (high & ((1 << shared_bits) - 1));
            (index, if shared_bits == 0 { code as i32 } else { crafted as i32 })
        };
        (0..count).map(&mut code).collect()
    }

    fn fingerprint(order: &[usize]) -> i64 {
        order.iter().fold(17_i64, |sum, index| sum.wrapping_mul(31).wrapping_add(*index as i64))
    }

    /// Fingerprints of the orders that OpenJDK 17 gives, of a set that grows and of its copy.
    #[test]
    fn orders_are_those_of_the_java_library() {
        let recorded = [
            (5, 0, 488661807, 488661807),
            (12, 0, -5000471655748978913, -4895644437803342333),
            (13, 0, -5080322719731697683, -5080322719731697683),
            (40, 3, -8475592708555260249, -8475592708555260249),
            (60, 4, -934868049578266023, -3248120080115746375),
            (60, 6, 4751653086842849609, 8966337672371452301),
            (100, 7, 690250476436582367, 6011170750427756797),
            (200, 7, 7533181616574959873, 5007765712421782177),
            (300, 9, 5597728073919531709, 7343817761326668091),
            (20, 6, 8701069490003156771, -6340789121872474567),
        ];
        let mut seed = 1;
        for (count, shared_bits, grown, copied) in recorded {
            let codes = codes(&mut seed, count, shared_bits);
            let mut set = JavaHashSet::new();
            set.extend(&codes);
            assert_eq!(fingerprint(&set.indexes()), grown, "{count} elements, {shared_bits} bits");
            let elements: Vec<_> = set.indexes().into_iter().map(|index| codes[index]).collect();
            let copy = JavaHashSet::copy_of(&elements).indexes();
            assert_eq!(fingerprint(&copy), copied, "copy of {count} elements, {shared_bits} bits");
        }
    }
}
