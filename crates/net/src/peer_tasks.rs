//! One task for each peer that handles its messages one after another, with the work on rayon.

use crate::peer::events::{PeerEvent, PeerMessage};
use crate::peer::{Peer, PeerKey, key_of};
use crate::tasks;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// The tasks. `H` handles a message.
pub(crate) struct PeerTasks<H> {
    handler: H,
    tasks: HashMap<PeerKey, PeerTask>,
}

struct PeerTask {
    /// Bounded by the inbox of the peer.
    messages: mpsc::UnboundedSender<PeerMessage>,
    task: AbortHandle,
}

impl<H, F> PeerTasks<H>
where
    H: Fn(Arc<Peer>, PeerMessage) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    pub(crate) fn new(handler: H) -> PeerTasks<H> {
        PeerTasks { handler, tasks: HashMap::new() }
    }

    /// Starts and ends tasks, and passes messages on.
    pub(crate) fn handle(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::Connected(peer) => {
                let (messages, mut received) = mpsc::unbounded_channel();
                let (key, handler) = (key_of(&peer), self.handler.clone());
                let task = tasks::start(async move {
                    while let Some(message) = received.recv().await {
                        handler(Arc::clone(&peer), message).await;
                    }
                });
                self.tasks.insert(key, PeerTask { messages, task: task.abort_handle() });
            }
            PeerEvent::Message(peer, message) => {
                if let Some(task) = self.tasks.get(&key_of(&peer)) {
                    // Fails only if the task has panicked.
                    let _ = task.messages.send(message);
                }
            }
            PeerEvent::Disconnected(peer, _) => {
                if let Some(task) = self.tasks.remove(&key_of(&peer)) {
                    task.task.abort();
                }
            }
        }
    }
}

/// Runs work for a peer on rayon and charges its time to the peer. Returns `None` if the work panicked.
pub(crate) async fn compute<R: Send + 'static>(
    peer: &Arc<Peer>,
    work: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    let (result, received) = oneshot::channel();
    let charged = Arc::clone(peer);
    rayon::spawn(move || {
        let start = Instant::now();
        let value = work();
        charged.charge_work(start.elapsed());
        // The task may have ended.
        drop(result.send(value));
    });
    received.await.ok()
}
