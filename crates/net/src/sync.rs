//! Synchronization: headers first, then the bodies of the best header chain from all peers, then the import in order
//! (docs/spec/p2p-additions.md, B and C).
//!
//! One task owns the state and sends the requests (`task`). Headers are downloaded in rounds (`header_download`), bodies into a
//! window ahead of the importer (`body_download`, `window`). Decoding and verification run on separate threads of low
//! priority (`verify`, `work_threads`), the import on a different one (`importing`). A failure of this node stops the synchronization and punishes no peer.

mod body_download;
mod header_download;
mod importing;
mod peers;
mod progress;
mod round;
mod task;
mod verify;
mod window;
pub(crate) mod work_threads;

pub(crate) use progress::SyncProgress;
pub use progress::{OlderStage, StateStage, SyncLoad, SyncStatus};
pub use window::WindowLengths;

use crate::network_state::NetworkState;
use crate::peer::events::PeerEvent;
use importing::BlockImporter;
use rhizome_chain::Chain;
use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use task::SyncTask;
use tokio::sync::mpsc::{Receiver, unbounded_channel};
use verify::SyncWorks;

/// Prepares the synchronization. Returns its task, and the thread that ends after the task.
pub(crate) fn synchronize(
    shared: Arc<NetworkState>,
    chain: Arc<Chain>,
    progress: Arc<SyncProgress>,
    events: Receiver<PeerEvent>,
) -> std::io::Result<(impl Future<Output = ()> + Send + 'static, JoinHandle<()>)> {
    // Bounded by the requests that wait and by the window.
    let (works, done) = unbounded_channel();
    let threads = work_threads::start().map_err(std::io::Error::other)?;
    let (importer, thread) = BlockImporter::start(Arc::clone(&chain), works.clone())?;
    let task = SyncTask::new(shared, chain, SyncWorks { threads, done: works }, progress, importer);
    Ok((task.run(events, done), thread))
}
