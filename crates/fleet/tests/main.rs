//! Nodes of a fleet over a real NATS server, which `RHIZOME_NATS_SERVER` names. Without one the tests are ignored.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod block_log;
mod changes;
mod faults;
mod heads;
mod server;
mod transactions;

use rhizome_chain::{BlockRecord, Chain, ChainConfig, DataDir};
use rhizome_fleet::{ChangeSource, Credentials, Fleet, FleetOptions, FleetRole, FleetStatus, TlsFiles};
use rhizome_primitives::{B256, Bytes, ChainSpec};
use server::NatsServer;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const NOW: u64 = 1_700_000_000;
/// Longest time for a step of a test on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn config(name: &'static str, spec: ChainSpec, dir: Option<&Path>, role: FleetRole) -> ChainConfig {
    let data_dir = dir.map_or(DataDir::Temporary, |dir| DataDir::Path(dir.to_owned()));
    let defaults = ChainConfig::new(Arc::new(spec), data_dir);
    ChainConfig {
        cache_bytes: 8 << 20,
        trie_bytes: 8 << 20,
        write_buffer_bytes: 8 << 20,
        extra_data: Bytes::from_static(name.as_bytes()),
        notes_blocks: role == FleetRole::Importer,
        ..defaults
    }
}

/// Returns a chain. `name`: extra data of the blocks that it mines.
fn open(name: &'static str, dir: Option<&Path>, role: FleetRole) -> Arc<Chain> {
    Chain::open(config(name, ChainSpec::regtest(), dir, role)).unwrap()
}

fn mine(chain: &Chain, count: usize) -> Vec<Arc<BlockRecord>> {
    (0..count).map(|_| chain.mine(NOW).unwrap()).collect()
}

fn options(role: FleetRole, url: &str) -> FleetOptions {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    FleetOptions {
        role,
        url: url.into(),
        credentials: Credentials::Url,
        tls: TlsFiles::default(),
        name: format!("node-{}", NUMBER.fetch_add(1, Ordering::Relaxed)),
        version: "1".into(),
        block_retention: Duration::from_secs(3_600),
        stream_copies: 1,
    }
}

/// A node of a fleet.
struct Node {
    fleet: Fleet,
    chain: Arc<Chain>,
}

impl Node {
    fn start(server: &NatsServer, role: FleetRole, chain: &Arc<Chain>) -> Node {
        Node::start_with(options(role, &server.url()), chain)
    }

    fn start_with(options: FleetOptions, chain: &Arc<Chain>) -> Node {
        Node::start_as(options, chain, None)
    }

    fn start_as(options: FleetOptions, chain: &Arc<Chain>, changes: Option<ChangeSource>) -> Node {
        let pool = Arc::clone(chain);
        let sink = move |transaction| pool.submit_from_fleet(transaction).is_ok();
        Node { fleet: Fleet::start(options, Arc::clone(chain), sink, changes).unwrap(), chain: Arc::clone(chain) }
    }

    fn importer(server: &NatsServer) -> Node {
        Node::start(server, FleetRole::Importer, &open("importer", None, FleetRole::Importer))
    }

    fn replica(server: &NatsServer) -> Node {
        Node::start(server, FleetRole::Replica, &open("replica", None, FleetRole::Replica))
    }

    fn status(&self) -> FleetStatus {
        self.fleet.status()
    }

    fn reaches(&self, hash: B256) {
        wait_for(|| (self.chain.head().hash() == hash).then_some(()), || self.status());
    }

    /// Waits for a failure that has the text.
    fn fails_with(&self, text: &str) -> String {
        let found = || self.status().failure.filter(|failure| failure.contains(text));
        wait_for(found, || self.status())
    }

    fn is_connected(&self) {
        wait_for(|| self.status().is_connected.then_some(()), || self.status());
    }
}

/// Starts a server, and an importer that is connected to it.
fn connected_importer() -> (NatsServer, Node) {
    let server = NatsServer::start();
    let importer = Node::importer(&server);
    importer.is_connected();
    (server, importer)
}

/// Waits for a value. `state` is printed if there is none in time.
fn wait_for<T, S: std::fmt::Debug>(mut found: impl FnMut() -> Option<T>, state: impl Fn() -> S) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "{:#?}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}
