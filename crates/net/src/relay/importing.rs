//! The thread that imports announced blocks. The importer executes them before the blocks of a synchronization.

use super::task::RelayWork;
use rhizome_chain::{Chain, PreparedBlock};
use rhizome_primitives::B256;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc::UnboundedSender;

/// Handle of the thread, which ends when the handle is dropped.
pub(super) struct AnnouncedImporter(Sender<PreparedBlock>);

impl AnnouncedImporter {
    pub(super) fn start(
        chain: Arc<Chain>,
        works: UnboundedSender<RelayWork>,
    ) -> std::io::Result<(AnnouncedImporter, JoinHandle<()>)> {
        let (blocks, received) = channel::<PreparedBlock>();
        let run = move || {
            for block in received {
                let hash: B256 = block.hash();
                // The importer remembers invalid blocks. A failure of this node shows in the synchronization.
                let _ = chain.import_from_peer(block);
                // Fails only while the network stops.
                let _ = works.send(RelayWork::Imported(hash));
            }
        };
        Ok((AnnouncedImporter(blocks), thread::Builder::new().name("relay-import".into()).spawn(run)?))
    }

    /// Queues a block. The caller bounds their number.
    pub(super) fn push(&self, block: PreparedBlock) {
        // The thread ends with this handle.
        let _ = self.0.send(block);
    }
}
