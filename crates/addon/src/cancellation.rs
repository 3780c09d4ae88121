//! Cancellation tokens: numbers by which a caller ends a running execution.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends an execution when it is raised.
pub(crate) type Cancellation = Arc<AtomicBool>;

/// The flags of all running and queued executions by token.
#[derive(Default)]
pub(crate) struct CancellationTokens(Mutex<HashMap<i64, Cancellation>>);

impl CancellationTokens {
    /// Registers an execution and returns its flag.
    pub(crate) fn issue(&self, token: i64) -> Cancellation {
        let cancellation = Cancellation::default();
        self.0.lock().insert(token, Arc::clone(&cancellation));
        cancellation
    }

    /// Removes an execution that has ended.
    pub(crate) fn settle(&self, token: i64) {
        self.0.lock().remove(&token);
    }

    /// Ends an execution. Unknown tokens belong to executions that ended before.
    pub(crate) fn cancel(&self, token: i64) {
        if let Some(cancellation) = self.0.lock().get(&token) {
            cancellation.store(true, Ordering::Relaxed);
        }
    }

    /// Ends all executions.
    pub(crate) fn cancel_all(&self) {
        self.0.lock().values().for_each(|cancellation| cancellation.store(true, Ordering::Relaxed));
    }
}
