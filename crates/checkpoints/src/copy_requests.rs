use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rhizome_chain::ChainError;

use crate::data_copy::serve;

/// Time between two looks for requests.
const LOOK: Duration = Duration::from_secs(1);

/// The thread of a node that copies its database for other programs ([`crate::DataCopy`]). Ends when it is dropped.
pub struct CopyRequests {
    /// Present until the thread is to end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CopyRequests {
    /// Starts the thread for a data directory. `copy` copies the database into a folder that does not exist.
    pub fn start(
        dir: PathBuf,
        mut copy: impl FnMut(&Path) -> Result<(), ChainError> + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let look = move || {
            while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                serve(&dir, &mut copy);
            }
        };
        let thread = thread::Builder::new().name("copy-requests".into()).spawn(look)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for CopyRequests {
    fn drop(&mut self) {
        self.stop = None;
        // A panic was printed.
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
