//! Optimizations that a benchmark can turn off, which measures what each of them saves.
//!
//! The environment variable `BENCH_RHIZOME_WITHOUT` names them, separated by commas. It is read once, when the addon
//! needs the first of them. It is not a setting: all optimizations are on in production.

use rhizome_answers::RpcError;
use std::sync::LazyLock;

/// Environment variable with the names of the optimizations that are off.
const VARIABLE: &str = "BENCH_RHIZOME_WITHOUT";

/// The optimizations of the addon: whether each is on.
pub(crate) struct Optimizations {
    /// `inline-calls`: short executions run on the thread of the caller, see `executors.rs`.
    pub(crate) inline_calls: bool,
    /// `batched-recovery`: one thread recovers the senders of several transactions at once, see `sending.rs`.
    pub(crate) batched_recovery: bool,
    /// Names of the variable that no optimization has.
    unknown: Vec<String>,
}

static OPTIMIZATIONS: LazyLock<Optimizations> =
    LazyLock::new(|| Optimizations::without(&std::env::var(VARIABLE).unwrap_or_default()));

/// Returns the optimizations of this process.
pub(crate) fn optimizations() -> &'static Optimizations {
    &OPTIMIZATIONS
}

impl Optimizations {
    fn without(names: &str) -> Self {
        let mut on = Self { inline_calls: true, batched_recovery: true, unknown: Vec::new() };
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "inline-calls" => on.inline_calls = false,
                "batched-recovery" => on.batched_recovery = false,
                other => on.unknown.push(other.to_owned()),
            }
        }
        on
    }

    /// Fails if the variable names an optimization that does not exist: the benchmark would measure nothing.
    pub(crate) fn check(&self) -> Result<(), RpcError> {
        match self.unknown.first() {
            Some(name) => Err(RpcError::internal(format!("{VARIABLE}: no optimization is called {name}"))),
            None => Ok(()),
        }
    }
}
