//! Dials the nodes that the operator named, and known nodes while outbound slots are free. Pauses between two attempts
//! grow.

use crate::close_reason::{CloseReason, Phase};
use crate::network_state::NetworkState;
use crate::node_list::{ANCHORS, ListedNode};
use crate::options::Limits;
use crate::peer::connection::{self, ConnectionOrigin};
use crate::tasks;
use parking_lot::Mutex;
use rhizome_wire::session::{Enode, NodeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Interval between two looks at the schedule.
const TICK: Duration = Duration::from_millis(250);
/// Interval between two looks at the connection to a successor.
const SUCCESSOR_TICK: Duration = Duration::from_millis(50);
/// Length of a connection after which the pause starts from its minimum again.
const LONG_CONNECTION: Duration = Duration::from_secs(30);

/// Nodes dialled at the same time that the operator did not name.
const MAX_ATTEMPTS: usize = 4;
/// Nodes with a pause from which on those are forgotten whose pause has long been over.
const MAX_PAUSES: usize = 8_192;

/// When which node is dialled.
#[derive(Default)]
pub(crate) struct DialSchedule {
    attempts: Mutex<HashMap<NodeId, Attempt>>,
    /// Wakes the dialler before its next tick.
    pub(crate) changed: Notify,
}

struct Attempt {
    is_running: bool,
    /// Earliest time of the next attempt.
    next: Instant,
    pause: Duration,
}

impl DialSchedule {
    /// Begins an attempt if it is due and none is running.
    fn begin(&self, id: NodeId, now: Instant, limits: &Limits) -> bool {
        let mut attempts = self.attempts.lock();
        if attempts.len() >= MAX_PAUSES {
            attempts.retain(|_, attempt| attempt.is_running || now < attempt.next + limits.redial_max);
        }
        let attempt = attempts.entry(id).or_insert(Attempt { is_running: false, next: now, pause: limits.redial_min });
        let is_due = !attempt.is_running && attempt.next <= now;
        attempt.is_running |= is_due;
        is_due
    }

    /// Number of attempts whose connection has not ended.
    fn under_way(&self) -> usize {
        self.attempts.lock().values().filter(|attempt| attempt.is_running).count()
    }

    /// Ends an attempt and plans the next one.
    fn end(&self, id: &NodeId, lasted: Duration, limits: &Limits) {
        let mut attempts = self.attempts.lock();
        let Some(attempt) = attempts.get_mut(id) else { return };
        if lasted >= LONG_CONNECTION {
            attempt.pause = limits.redial_min;
        }
        attempt.is_running = false;
        // Up to a quarter more: two nodes that dial each other must not stay in step.
        let jitter = attempt.pause.mul_f64(f64::from(random_byte()) / 1_024.0);
        attempt.next = Instant::now() + attempt.pause + jitter;
        attempt.pause = (attempt.pause * 2).min(limits.redial_max);
    }

    /// Forgets the pauses of a node.
    pub(crate) fn forget(&self, id: &NodeId) {
        let mut attempts = self.attempts.lock();
        if attempts.get(id).is_some_and(|attempt| !attempt.is_running) {
            attempts.remove(id);
        }
    }
}

/// Dials without end.
pub(crate) async fn dial(shared: Arc<NetworkState>) {
    loop {
        let targets = shared.static_peers.read().clone();
        for enode in targets {
            let is_refused = enode.id == shared.options.key.id() || shared.standing.refuses_node(&enode.id);
            if is_refused || shared.registry.get(&enode.id).is_some() {
                continue;
            }
            if shared.dials.begin(enode.id, Instant::now(), &shared.options.limits) {
                tasks::start(attempt(Arc::clone(&shared), enode));
            }
        }
        dial_known(&shared);
        let _ = tokio::time::timeout(TICK, shared.dials.changed.notified()).await;
    }
}

/// Dials known nodes for the free outbound slots: anchors first, then in an order that other nodes cannot foresee.
fn dial_known(shared: &Arc<NetworkState>) {
    let mut nodes: Vec<ListedNode> = shared.nodes.lock().iter().copied().collect();
    if nodes.len() > ANCHORS {
        let others = &mut nodes[ANCHORS..];
        others.rotate_left(random_start(others.len()));
    }
    let under_way = || shared.dials.under_way().saturating_sub(shared.registry.dialled());
    for node in nodes {
        if under_way() >= MAX_ATTEMPTS {
            break;
        }
        let has_slot = is_candidate(shared, &node) && shared.registry.has_outbound_slot(node.address.ip());
        if has_slot && shared.dials.begin(node.id, Instant::now(), &shared.options.limits) {
            tasks::start(attempt(Arc::clone(shared), node.enode()));
        }
    }
}

/// Whether a known node may be dialled, apart from the slots.
pub(crate) fn is_candidate(shared: &NetworkState, node: &ListedNode) -> bool {
    let is_refused = node.id == shared.options.key.id()
        || shared.registry.get(&node.id).is_some()
        || shared.is_static(&node.id)
        || shared.standing.refuses_node(&node.id)
        || shared.standing.refuses_address(node.address.ip());
    !is_refused
}

/// Dials a node that another outbound peer makes room for afterwards. Returns whether it has become a peer; `false` at once
/// within the pause after an earlier attempt.
pub(crate) async fn dial_successor(shared: &Arc<NetworkState>, node: ListedNode) -> bool {
    if !shared.dials.begin(node.id, Instant::now(), &shared.options.limits) {
        return false;
    }
    shared.registry.set_successor(Some(node.id));
    let attempt = tasks::start(attempt(Arc::clone(shared), node.enode()));
    let is_peer = || shared.registry.outbound().iter().any(|peer| peer.id == node.id);
    // Each step of a connection has a time limit.
    while !attempt.is_finished() && !is_peer() {
        tokio::time::sleep(SUCCESSOR_TICK).await;
    }
    shared.registry.set_successor(None);
    is_peer()
}

async fn attempt(shared: Arc<NetworkState>, enode: Enode) {
    let started = Instant::now();
    if let Err(reason) = connect(&shared, &enode).await {
        shared.closed.count(&reason);
    }
    shared.dials.end(&enode.id, started.elapsed(), &shared.options.limits);
}

/// Connects and runs the connection to its end. Fails if there is no TCP connection.
async fn connect(shared: &Arc<NetworkState>, enode: &Enode) -> Result<(), CloseReason> {
    let time = shared.options.limits.connect_time;
    let target = (enode.address.host.as_str(), enode.address.port);
    let connected = tokio::time::timeout(time, TcpStream::connect(target)).await;
    let socket = connected.map_err(|_elapsed| CloseReason::TimedOut(Phase::Connect))??;
    let address = socket.peer_addr()?;
    connection::run(shared, socket, address, ConnectionOrigin::Dialled(enode.id)).await;
    Ok(())
}

/// Returns a position in a list that other nodes cannot foresee; 0 in an empty one.
pub(crate) fn random_start(length: usize) -> usize {
    usize::from(random_byte()) * length / 256
}

fn random_byte() -> u8 {
    let mut byte = [0];
    // Without randomness there is no jitter.
    let _ = getrandom::fill(&mut byte);
    byte[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_of_nodes_that_are_gone_are_forgotten() {
        let (schedule, limits, start) = (DialSchedule::default(), Limits::default(), Instant::now());
        let id = |number: u32| {
            let mut id = [0; 64];
            id[..4].copy_from_slice(&number.to_be_bytes());
            NodeId(id)
        };
        let running = id(u32::MAX);
        assert!(schedule.begin(running, start, &limits));
        // Two nodes a second, which all fail.
        for number in 0..40_000 {
            let now = start + Duration::from_millis(u64::from(number) * 500);
            assert!(schedule.begin(id(number), now, &limits));
            schedule.end(&id(number), Duration::ZERO, &limits);
        }
        assert!(schedule.attempts.lock().len() <= MAX_PAUSES);
        assert_eq!(schedule.under_way(), 1);
        assert!(!schedule.begin(running, start + Duration::from_secs(86_400), &limits));
    }
}
