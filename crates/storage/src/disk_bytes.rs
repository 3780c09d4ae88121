use crate::columns::{
    ADDRESSES, BLOCKS, CALLS, CHANGES, FLAT, HEADERS, HEIGHTS, HISTORY, LOGS, NODE_BATCHES, NODES, RECEIPTS,
    TRANSACTIONS, TRIE, VALUES,
};

/// Size of the database's files by kind, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskBytes {
    /// Blocks, receipts, headers and their indexes.
    pub blocks: u64,
    /// State of the head: flat rows, current trie nodes, long values.
    pub state: u64,
    /// Changes of blocks and values before them.
    pub history: u64,
    /// All versions of trie nodes.
    pub nodes: u64,
    /// Snapshots of states, without the files that they share with the database.
    pub snapshots: u64,
    /// Everything else.
    pub other: u64,
}

impl DiskBytes {
    /// Returns the sum.
    pub fn total(&self) -> u64 {
        let Self { blocks, state, history, nodes, snapshots, other } = *self;
        [blocks, state, history, nodes, snapshots, other].into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the size of the kind of a column.
    pub(crate) fn of_column(&mut self, name: &str) -> &mut u64 {
        match name {
            BLOCKS | HEIGHTS | RECEIPTS | TRANSACTIONS | ADDRESSES | CALLS | LOGS | HEADERS => &mut self.blocks,
            FLAT | TRIE | VALUES => &mut self.state,
            CHANGES | HISTORY => &mut self.history,
            NODES | NODE_BATCHES => &mut self.nodes,
            _ => &mut self.other,
        }
    }
}
