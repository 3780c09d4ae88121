//! Nodes in separate processes, which tests can kill.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver};

/// A node that prints lines `name value`, its address first. Its process is killed when this is dropped.
pub(crate) struct ChildNode {
    pub(crate) address: SocketAddr,
    process: Child,
    /// A thread reads them: the process never waits for a reader.
    lines: Receiver<String>,
}

impl ChildNode {
    /// Runs an ignored test of this binary with an environment variable. Waits for the address of its node.
    pub(crate) fn start(test: &str, variable: &str, value: impl AsRef<OsStr>) -> ChildNode {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(variable, value)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let address = values(lines.iter(), "address").next().unwrap();
        ChildNode { address, process, lines }
    }

    /// Waits for the next line `name value`.
    pub(crate) fn value<T: FromStr<Err: Debug>>(&self, name: &str) -> T {
        self.values(name).next().unwrap()
    }

    /// Returns the values of the next lines `name value`, up to the end of the process.
    pub(crate) fn values<T: FromStr<Err: Debug>>(&self, name: &str) -> impl Iterator<Item = T> {
        values(self.lines.iter(), name)
    }

    /// Returns the last value that was printed under a name since the last call; without waiting.
    pub(crate) fn last_printed<T: FromStr<Err: Debug>>(&self, name: &str) -> Option<T> {
        values(self.lines.try_iter(), name).last()
    }

    /// Kills the process. Lines that it has printed can still be read.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Returns a size in KiB that Linux states for the process, such as `VmRSS`.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        size.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for ChildNode {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the values of the lines `name value`. The output of the test has other lines, too.
fn values<T: FromStr<Err: Debug>>(lines: impl Iterator<Item = String>, name: &str) -> impl Iterator<Item = T> {
    lines.filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(' ')?.parse().unwrap()))
}
