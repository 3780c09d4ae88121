//! Nodes to dial, remembered on disk: one URL a line, anchors first (docs/spec/p2p-additions.md, F).

use rhizome_wire::session::{Enode, HostPort, NodeId};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

/// Nodes remembered.
const MAX_NODES: usize = 4_096;
/// Outbound peers that are dialled first after a restart.
pub(crate) const ANCHORS: usize = 2;

/// A node with the address that it has proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListedNode {
    pub(crate) id: NodeId,
    pub(crate) address: SocketAddr,
}

impl ListedNode {
    /// Returns the URL.
    pub(crate) fn enode(&self) -> Enode {
        let (host, port) = (self.address.ip().to_string(), self.address.port());
        Enode { id: self.id, address: HostPort { host, port } }
    }
}

/// Nodes to dial, the most recently confirmed ones last.
#[derive(Debug, Default)]
pub(crate) struct NodeList {
    nodes: Vec<ListedNode>,
}

impl NodeList {
    /// Reads a file. A file that is absent or cannot be read is an empty list; so are its malformed lines.
    pub(crate) fn read(path: &Path) -> NodeList {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let parse = |line: &str| {
            let enode: Enode = line.parse().ok()?;
            let address = SocketAddr::new(enode.address.host.parse().ok()?, enode.address.port);
            Some(ListedNode { id: enode.id, address })
        };
        NodeList { nodes: text.lines().take(MAX_NODES).filter_map(parse).collect() }
    }

    /// Replaces a file by this list, with `anchors` at its start.
    pub(crate) fn write(&self, path: &Path, anchors: &[ListedNode]) -> std::io::Result<()> {
        let others = self.nodes.iter().filter(|node| !anchors.contains(node));
        let lines: String = anchors.iter().chain(others).map(|node| format!("{}\n", node.enode())).collect();
        let next = path.with_extension("next");
        let mut file = std::fs::File::create(&next)?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(next, path)
    }

    /// Adds a node, or changes its address. Above the maximum the first one behind the anchors is dropped.
    pub(crate) fn insert(&mut self, id: NodeId, address: SocketAddr) {
        let node = ListedNode { id, address };
        if self.nodes.contains(&node) {
            return;
        }
        self.nodes.retain(|other| other.id != id);
        if self.nodes.len() >= MAX_NODES {
            self.nodes.remove(ANCHORS);
        }
        self.nodes.push(node);
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &ListedNode> {
        self.nodes.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_wire::session::NodeKey;

    #[test]
    fn the_list_survives_a_restart_with_anchors_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nodes");
        assert_eq!(NodeList::read(&path).iter().count(), 0);
        let mut list = NodeList::default();
        let node = |fill: u8| ListedNode {
            id: NodeKey::from_bytes([fill; 32]).unwrap().id(),
            address: ([203, 0, 113, fill], 5_050).into(),
        };
        for fill in 1..=5 {
            list.insert(node(fill).id, node(fill).address);
        }
        list.write(&path, &[node(4)]).unwrap();
        let read: Vec<_> = NodeList::read(&path).iter().copied().collect();
        assert_eq!(read, [4, 1, 2, 3, 5].map(node));
        std::fs::write(&path, "nonsense\n\u{0}").unwrap();
        assert_eq!(NodeList::read(&path).iter().count(), 0);
    }

    #[test]
    fn a_full_list_keeps_its_anchors() {
        let mut list = NodeList::default();
        let id = |number: u16| {
            let mut id = [0; 64];
            id[..2].copy_from_slice(&number.to_be_bytes());
            NodeId(id)
        };
        for number in 0..MAX_NODES as u16 + 100 {
            list.insert(id(number), ([203, 0, 113, 1], 5_050).into());
        }
        let kept: Vec<NodeId> = list.iter().map(|node| node.id).collect();
        assert_eq!((kept.len(), &kept[..3]), (MAX_NODES, &[id(0), id(1), id(102)][..]));
    }
}
