use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

use crate::error::ChainError;
use crate::import::importer::Importer;

/// A thread that gives jobs to the importer. Ends when it is dropped.
pub(crate) struct BackgroundThread {
    importer: Weak<Importer>,
    /// Present until the thread is to end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts the thread. `work` ends when the receiver has no sender any more, or when the importer was dropped.
    pub(crate) fn start(
        importer: &Arc<Importer>,
        name: &str,
        work: impl FnOnce(&Weak<Importer>, &Receiver<()>) + Send + 'static,
    ) -> Result<Self, ChainError> {
        let (stop, stopped) = channel();
        let weak = Arc::downgrade(importer);
        let thread = thread::Builder::new().name(name.into()).spawn(move || work(&weak, &stopped));
        let thread = Some(thread.map_err(|source| ChainError::Thread { source })?);
        Ok(Self { importer: Arc::downgrade(importer), stop: Some(stop), thread })
    }
}

impl Drop for BackgroundThread {
    /// Waits until the thread has ended: it holds the database open.
    fn drop(&mut self) {
        self.stop = None;
        let Some(thread) = self.thread.take() else { return };
        // The thread may wait for the importer, which may drop the last handle of the chain.
        if !self.importer.upgrade().is_some_and(|importer| importer.is_this_thread()) {
            drop(thread.join());
        }
    }
}
