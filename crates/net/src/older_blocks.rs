//! The blocks below the ones of a state download: fetched in the background, downwards to genesis
//! (docs/spec/p2p-additions.md, E).
//!
//! One task sends the requests (`task`), only while the head is near the best header, and within the part of each peer's budget that
//! the synchronization leaves. Snap servers send whole blocks by the hundred; others send headers, then the bodies. Each block has
//! the hash that the one above it names, so no peer is believed. A batch is written at once, and the next one begins below the
//! lowest stored block: the database is the only memory, and a kill costs one batch.

mod peers;
mod task;
mod work;

use crate::peer::events::PeerEvent;
use crate::requests::{self, BackgroundWork, RequestTools};
use std::future::Future;
use std::sync::Arc;
use task::OlderBlocksTask;
use tokio::sync::mpsc::Receiver;

/// Prepares the download. If no block is missing, its task only drops events.
pub(crate) fn download(
    RequestTools { shared, chain, progress, threads }: RequestTools,
    events: Receiver<PeerEvent>,
) -> impl Future<Output = ()> + Send + 'static {
    let (work, done) = BackgroundWork::new(threads, Arc::clone(&chain));
    requests::run(OlderBlocksTask::new(shared, chain, progress, work), events, done)
}
