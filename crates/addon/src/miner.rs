//! Mines blocks at the times of the mining schedule.

use arc_swap::ArcSwap;
use rhizome_answers::Node;
use rhizome_answers::mining_schedule::MiningSchedule;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Thread that mines until this value is dropped.
pub(crate) struct TimedMiner {
    schedule: Arc<MiningSchedule>,
    thread: Option<JoinHandle<()>>,
}

impl TimedMiner {
    /// Starts the thread. It mines on the chain of the node that answers.
    pub(crate) fn start(current: Arc<ArcSwap<Node>>, schedule: Arc<MiningSchedule>) -> std::io::Result<Self> {
        let seen = Arc::clone(&schedule);
        let mine = move || {
            while seen.wait() {
                let node = current.load_full();
                let chain = node.chain();
                if chain.is_automining()
                    && let Err(error) = chain.mine(chain.config().clock.now())
                {
                    eprintln!("mining failed: {error}");
                }
            }
        };
        let thread = std::thread::Builder::new().name("rhizome-miner".into()).spawn(mine)?;
        Ok(Self { schedule, thread: Some(thread) })
    }
}

impl Drop for TimedMiner {
    fn drop(&mut self) {
        self.schedule.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
