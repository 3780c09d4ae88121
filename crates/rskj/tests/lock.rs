//! The lock of a running node: locks of files are those of a process, so that another process has to hold it.
#![cfg(unix)]

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, stdin};
use std::process::{Command, Stdio};

use rhizome_primitives::ChainSpec;
use rustix::fs::{FlockOperation, fcntl_lock};

use super::{empty_chain, import_all, recorded};

const LOCKED_FILE: &str = "RHIZOME_TEST_LOCKED_FILE";

#[test]
fn a_directory_in_use_is_refused() {
    let dir = recorded("rocksdb");
    let path = dir.path().join("blocks/LOCK");
    fs::write(&path, "").unwrap();
    let mut holder = Command::new(env::current_exe().unwrap());
    holder.args(["--exact", "--nocapture", "lock::holder"]).env(LOCKED_FILE, &path);
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("holds the lock")));
    let chain = empty_chain(ChainSpec::regtest());
    let error = import_all(&chain, dir.path()).unwrap_err().to_string();
    assert!(error.ends_with("in use by a running node: stop it first"), "{error}");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    import_all(&chain, dir.path()).unwrap();
}

/// The other process: holds the lock until its input ends.
#[test]
fn holder() {
    let Some(path) = env::var_os(LOCKED_FILE) else { return };
    let file = File::options().write(true).open(path).unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    println!("holds the lock");
    stdin().lines().for_each(drop);
}
