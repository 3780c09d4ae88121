//! Tells JavaScript that something changed: the head, or the pool.
//!
//! Each worker may have one listener of each kind. A call carries nothing, and while one waits to be run there is no
//! other: who is called asks what is new since the last time (`feed`). So a slow listener never misses anything and
//! never holds up the chain.

use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A weak callback: it does not keep a worker alive.
type Callback = ThreadsafeFunction<(), (), (), Status, false, true>;

struct Listener {
    callback: Callback,
    /// Whether a call waits to be run.
    is_called: Arc<AtomicBool>,
}

/// The listeners of all workers to one kind of change, by environment.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<usize, Listener>>);

impl Listeners {
    /// Sets the listener of an environment, which goes with it.
    pub(crate) fn set(self: &Arc<Self>, env: &Env, callback: &Function<'_, (), ()>) -> Result<()> {
        let is_called = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_called);
        let build = callback.build_threadsafe_function::<()>().weak::<true>();
        let callback = build.build_callback(move |_context| {
            // Before the callback asks what is new: what happens from here on brings another call.
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
        // Dropped after the lock is given back.
        let _listener = self.0.lock().remove(&environment);
    }

    /// Calls all listeners. Never waits for JavaScript.
    pub(crate) fn notify(&self) {
        for listener in self.0.lock().values() {
            if !listener.is_called.swap(true, Ordering::AcqRel) {
                // A worker that is going away refuses the call; its listener is removed by its own clean-up.
                listener.callback.call((), ThreadsafeFunctionCallMode::NonBlocking);
            }
        }
    }
}
