//! Relay of blocks and transactions (docs/spec/p2p.md, 8; p2p-additions.md, F and G).
//!
//! One task notes the blocks and transactions that each peer has (`task`, `relay_peer`). An announced block is checked on rayon (`check`), relayed as
//! soon as its header is valid, and then imported on a separate thread (`importing`). The root of the number of peers get the
//! whole block, the others its hash. Transactions go through the pool; a transaction that becomes pending is relayed once (`transactions`).

mod accepted_blocks;
mod blocks;
mod check;
mod importing;
mod recent_hashes;
mod relay_peer;
mod task;
mod transactions;

pub(crate) use accepted_blocks::AcceptedBlocks;

use crate::network_state::NetworkState;
use crate::peer::events::PeerEvent;
use importing::AnnouncedImporter;
use rhizome_chain::Chain;
use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use task::RelayTask;
use tokio::sync::mpsc::{Receiver, unbounded_channel};

/// Prepares the relay. Returns its task, and the thread that ends after the task.
pub(crate) fn relay(
    shared: Arc<NetworkState>,
    chain: Arc<Chain>,
    events: Receiver<PeerEvent>,
) -> std::io::Result<(impl Future<Output = ()> + Send + 'static, JoinHandle<()>)> {
    // Bounded by the inboxes of peers and by the pool.
    let (works, done) = unbounded_channel();
    let (importer, thread) = AnnouncedImporter::start(Arc::clone(&chain), works.clone())?;
    task::listen(&chain, works.clone());
    Ok((RelayTask::new(shared, chain, works, importer).run(events, done), thread))
}
