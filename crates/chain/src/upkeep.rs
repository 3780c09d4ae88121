//! Figures and failures of the work on the database that no caller waits for.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Work on the database beside the import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpkeepTask {
    /// Removal of old states.
    Pruning,
    /// Copies of states for peers.
    Snapshots,
    /// Transactions of stored blocks by address.
    AddressIndex,
}

/// Figures that the threads of a chain note.
#[derive(Default)]
pub(crate) struct Upkeep {
    trie_nodes: AtomicU64,
    evictions: AtomicU64,
    failures: Mutex<BTreeMap<UpkeepTask, String>>,
}

/// Figures of [`crate::Chain::upkeep`].
#[derive(Debug, Clone, Default)]
pub struct UpkeepFigures {
    /// Nodes of the head's trie in memory.
    pub trie_nodes: u64,
    /// Evictions of such nodes since the start: each leaves the ones used last.
    pub evictions: u64,
    /// Tasks whose last attempt failed, with the reason. They are tried again.
    pub failures: Vec<(UpkeepTask, String)>,
}

impl Upkeep {
    pub(crate) fn note_nodes(&self, nodes: usize) {
        self.trie_nodes.store(nodes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_eviction(&self, left: usize) {
        self.note_nodes(left);
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes the outcome of the last attempt of a task: the failure, or `None`.
    pub(crate) fn note_attempt(&self, task: UpkeepTask, failure: Option<&dyn Display>) {
        let mut failures = self.failures.lock();
        match failure {
            Some(failure) => _ = failures.insert(task, failure.to_string()),
            None => _ = failures.remove(&task),
        }
    }

    pub(crate) fn figures(&self) -> UpkeepFigures {
        UpkeepFigures {
            trie_nodes: self.trie_nodes.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
            failures: self.failures.lock().iter().map(|(task, failure)| (*task, failure.clone())).collect(),
        }
    }
}
