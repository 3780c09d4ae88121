//! Synchronization by a state from peers: the header chain first, then the state after a block of it in chunks and the blocks below
//! it, then the takeover (docs/spec/p2p.md, 10; p2p-additions.md, E). The blocks above follow as in any synchronization.
//!
//! One task owns the state and sends the requests (`task`). Chunks are verified and written on threads of low priority (`work`).
//! Nothing that a peer says is believed: the block is one of the best header chain, and each chunk is proven by the state root in
//! its header.

mod difficulty;
mod peers;
mod task;
mod work;

use crate::peer::events::PeerEvent;
use crate::requests::{self, BackgroundWork, RequestTools};
use std::future::Future;
use std::sync::Arc;
use task::SnapTask;
use tokio::sync::mpsc::Receiver;

/// Distance of the blocks that may be pivots.
const GRID: u64 = 5_000;
/// Distance of the pivot from the grid.
const DISTANCE: u64 = 3_840;

/// Returns the number of the block whose state snap servers have, for the number of the best one; `None` if that is genesis.
pub(crate) fn pivot_below(best: u64) -> Option<u64> {
    (best - best % GRID).checked_sub(DISTANCE)
}

/// Prepares the synchronization. Without the setting, or with blocks in the directory, its task only drops events.
pub(crate) fn synchronize(
    RequestTools { shared, chain, progress, threads }: RequestTools,
    events: Receiver<PeerEvent>,
) -> impl Future<Output = ()> + Send + 'static {
    let (work, done) = BackgroundWork::new(threads, Arc::clone(&chain));
    requests::run(SnapTask::new(shared, chain, progress, work), events, done)
}

#[cfg(test)]
mod tests {
    use super::pivot_below;

    #[test]
    fn pivots_are_those_of_the_reference() {
        let pivots = [0, 4_999, 5_000, 5_200, 9_999, 10_000, 7_654_321].map(pivot_below);
        assert_eq!(pivots, [None, None, Some(1_160), Some(1_160), Some(1_160), Some(6_160), Some(7_646_160)]);
    }
}
