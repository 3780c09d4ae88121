//! Mines a block each so many seconds.

use parking_lot::{Condvar, Mutex};
use rhizome_chain::Chain;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that mines until it is dropped.
pub(crate) struct IntervalMiner {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl IntervalMiner {
    /// Starts mining.
    pub(crate) fn start(chain: Arc<Chain>, seconds: u64) -> std::io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&stop);
        let mine = move || {
            let (stopped, bell) = &*seen;
            loop {
                let mut stopped = stopped.lock();
                if !*stopped {
                    bell.wait_for(&mut stopped, Duration::from_secs(seconds));
                }
                if *stopped {
                    return;
                }
                drop(stopped);
                if chain.is_automining()
                    && let Err(error) = chain.mine(chain.config().clock.now())
                {
                    eprintln!("mining failed: {error}");
                }
            }
        };
        let thread = std::thread::Builder::new().name("rhizome-miner".into()).spawn(mine)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for IntervalMiner {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
