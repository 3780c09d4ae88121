//! Notifies JavaScript of a new head and of changes of the transaction pool.
//!
//! Each worker may have one listener of each kind. A notification carries no data, and at most one is pending: the
//! listener then reads the changes since its last read (`feed`). So a slow listener misses nothing and never delays the
//! chain.

use napi::bindgen_prelude::{Function, Uint32Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Weak callback: it does not keep the worker running.
type NotifyFunction = ThreadsafeFunction<(), (), (), Status, false, true>;

struct Listener {
    callback: NotifyFunction,
    /// Whether a notification is pending.
    is_called: Arc<AtomicBool>,
}

/// Number of changes of the head, of the node and of whether it is open. Workers read it in memory for each answer, in a tenth of the
/// time of a call.
static HEAD_CHANGES: AtomicU32 = AtomicU32::new(0);

/// Counts a change. Called after it is visible.
pub(crate) fn count_head_change() {
    HEAD_CHANGES.fetch_add(1, Ordering::Release);
}

/// Returns the memory of the number of changes.
#[allow(unsafe_code)]
pub(crate) fn head_change_count() -> Uint32Array {
    // SAFETY: the memory is static, one aligned word long, and written by atomic additions only.
    unsafe { Uint32Array::with_external_data(HEAD_CHANGES.as_ptr(), 1, |_, _| {}) }
}

/// Listeners of all workers for one kind of change, by environment.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<usize, Listener>>);

impl Listeners {
    /// Sets the listener of an environment. It is removed when the environment ends.
    pub(crate) fn set(self: &Arc<Self>, env: &Env, callback: &Function<'_, (), ()>) -> Result<()> {
        let is_called = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_called);
        let build = callback.build_threadsafe_function::<()>().weak::<true>();
        let callback = build.build_callback(move |_context| {
            // Cleared before the callback reads the changes: later changes cause another notification.
            flag.store(false, Ordering::Release);
            Ok(())
        })?;
        let environment = env.raw() as usize;
        if self.0.lock().insert(environment, Listener { callback, is_called }).is_none() {
            let listeners = Arc::clone(self);
            env.add_env_cleanup_hook(environment, move |environment| listeners.remove(environment))?;
        }
        Ok(())
    }

    fn remove(&self, environment: usize) {
        // Dropped after the lock is released.
        let _listener = self.0.lock().remove(&environment);
    }

    /// Notifies all listeners. Never waits for JavaScript.
    pub(crate) fn notify(&self) {
        for listener in self.0.lock().values() {
            if !listener.is_called.swap(true, Ordering::AcqRel) {
                // A worker that is ending rejects the call; its clean-up removes the listener.
                listener.callback.call((), ThreadsafeFunctionCallMode::NonBlocking);
            }
        }
    }
}
