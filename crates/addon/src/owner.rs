//! Owner of the requests that this thread serves: app, client and connection. The pool is fair between owners, and answers of batches
//! cross differently.

use napi::bindgen_prelude::{Function, FunctionRef, Uint32Array};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::fair_queue::Owner;
use std::cell::OnceCell;
use std::hash::{BuildHasher, RandomState};
use std::mem::ManuallyDrop;
use std::sync::LazyLock;

thread_local! {
    /// Three numbers that JavaScript writes before each request. `ManuallyDrop`: the environment of the worker may have
    /// ended when this thread ends.
    static OWNER: OnceCell<ManuallyDrop<Uint32Array>> = const { OnceCell::new() };
    static CLIENT: OnceCell<ManuallyDrop<FunctionRef<(), String>>> = const { OnceCell::new() };
}

/// Numbers of clients are the same on all threads, and no client can choose one.
static CLIENT_NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Sets the array in which this thread writes the owner of its next request: app (0: none), connection, and 1 for a request of a
/// batch; and the function that returns the network of the client, which is called for executions in the pool only. Later calls have
/// no effect.
#[napi(catch_unwind, ts_args_type = "owner: Uint32Array, client: () => string")]
pub fn share_owner(owner: Uint32Array, client: Function<'_, (), String>) -> Result<()> {
    let client = client.create_ref()?;
    OWNER.with(|shared| {
        let _shared_already = shared.set(ManuallyDrop::new(owner));
    });
    CLIENT.with(|shared| {
        let _shared_already = shared.set(ManuallyDrop::new(client));
    });
    Ok(())
}

/// Returns the owner of the current request of this thread.
pub(crate) fn current(env: &Env) -> Result<Owner> {
    let client = CLIENT.with(|shared| shared.get().map(|client| client.borrow_back(env)?.call(())).transpose())?;
    // Half of the bits are enough: with equal numbers, two clients share their turns.
    let client = client.map_or(0, |network| CLIENT_NUMBERS.hash_one(network) as u32);
    Ok(OWNER.with(|shared| match shared.get().map(|owner| &***owner) {
        Some([app, connection, ..]) => Owner { app: *app, client, connection: *connection },
        _ => Owner::default(),
    }))
}

/// Returns true if the current request of this thread is one of a batch.
pub(crate) fn is_batch() -> bool {
    OWNER.with(|shared| shared.get().is_some_and(|owner| matches!(&***owner, [_, _, 1])))
}
