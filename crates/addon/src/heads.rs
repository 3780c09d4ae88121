//! Tells JavaScript of new heads.
//!
//! Each worker may have one listener. A call carries a number and a hash; while one waits to be run, later heads replace
//! what it carries, so a slow listener misses heads in between, but never the last one.

use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use parking_lot::Mutex;
use rhizome_chain::ChainEvent;
use rhizome_primitives::B256;
use std::collections::HashMap;
use std::sync::Arc;

/// What a listener is called with: number and hash.
pub(crate) type HeadArguments = FnArgs<(i64, String)>;
/// A weak callback: it does not keep a worker alive.
pub(crate) type HeadCallback = ThreadsafeFunction<(), (), HeadArguments, Status, false, true>;

/// The head that a waiting call will carry.
#[derive(Default)]
pub(crate) struct Notice(Mutex<NoticeState>);

#[derive(Default)]
struct NoticeState {
    number: i64,
    hash: B256,
    is_waiting: bool,
}

impl Notice {
    /// Takes the arguments of the call that runs now.
    pub(crate) fn take(&self) -> HeadArguments {
        let mut state = self.0.lock();
        state.is_waiting = false;
        (state.number, state.hash.to_string()).into()
    }

    /// Puts a head in; true when no call waits to carry it.
    fn put(&self, number: u64, hash: B256) -> bool {
        let mut state = self.0.lock();
        (state.number, state.hash) = (number.cast_signed(), hash);
        !std::mem::replace(&mut state.is_waiting, true)
    }
}

struct Listener {
    callback: HeadCallback,
    notice: Arc<Notice>,
}

/// The listeners of all workers, by environment.
#[derive(Default)]
pub(crate) struct HeadListeners(Mutex<HashMap<usize, Listener>>);

impl HeadListeners {
    /// Sets the listener of an environment. True when it is its first.
    pub(crate) fn set(&self, environment: usize, callback: HeadCallback, notice: Arc<Notice>) -> bool {
        self.0.lock().insert(environment, Listener { callback, notice }).is_none()
    }

    /// Forgets the listener of an environment.
    pub(crate) fn remove(&self, environment: usize) {
        // Dropped after the lock is given back.
        let _listener = self.0.lock().remove(&environment);
    }

    /// Passes an event of the chain on. Never waits for JavaScript.
    pub(crate) fn notify(&self, event: &ChainEvent) {
        let ChainEvent::NewHead { number, hash, .. } = event else { return };
        for listener in self.0.lock().values() {
            if listener.notice.put(*number, *hash) {
                // A worker that is going away refuses the call; its listener is removed by its own clean-up.
                listener.callback.call((), ThreadsafeFunctionCallMode::NonBlocking);
            }
        }
    }
}
