use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context};
use rhizome_primitives::{B256, hex};
use std::fmt::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A NATS server on a free port of this machine. It is killed when this is dropped.
pub(crate) struct NatsServer {
    port: u16,
    dir: TempDir,
    process: Option<Child>,
    runtime: Runtime,
}

/// Settings that a fleet needs.
pub(crate) const USUAL: &str = "max_payload: 16MB\n";

impl NatsServer {
    pub(crate) fn start() -> NatsServer {
        NatsServer::start_with(USUAL, true)
    }

    /// Starts a server with further settings.
    pub(crate) fn start_with(settings: &str, has_streams: bool) -> NatsServer {
        let mut server = NatsServer::stopped(settings, has_streams);
        server.restart();
        server
    }

    pub(crate) fn stopped(settings: &str, has_streams: bool) -> NatsServer {
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut text = format!("listen: 127.0.0.1:{port}\n{settings}");
        if has_streams {
            writeln!(text, "jetstream {{ store_dir: {:?} }}", dir.path().join("streams")).unwrap();
        }
        std::fs::write(dir.path().join("server.conf"), text).unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        NatsServer { port, dir, process: None, runtime }
    }

    /// Starts the server with its data, and waits until it takes connections.
    pub(crate) fn restart(&mut self) {
        let program = std::env::var("RHIZOME_NATS_SERVER").unwrap();
        let mut command = Command::new(program);
        command.arg("-c").arg(self.dir.path().join("server.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < super::PATIENCE, "nats-server takes no connections");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Runs a test's own client.
    pub(crate) fn with_client<T>(&self, work: impl AsyncFnOnce(Context) -> T) -> T {
        self.runtime.block_on(async { work(jetstream::new(async_nats::connect(self.url()).await.unwrap())).await })
    }

    /// Publishes messages under subjects of blocks: hash, number, payload.
    pub(crate) fn publish(&self, genesis: &B256, messages: impl IntoIterator<Item = (B256, u64, Vec<u8>)>) {
        self.with_client(async |context| {
            for (hash, number, payload) in messages {
                let subject = format!("rhizome.{}.block.{}", hex::encode(genesis), hex::encode(hash));
                let message = PublishMessage::build().header("Rhizome-Number", number.to_string());
                let sent = context.send_publish(subject, message.payload(payload.into())).await.unwrap();
                sent.await.unwrap();
            }
        });
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
