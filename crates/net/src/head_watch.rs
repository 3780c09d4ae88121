//! Watches the head of a network that always brings blocks. A head that does not move although peers are connected may mean that
//! all of them keep blocks back, so a few further nodes are dialled (docs/spec/p2p-additions.md, F "Eclipse").

use crate::network_state::NetworkState;
use rhizome_primitives::B256;
use std::sync::Arc;
use std::time::Duration;

/// Longest time between two looks.
const TICK: Duration = Duration::from_secs(1);
/// Outbound peers beyond the slots while the head does not move.
const EXTRA_PEERS: usize = 3;

/// The head at the last look.
#[derive(Debug, Default)]
struct WatchedHead {
    hash: B256,
    /// Time for which it has not moved.
    still: Duration,
}

impl WatchedHead {
    /// Notes the head. `expects_block`: whether there was a peer that could have brought a block. Returns the time for which the
    /// head has not moved. Counts looks, so that a time in which this node does not run is left out.
    fn look(&mut self, hash: B256, expects_block: bool, tick: Duration) -> Duration {
        let has_moved = std::mem::replace(&mut self.hash, hash) != hash;
        self.still = if has_moved || !expects_block { Duration::ZERO } else { self.still + tick };
        self.still
    }
}

/// Watches without end; not at all if the network brings no blocks by itself.
pub(crate) async fn watch(shared: Arc<NetworkState>) {
    if !shared.options.expects_blocks {
        return;
    }
    let limit = shared.options.limits.stall_time;
    let tick = TICK.min(limit / 8);
    let mut head = WatchedHead::default();
    loop {
        tokio::time::sleep(tick).await;
        let has_peers = shared.registry.all().iter().any(|peer| peer.is_active());
        let still = head.look((shared.status)().hash, has_peers && !shared.awaits_state(), tick);
        let is_stalled = still >= limit;
        *shared.stalled.lock() = is_stalled.then_some(still);
        if shared.registry.set_extra_outbound(if is_stalled { EXTRA_PEERS } else { 0 }) {
            shared.dials.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_with_peers_and_without_a_new_head_counts() {
        let mut head = WatchedHead::default();
        let mut look = |fill, expects_block| head.look(B256::repeat_byte(fill), expects_block, TICK).as_secs();
        assert_eq!(look(1, true), 0);
        assert_eq!([look(1, true), look(1, true)], [1, 2]);
        assert_eq!([look(2, true), look(2, true)], [0, 1]);
        assert_eq!([look(2, false), look(2, true), look(2, true)], [0, 1, 2]);
    }
}
