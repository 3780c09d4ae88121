//! Running executions by the number under which their caller can give them up.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends an execution when it is raised.
pub(crate) type Cancellation = Arc<AtomicBool>;

/// The flags of all running and waiting executions.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<HashMap<i64, Cancellation>>);

impl Tickets {
    /// A flag for a new execution.
    pub(crate) fn issue(&self, ticket: i64) -> Cancellation {
        let cancellation = Cancellation::default();
        self.0.lock().insert(ticket, Arc::clone(&cancellation));
        cancellation
    }

    /// Forgets an execution that ended.
    pub(crate) fn settle(&self, ticket: i64) {
        self.0.lock().remove(&ticket);
    }

    /// Ends an execution. Unknown tickets are those that ended before.
    pub(crate) fn cancel(&self, ticket: i64) {
        if let Some(cancellation) = self.0.lock().get(&ticket) {
            cancellation.store(true, Ordering::Relaxed);
        }
    }

    /// Ends all executions.
    pub(crate) fn cancel_all(&self) {
        self.0.lock().values().for_each(|cancellation| cancellation.store(true, Ordering::Relaxed));
    }
}
