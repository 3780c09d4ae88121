//! Going on after the disk refused to be written: without a restart, as soon as it takes writes again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crate::chain::head_record;
use crate::head::branch_change::BranchChange;
use crate::import::import_state::ImportState;
use crate::{Chain, ChainError, ChainEvent};

/// Between two attempts. An attempt writes as much as the database has in memory.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether a thread is trying.
#[derive(Default)]
pub(crate) struct Recovery {
    is_running: AtomicBool,
}

impl Chain {
    /// Starts trying, each time that a write fails or is refused.
    pub(crate) fn watch_disk(chain: &Arc<Self>) {
        let weak = Arc::downgrade(chain);
        chain.archive.store.on_write_fault(Box::new(move || {
            let Some(chain) = weak.upgrade() else { return };
            if chain.recovery.is_running.swap(true, Ordering::AcqRel) {
                return;
            }
            let weak = Weak::clone(&weak);
            if thread::Builder::new().name("recovery".into()).spawn(move || retry(&weak)).is_err() {
                // The next refused write tries again.
                chain.recovery.is_running.store(false, Ordering::Release);
            }
        }));
    }

    /// Opens the database again, and goes on from what it holds.
    fn recover(&self) -> Result<(), ChainError> {
        let mut writer = self.writer.lock();
        let store = &self.archive.store;
        store.reopen()?;
        // What was read before may have been changed by the write that failed.
        self.archive.forget_all();
        self.drafts.outdate();
        let (old, record) = (self.head(), head_record(&self.archive)?);
        *writer = ImportState::open(record.state_root, store, self.config().cache_bytes);
        let generation = store.generation();
        store.clear_write_fault();
        if record.hash == old.hash() {
            let pool_head = self.publish_head(record, generation);
            for hash in self.pool().follow_state(pool_head) {
                self.emit(&ChainEvent::PendingTransaction { hash });
            }
            return Ok(());
        }
        // The write that failed is there after all. When it deleted blocks, what they were cannot be read any more.
        let change = BranchChange::plan(&self.archive, &old.record, &record)
            .unwrap_or_else(|_| BranchChange { retracted: vec![Arc::clone(&old.record)], enacted: Vec::new() });
        self.publish(record, generation, &change, &change.retracted);
        Ok(())
    }
}

/// Tries until it succeeds or the chain is closed.
fn retry(weak: &Weak<Chain>) {
    loop {
        thread::sleep(PAUSE);
        let Some(chain) = weak.upgrade() else { return };
        if chain.recover().is_ok() {
            chain.recovery.is_running.store(false, Ordering::Release);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainConfig, Clock, DataDir};
    use parking_lot::Mutex;
    use rhizome_primitives::ChainSpec;

    const NOW: u64 = 1_700_000_000;

    #[test]
    fn the_head_that_is_found_counts() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Path(dir.path().to_path_buf()));
        config.clock = Clock::new(|| NOW);
        let chain = Chain::open(config).unwrap();
        let first = chain.mine(NOW).unwrap();
        chain.recover().unwrap();
        assert_eq!(chain.head().hash(), first.hash);
        assert!(chain.head().is_current());

        // As if the write of the second block had failed, and were on the disk all the same.
        let second = chain.mine(NOW).unwrap();
        chain.publish_head(Arc::clone(&first), 0);
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        chain.on_event(Box::new(move |event| {
            if let ChainEvent::NewHead { enacted, retracted, .. } = event {
                seen.lock().push((enacted.clone(), retracted.clone()));
            }
        }));
        chain.recover().unwrap();
        assert_eq!(chain.head().hash(), second.hash);
        assert_eq!(*events.lock(), [(vec![second.hash], vec![])]);
        assert_eq!(chain.mine(NOW).unwrap().number(), 3);
    }
}
