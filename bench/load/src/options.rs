//! The flags.

use std::net::SocketAddr;
use std::time::Duration;

/// What is measured and how.
pub struct Options {
    /// Where the server listens.
    pub address: SocketAddr,
    /// The `Host` header.
    pub host: String,
    /// File with the requests and their answers.
    pub plan: String,
    /// Connections; each has one request on its way at a time.
    pub connections: usize,
    /// How long requests are sent.
    pub time: Duration,
    /// Between an answer and the next request of a connection.
    pub pause: Duration,
    /// An answer that has not come after so long is lost.
    pub patience: Duration,
    /// Each request is sent once; the run ends with the last.
    pub is_once: bool,
}

/// Reads `--name value` pairs.
pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut address = None;
    let mut host = None;
    let mut plan = None;
    let mut connections = 32;
    let mut time = Duration::from_secs(1);
    let mut pause = Duration::ZERO;
    let mut patience = Duration::from_secs(30);
    let mut is_once = false;
    while let Some(name) = arguments.next() {
        if name == "--once" {
            is_once = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
        let milliseconds = || value.parse().map(Duration::from_millis).map_err(|_| format!("{name}: not a number"));
        match name.as_str() {
            "--address" => address = Some(value.parse().map_err(|_| format!("{name}: not an address"))?),
            "--host" => host = Some(value),
            "--plan" => plan = Some(value),
            "--connections" => connections = value.parse().map_err(|_| format!("{name}: not a number"))?,
            "--time-ms" => time = milliseconds()?,
            "--pause-ms" => pause = milliseconds()?,
            "--patience-ms" => patience = milliseconds()?,
            _ => return Err(format!("{name}: no such flag")),
        }
    }
    let address: SocketAddr = address.ok_or("--address is missing")?;
    let host = host.unwrap_or_else(|| address.to_string());
    Ok(Options { address, host, plan: plan.ok_or("--plan is missing")?, connections, time, pause, patience, is_once })
}
