//! Synchronization: headers first, then the bodies of the best header chain from all peers, then the import in order
//! (docs/spec/p2p-additions.md, B and C).
//!
//! One task owns the state and sends the requests (`task`). Headers are downloaded in rounds (`header_download`), bodies into a
//! window ahead of the importer (`body_download`, `window`). Decoding and verification run on separate threads of low
//! priority (`verify`), the import on a different one (`importing`). A failure of this node stops the synchronization and punishes no peer.

mod body_download;
mod header_download;
mod importing;
mod peers;
mod progress;
mod round;
mod task;
mod verify;
mod window;

pub(crate) use progress::SyncProgress;
pub use progress::{NEAR_BLOCKS, OlderStage, StateStage, SyncLoad, SyncStatus};
pub use window::WindowLengths;

use crate::peer::events::PeerEvent;
use crate::requests::{self, BackgroundWork, RequestTools};
use importing::BlockImporter;
use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use task::SyncTask;
use tokio::sync::mpsc::Receiver;

/// Prepares the synchronization. Returns its task, and the thread that ends after the task.
pub(crate) fn synchronize(
    RequestTools { shared, chain, progress, threads }: RequestTools,
    events: Receiver<PeerEvent>,
) -> std::io::Result<(impl Future<Output = ()> + Send + 'static, JoinHandle<()>)> {
    let (work, done) = BackgroundWork::new(threads, Arc::clone(&chain));
    // Its reports are bounded by the window.
    let (importer, thread) = BlockImporter::start(Arc::clone(&chain), work.results())?;
    let task = SyncTask::new(shared, chain, work, progress, importer);
    Ok((requests::run(task, events, done), thread))
}
