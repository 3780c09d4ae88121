//! The thread of a replica that restores a checkpoint when the block log has passed the node by.

use crate::checkpoints::CheckpointSource;
use crate::error::RpcError;
use crate::node::Node;
use rhizome_blobs::{BlobLimits, BlobStore};
use rhizome_chain::{Chain, DataDir};
use rhizome_checkpoints::{CheckpointError, Transferred, restore_beside};
use rhizome_fleet::Fleet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks at the log.
const LOOK: Duration = Duration::from_secs(1);
/// Time after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// The thread. Ends, with its download, when this is dropped; the next start continues the download.
pub struct ReplicaRestore {
    /// Present until the thread is to end.
    stop: Option<Sender<()>>,
    is_stopping: Arc<AtomicBool>,
    location: BlobStore,
    thread: Option<JoinHandle<()>>,
}

/// Why no checkpoint was restored.
#[derive(Debug, thiserror::Error)]
enum ReplicaRestoreError {
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("a temporary data directory is not restored")]
    Temporary,
    #[error("{file}: ends with block {number}, this node has block {head}")]
    TooOld { file: String, number: u64, head: u64 },
}

impl ReplicaRestore {
    /// Starts the thread for a node of a fleet. `location` and `trust` as in [`CheckpointSource`].
    pub fn start(node: &Arc<Node>, location: &str, trust: &str) -> Result<Self, RpcError> {
        let location = BlobStore::open(location, BlobLimits::default()).map_err(RpcError::internal)?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = channel();
        // Weak: the node closes while the thread waits.
        let restorer = Restorer {
            node: Arc::downgrade(node),
            location: location.clone(),
            trust: trust.to_owned(),
            is_stopping: Arc::clone(&is_stopping),
        };
        let run = move || {
            let mut pause = LOOK;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = restorer.look();
            }
        };
        let thread = thread::Builder::new().name("restore".into()).spawn(run).map_err(RpcError::internal)?;
        Ok(Self { stop: Some(stop), is_stopping, location, thread: Some(thread) })
    }
}

impl Drop for ReplicaRestore {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Release);
        self.location.cancel();
        self.stop = None;
        // A panic was printed.
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

struct Restorer {
    node: Weak<Node>,
    location: BlobStore,
    trust: String,
    is_stopping: Arc<AtomicBool>,
}

impl Restorer {
    /// Restores if there is a gap. Returns the time until the next look.
    fn look(&self) -> Duration {
        let Some(node) = self.node.upgrade() else { return LOOK };
        let Some(fleet) = node.fleet().filter(|fleet| fleet.has_gap()) else { return LOOK };
        let restored = self.restore(node.chain(), fleet);
        fleet.report_restore(|status| {
            (status.done, status.total) = (0, 0);
            status.completed += u64::from(restored.is_ok());
            status.failure = restored.as_ref().err().map(ToString::to_string);
        });
        match restored {
            Ok(()) => {
                fleet.read_again();
                LOOK
            }
            Err(_reported) => PAUSE,
        }
    }

    fn restore(&self, chain: &Chain, fleet: &Fleet) -> Result<(), ReplicaRestoreError> {
        let DataDir::Path(dir) = &chain.config().data_dir else { return Err(ReplicaRestoreError::Temporary) };
        let source = CheckpointSource { location: self.location.name(), name: "", trust: &self.trust };
        let checkpoint = source.open_in(&self.location)?;
        let (number, head) = (checkpoint.manifest().number, chain.head().number());
        if number <= head {
            return Err(ReplicaRestoreError::TooOld { file: checkpoint.address(), number, head });
        }
        let report = |Transferred { done, total, .. }: Transferred| {
            fleet.report_restore(|status| (status.done, status.total) = (done, total));
            if self.is_stopping.load(Ordering::Acquire) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        restore_beside(&checkpoint, dir, chain.config(), &report)?;
        Ok(chain.open_restored().map_err(CheckpointError::from)?)
    }
}
