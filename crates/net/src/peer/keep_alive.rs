//! Pings of silent peers, and the end of connections whose peer stays silent.

use super::Peer;
use crate::close_reason::CloseReason;
use crate::options::Limits;
use rhizome_wire::session::{EMPTY_LIST, codes};
use std::time::{Duration, Instant};

/// Delay of a timer above which this node did not run: a busy machine or a suspended process.
pub(crate) const OWN_PAUSE: Duration = Duration::from_secs(1);
/// Longest time between two looks, so that a pause of this node does not hide between them.
const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// Shortest time between two looks.
const SHORTEST_LOOK: Duration = Duration::from_millis(50);

/// Sends a Ping to a silent peer, and ends if it stays silent. Pauses of this node do not count as silence: the answers of the peer
/// may wait in the socket.
pub(super) async fn keep_alive(limits: &Limits, peer: &Peer) -> CloseReason {
    let mut has_asked = false;
    loop {
        let silence = peer.traffic.silence();
        let (bytes, messages) = peer.inbox.waiting();
        // A socket that this node does not read is silent, too.
        let is_paused = bytes > limits.inbox_bytes || messages >= limits.inbox_messages;
        if silence >= limits.silence && !is_paused {
            return CloseReason::PingTimeout;
        }
        let next = if silence < limits.ping_after { limits.ping_after } else { limits.silence };
        if silence >= limits.ping_after && !has_asked {
            // A full queue is a sign of life that fails elsewhere.
            let _ = peer.try_send(codes::PING, EMPTY_LIST.to_vec());
        }
        has_asked = silence >= limits.ping_after;
        let (looked, time) = (Instant::now(), next.saturating_sub(silence).clamp(SHORTEST_LOOK, LONGEST_LOOK));
        tokio::time::sleep(time).await;
        let passed = looked.elapsed();
        if passed >= time + OWN_PAUSE {
            peer.traffic.excuse(passed);
        }
    }
}
