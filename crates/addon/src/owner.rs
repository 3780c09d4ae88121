//! On whose account this thread asks, which decides when its jobs are run in the pool.

use napi::bindgen_prelude::Uint32Array;
use napi_derive::napi;
use rhizome_answers::fair_queue::Owner;
use std::cell::OnceCell;
use std::mem::ManuallyDrop;

thread_local! {
    /// Two cells that JavaScript writes before it asks. They belong to the worker, which may be gone when this ends.
    static CELLS: OnceCell<ManuallyDrop<Uint32Array>> = const { OnceCell::new() };
}

/// Hands over where this thread writes on whose account it asks: the app (0: none) and the connection. The first call counts.
#[napi(catch_unwind)]
pub fn share_owner(cells: Uint32Array) {
    CELLS.with(|place| {
        let _shared_already = place.set(ManuallyDrop::new(cells));
    });
}

/// On whose account this thread asks now.
pub(crate) fn current() -> Owner {
    CELLS.with(|place| match place.get().map(|cells| &***cells) {
        Some([app, connection]) => Owner { app: *app, connection: *connection },
        _ => Owner::default(),
    })
}
