//! The loop of a task: events of peers and results of background work come in, requests go out.

use super::work::WorkThreads;
use crate::network_state::NetworkState;
use crate::peer::OWN_PAUSE;
use crate::peer::events::PeerEvent;
use crate::sync::SyncProgress;
use rhizome_chain::Chain;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

/// Parts of the node that each of these tasks needs.
pub(crate) struct RequestTools {
    pub(crate) shared: Arc<NetworkState>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) progress: Arc<SyncProgress>,
    pub(crate) threads: WorkThreads,
}

/// Task that asks peers. Its functions never block.
pub(crate) trait RequestTask {
    /// Result of background work.
    type Work: Send + 'static;

    /// Time between two looks for silent peers and used-up budgets.
    const TICK: Duration;

    /// Takes an event of a peer.
    fn handle(&mut self, event: PeerEvent);

    /// Takes a result of background work.
    fn finish(&mut self, work: Self::Work);

    /// Does not count a time in which this node did not run as silence of its peers.
    fn excuse(&mut self, pause: Duration, now: Instant);

    /// Looks for silent peers.
    fn tick(&mut self, now: Instant);

    /// Sends the requests that are due.
    fn plan(&mut self);

    /// Whether the task has something to wait for.
    fn is_active(&self) -> bool {
        true
    }
}

/// Runs until the network stops.
pub(crate) async fn run<T: RequestTask>(
    mut task: T,
    mut events: Receiver<PeerEvent>,
    mut done: UnboundedReceiver<T::Work>,
) {
    let mut ticks = tokio::time::interval(T::TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut ticked_at = Instant::now();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => task.handle(event),
                None => return,
            },
            Some(work) = done.recv() => task.finish(work),
            _ = ticks.tick(), if task.is_active() => {
                let now = Instant::now();
                let pause = now - std::mem::replace(&mut ticked_at, now);
                if pause >= OWN_PAUSE {
                    task.excuse(pause, now);
                }
                task.tick(now);
            }
        }
        // All that has arrived meanwhile, before the next requests are planned.
        while let Ok(work) = done.try_recv() {
            task.finish(work);
        }
        while let Ok(event) = events.try_recv() {
            task.handle(event);
        }
        task.plan();
    }
}
