//! Blocks that were executed again for a trace, kept for the traces of their other transactions.
//!
//! Explorers trace one transaction of a block after another, and each needs those before it.

use crate::error::RpcError;
use crate::execution::to_rpc_error;
use lru::LruCache;
use parking_lot::{Mutex, MutexGuard};
use rhizome_evm::{BlockReplay, Deadline, ReplayLog, ReplayedBlock};
use rhizome_primitives::B256;
use rhizome_trie::StateReader;
use std::sync::Arc;
use std::time::Duration;

/// Who waits for another request to execute the same block looks at its own deadline so often.
const LOOK: Duration = Duration::from_millis(5);

/// What an entry takes beside its log, in bytes.
const ENTRY_BYTES: usize = 512;

/// What decides about an execution: all else follows from the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Base {
    /// Hash of the block.
    pub(crate) block: B256,
    /// Root of the state after its parent, which can be changed by hand on development networks.
    pub(crate) parent_state: B256,
}

/// Opens the state after the parent.
pub(crate) type Open<'o> = dyn Fn() -> Result<Arc<dyn StateReader>, RpcError> + 'o;

/// A bounded store of executed blocks.
pub(crate) struct ReplayCache {
    entries: Mutex<Entries>,
    /// Bytes.
    limit: usize,
}

struct Entries {
    /// Without a limit of its own.
    logs: LruCache<Base, Entry>,
    bytes: usize,
}

struct Entry {
    log: Arc<SharedLog>,
    bytes: usize,
}

/// None until somebody has begun. Held while a block executes: a second request for it waits instead of doing the same.
type SharedLog = Mutex<Option<ReplayLog>>;

impl ReplayCache {
    /// A cache that holds about `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let entries = Mutex::new(Entries { logs: LruCache::unbounded(), bytes: 0 });
        Self { entries, limit }
    }

    /// Stands before the transaction at `index` of a block. Executes those before it that nobody has executed yet.
    pub(crate) fn branch<'e>(
        &self,
        base: Base,
        replayed: ReplayedBlock<'e>,
        index: usize,
        open: &Open<'_>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, RpcError> {
        let reader = open()?;
        let shared = self.entry(base);
        let mut held = wait(&shared, deadline)?;
        // Taken out meanwhile: what panics is not kept.
        let (mut log, is_new) = match held.take() {
            Some(log) => (log, false),
            None => (ReplayLog::new(replayed, open()?).map_err(to_rpc_error)?, true),
        };
        let grows = log.reached() < index;
        let result = match grows {
            true => log.advance_to(index, replayed, Arc::clone(&reader), deadline),
            false => Ok(()),
        };
        let result = result.and_then(|()| log.branch(index, replayed, reader, deadline));
        if is_new || grows {
            self.weigh(&base, &shared, ENTRY_BYTES + log.bytes());
        }
        *held = Some(log);
        result.map_err(to_rpc_error)
    }

    fn entry(&self, base: Base) -> Arc<SharedLog> {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.logs.get(&base) {
            return Arc::clone(&entry.log);
        }
        let log = Arc::<SharedLog>::default();
        entries.logs.put(base, Entry { log: Arc::clone(&log), bytes: ENTRY_BYTES });
        entries.bytes += ENTRY_BYTES;
        entries.shrink_to(self.limit);
        log
    }

    /// Notes how much a log holds now. Nothing is to be done if it was dropped meanwhile.
    fn weigh(&self, base: &Base, log: &Arc<SharedLog>, bytes: usize) {
        let mut entries = self.entries.lock();
        let Entries { logs, bytes: sum } = &mut *entries;
        if let Some(entry) = logs.peek_mut(base).filter(|entry| Arc::ptr_eq(&entry.log, log)) {
            *sum = sum.saturating_sub(entry.bytes).saturating_add(bytes);
            entry.bytes = bytes;
        }
        entries.shrink_to(self.limit);
    }
}

impl Entries {
    /// Drops what was not asked for longest.
    fn shrink_to(&mut self, limit: usize) {
        while self.bytes > limit
            && let Some((_, dropped)) = self.logs.pop_lru()
        {
            self.bytes = self.bytes.saturating_sub(dropped.bytes);
        }
    }
}

fn wait<'s>(shared: &'s SharedLog, deadline: &Deadline) -> Result<MutexGuard<'s, Option<ReplayLog>>, RpcError> {
    loop {
        if let Some(held) = shared.try_lock_for(LOOK) {
            return Ok(held);
        }
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
    }
}
