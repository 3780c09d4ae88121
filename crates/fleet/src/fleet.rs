//! Starts and stops the part of a node in its fleet, and answers questions about it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rhizome_chain::{Chain, ChainError, ChainEvent};
use rhizome_primitives::Transaction;
use tokio::runtime::{Builder, Runtime};

use crate::block_import::{self, ImportInput};
use crate::changes::ChangeSource;
use crate::error::FleetError;
use crate::fleet_state::{FleetState, FleetStatus, RestoreStatus};
use crate::options::{FleetOptions, FleetRole};
use crate::session::Session;
use crate::{block_publisher, block_reader, changes, heads, transactions};

/// Threads for the connection.
const THREADS: usize = 2;
/// Threads that decode blocks, admit transactions and read changes.
const WORK_THREADS: usize = 3;
/// First and longest time between two sessions. A replica that is killed before it has a session again loses the transactions that it
/// accepted since the last one.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Duration of a session after which the next one begins soon again.
const STABLE: Duration = Duration::from_secs(10);
/// Time for the threads to end.
const STOP_TIME: Duration = Duration::from_secs(1);

/// The part of a running node in its fleet. Stops when it is dropped.
pub struct Fleet {
    state: Arc<FleetState>,
    runtime: Mutex<Option<Runtime>>,
    importing: Mutex<Option<JoinHandle<()>>>,
}

impl Fleet {
    /// Starts threads that connect and stay connected. A server that is away is no failure of the start. `sink` takes transactions of
    /// other nodes into the pool, for example with [`Chain::submit_from_fleet`], and returns whether it did. With `changes`, this node
    /// publishes the stream of changes while it holds the lease. A replica must have no peers and must not mine; an importer needs
    /// `ChainConfig::notes_blocks`.
    pub fn start(
        options: FleetOptions,
        chain: Arc<Chain>,
        sink: impl Fn(Transaction) -> bool + Send + Sync + 'static,
        changes: Option<ChangeSource>,
    ) -> Result<Self, FleetError> {
        let genesis = chain.main_hash(0)?.ok_or(FleetError::Chain(ChainError::MissingHeight { number: 0 }))?;
        let number = AtomicUsize::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(WORK_THREADS)
            .thread_name_fn(move || format!("fleet-{}", number.fetch_add(1, Ordering::Relaxed)))
            .enable_all()
            .build()
            .map_err(FleetError::Threads)?;
        let (input, mut messages) = ImportInput::new();
        let role = options.role;
        let state = Arc::new(FleetState::new(options, Arc::clone(&chain), &genesis, Box::new(sink), changes, input));
        listen(&chain, &state);
        let importing = match role {
            FleetRole::Importer => None,
            FleetRole::Replica => {
                let (state, handle) = (Arc::clone(&state), runtime.handle().clone());
                let run = move || block_import::run(&state, &mut messages, &handle);
                Some(thread::Builder::new().name("fleet-import".into()).spawn(run).map_err(FleetError::Threads)?)
            }
        };
        runtime.spawn(run(Arc::clone(&state)));
        Ok(Self { state, runtime: Mutex::new(Some(runtime)), importing: Mutex::new(importing) })
    }

    /// Returns the fleet as this node sees it.
    pub fn status(&self) -> FleetStatus {
        self.state.status()
    }

    /// Returns the highest number that all ready nodes have reached, this one included.
    pub fn agreed_number(&self) -> u64 {
        self.state.heads.agreed(&self.state.chain)
    }

    /// Whether the log has lost blocks that this node needs: it needs a newer database.
    pub fn has_gap(&self) -> bool {
        self.state.has_gap.load(Ordering::Acquire)
    }

    /// Reads the log again behind the place in the database, after that was replaced.
    pub fn read_again(&self) {
        self.state.has_gap.store(false, Ordering::Release);
        self.state.reread.notify_one();
    }

    /// Changes what [`FleetStatus`] says about restores.
    pub fn report_restore(&self, change: impl FnOnce(&mut RestoreStatus)) {
        change(&mut self.state.restore.lock());
    }

    /// Returns the part of this node.
    pub fn role(&self) -> FleetRole {
        self.state.options.role
    }

    /// Ends the connection and the threads. Further calls do nothing.
    pub fn stop(&self) {
        self.state.is_stopping.store(true, Ordering::Release);
        let importing = self.importing.lock().take();
        // A panic was printed.
        importing.into_iter().for_each(|thread| drop(thread.join()));
        let runtime = self.runtime.lock().take();
        runtime.into_iter().for_each(|runtime| runtime.shutdown_timeout(STOP_TIME));
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reports changes of the chain to the tasks.
fn listen(chain: &Chain, state: &Arc<FleetState>) {
    let weak = Arc::downgrade(state);
    chain.on_event(Box::new(move |event| {
        let Some(state) = weak.upgrade() else { return };
        match event {
            ChainEvent::NewHead { .. } => {
                state.stored.notify_one();
                state.moved.notify_one();
                state.changed.notify_one();
            }
            ChainEvent::TransactionAdmitted { hash, origin } => {
                state.accepted.push(state.chain.pool().get(hash).as_ref(), *origin);
            }
            ChainEvent::PendingTransaction { .. } | ChainEvent::TransactionSkipped(_) => {}
        }
    }));
}

/// Holds one session after another, with pauses that grow while the server is away.
async fn run(state: Arc<FleetState>) {
    let [first, longest] = PAUSES;
    let mut pause = first;
    loop {
        let started = Instant::now();
        let Err(error) = session(&state).await;
        state.set_session(Err(&error));
        pause = if started.elapsed() > STABLE { first } else { longest.min(pause * 2) };
        tokio::time::sleep(pause).await;
    }
}

/// Runs until one of the tasks fails, or the connection ends.
async fn session(state: &Arc<FleetState>) -> Result<Infallible, FleetError> {
    let (session, mut end) = Session::open(state).await?;
    state.set_session(Ok(()));
    let ended = async { Err::<Infallible, _>(end.recv().await.unwrap_or(FleetError::Lost)) };
    let blocks = async {
        match state.options.role {
            FleetRole::Importer => block_publisher::publish(&session, state).await,
            FleetRole::Replica => block_reader::read(&session, state).await,
        }
    };
    let (never, ..) = tokio::try_join!(
        ended,
        blocks,
        transactions::send(&session, state),
        transactions::take(&session, state),
        heads::announce(&session, state),
        heads::listen(&session, state),
        heads::verify(&session, state),
        changes::publish(&session, state),
    )?;
    Ok(never)
}
