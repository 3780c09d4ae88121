//! Recovery from failed writes: without a restart, as soon as the disk accepts writes again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rhizome_storage::{StorageError, Store};

use crate::address_indexer;
use crate::archive::derived_trie::TrieSnapshot;
use crate::archive::record::BlockRecord;
use crate::error::ChainError;
use crate::head::branch_change::BranchChange;
use crate::import::branch_adoption;
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;
use crate::import::importer::Importer;

/// Time between two attempts. An attempt writes as much as the database has in memory.
const PAUSE: Duration = Duration::from_secs(1);

/// Starts a thread at each failed or refused write. The thread tries until the database works again. At most one runs.
pub(crate) fn watch_disk(importer: &Arc<Importer>) {
    let (weak, is_running) = (Arc::downgrade(importer), Arc::new(AtomicBool::new(false)));
    importer.steps.archive.store.on_write_fault(Box::new(move || {
        if is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let (weak, is_over) = (Weak::clone(&weak), Arc::clone(&is_running));
        let retry = move || {
            retry(&weak);
            is_over.store(false, Ordering::Release);
        };
        if thread::Builder::new().name("recovery".into()).spawn(retry).is_err() {
            // The next refused write tries again.
            is_running.store(false, Ordering::Release);
        }
    }));
}

/// Tries until it succeeds or the chain is closed.
fn retry(importer: &Weak<Importer>) {
    loop {
        thread::sleep(PAUSE);
        let Some(importer) = importer.upgrade() else { return };
        if let Ok(Ok(())) = importer.run(recover) {
            return;
        }
    }
}

/// Opens the database again and continues with its content.
pub(crate) fn recover(writer: &mut HeadWriter) -> Result<(), ChainError> {
    let mut state = writer.state.lock();
    let (record, snapshot) = reopen(writer, &mut state, Store::reopen)?;
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let (old, generation) = (publisher.head(), archive.store.generation());
    if record.hash == old.hash() {
        publisher.publish_state(record, generation, snapshot);
        return Ok(());
    }
    // The failed write is on disk after all. If it deleted blocks, they cannot be read any more.
    let change = BranchChange::plan(archive, &old.record, &record)
        .unwrap_or_else(|_| BranchChange { retracted: vec![Arc::clone(&old.record)], enacted: Vec::new() });
    publisher.publish(record, generation, snapshot, &change, &change.retracted);
    Ok(())
}

/// Continues with the database of a completed restore. The blocks between the two heads are not announced: there may be very many.
pub(crate) fn open_restored(writer: &mut HeadWriter) -> Result<(), ChainError> {
    let mut state = writer.state.lock();
    let (record, snapshot) = reopen(writer, &mut state, Store::open_restored)?;
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let generation = archive.store.generation();
    let change = BranchChange { retracted: Vec::new(), enacted: Vec::new() };
    let head = Arc::clone(&record);
    publisher.publish(Arc::clone(&record), generation, Arc::clone(&snapshot), &change, &[]);
    // The nonces of all senders in the pool may have changed.
    publisher.publish_state(record, generation, snapshot);
    publisher.note_state_change();
    // The other node may have had no index.
    address_indexer::begin(archive, (head.number(), head.hash))
}

/// Opens a database in place of the current one, and returns its head. The caller publishes it before it releases the state.
fn reopen(
    writer: &HeadWriter,
    state: &mut ImportState,
    open: impl FnOnce(&Store) -> Result<(), StorageError>,
) -> Result<(Arc<BlockRecord>, Arc<TrieSnapshot>), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    open(&archive.store)?;
    branch_adoption::resume(archive)?;
    // The caches may hold rows that the database does not have.
    archive.forget_all();
    archive.forget_ancestors();
    publisher.note_side_change();
    let record = archive.stored_head()?;
    *state = ImportState::open(&record, archive, &writer.steps.config)?;
    let snapshot = writer.steps.new_snapshot(&record, state.trie());
    archive.store.clear_write_fault();
    Ok((record, snapshot))
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, ChainConfig, ChainEvent, Clock, DataDir};
    use parking_lot::Mutex;
    use rhizome_primitives::ChainSpec;

    const NOW: u64 = 1_700_000_000;

    #[test]
    fn continues_from_the_head_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Path(dir.path().to_path_buf()));
        config.clock = Clock::new(|| NOW);
        let chain = Chain::open(config).unwrap();
        let recover_now = || chain.importer().run(recover).unwrap().unwrap();
        let first = chain.mine(NOW).unwrap();
        recover_now();
        assert_eq!(chain.head().hash(), first.hash);
        assert!(chain.head().is_current());

        // The write of the second block failed, but the block is on disk.
        let second = chain.mine(NOW).unwrap();
        let before = Arc::clone(&first);
        let trie = chain.state_trie(&before).unwrap();
        let publish = move |writer: &mut HeadWriter| {
            let snapshot = writer.steps.new_snapshot(&before, &trie);
            writer.steps.publisher.publish_state(before, 0, snapshot);
        };
        chain.importer().run(publish).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        chain.on_event(Box::new(move |event| {
            if let ChainEvent::NewHead { enacted, retracted, .. } = event {
                seen.lock().push((enacted.clone(), retracted.clone()));
            }
        }));
        recover_now();
        assert_eq!(chain.head().hash(), second.hash);
        assert_eq!(*events.lock(), [(vec![second.hash], vec![])]);
        assert_eq!(chain.mine(NOW).unwrap().number(), 3);
    }
}
