//! Command line flags.

use crate::protocol::Protocol;
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of a run.
pub struct Options {
    /// Address of the server.
    pub address: SocketAddr,
    pub protocol: Protocol,
    pub work: Work,
    /// Connections, each with one request in flight or one subscription.
    pub connections: usize,
    /// Duration of the run.
    pub time: Duration,
    /// Pause between an answer and the next request of a connection.
    pub pause: Duration,
    /// Time after which an answer is lost.
    pub timeout: Duration,
    /// Sends each request once; the run ends with the last answer.
    pub is_once: bool,
}

/// Use of the connections.
pub enum Work {
    /// Sends the requests of this file.
    Plan(String),
    /// Subscribes to new heads.
    Subscribe,
}

/// Reads `--name value` pairs.
pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut address = None;
    let mut host = None;
    let mut path = None;
    let mut plan = None;
    let mut connections = 32;
    let mut time = Duration::from_secs(1);
    let mut pause = Duration::ZERO;
    let mut timeout = Duration::from_secs(30);
    let mut is_once = false;
    let mut is_subscribing = false;
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--once" => is_once = true,
            "--subscribe" => is_subscribing = true,
            _ => {
                let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
                let milliseconds =
                    || value.parse().map(Duration::from_millis).map_err(|_| format!("{name}: not a number"));
                match name.as_str() {
                    "--address" => address = Some(value.parse().map_err(|_| format!("{name}: not an address"))?),
                    "--host" => host = Some(value),
                    "--websocket" => path = Some(value),
                    "--plan" => plan = Some(value),
                    "--connections" => connections = value.parse().map_err(|_| format!("{name}: not a number"))?,
                    "--time-ms" => time = milliseconds()?,
                    "--pause-ms" => pause = milliseconds()?,
                    "--timeout-ms" => timeout = milliseconds()?,
                    _ => return Err(format!("{name}: no such flag")),
                }
            }
        }
    }
    let address: SocketAddr = address.ok_or("--address is missing")?;
    let host = host.unwrap_or_else(|| address.to_string());
    let work = match (plan, is_subscribing) {
        (Some(plan), false) => Work::Plan(plan),
        (None, true) if path.is_some() => Work::Subscribe,
        (None, true) => return Err("--subscribe: needs --websocket".to_owned()),
        _ => return Err("expected either --plan or --subscribe".to_owned()),
    };
    let protocol = match path {
        None => Protocol::Http { host },
        Some(path) => Protocol::WebSocket { host, path },
    };
    Ok(Options { address, protocol, work, connections, time, pause, timeout, is_once })
}
