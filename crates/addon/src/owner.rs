//! Owner of the requests that this thread serves: app and connection. The pool is fair between owners, and answers of batches cross
//! differently.

use napi::bindgen_prelude::Uint32Array;
use napi_derive::napi;
use rhizome_answers::fair_queue::Owner;
use std::cell::OnceCell;
use std::mem::ManuallyDrop;

thread_local! {
    /// Three numbers that JavaScript writes before each request. `ManuallyDrop`: the environment of the worker may have
    /// ended when this thread ends.
    static OWNER: OnceCell<ManuallyDrop<Uint32Array>> = const { OnceCell::new() };
}

/// Sets the array in which this thread writes the owner of its next request: app (0: none), connection, and 1 for a request of a
/// batch. Later calls have no effect.
#[napi(catch_unwind)]
pub fn share_owner(owner: Uint32Array) {
    OWNER.with(|shared| {
        let _shared_already = shared.set(ManuallyDrop::new(owner));
    });
}

/// Returns the owner of the current request of this thread.
pub(crate) fn current() -> Owner {
    OWNER.with(|shared| match shared.get().map(|owner| &***owner) {
        Some([app, connection, ..]) => Owner { app: *app, connection: *connection },
        _ => Owner::default(),
    })
}

/// Returns true if the current request of this thread is one of a batch.
pub(crate) fn is_batch() -> bool {
    OWNER.with(|shared| shared.get().is_some_and(|owner| matches!(&***owner, [_, _, 1])))
}
