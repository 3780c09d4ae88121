//! Promises that threads of the pool settle.
//!
//! Node-API's own way, a thread-safe function for each promise, wakes the worker while it holds a lock. The worker then
//! takes the processor from the thread of the pool, whose priority is lower, blocks on the lock, and waits until that
//! thread gets a processor again: milliseconds on a busy machine, for all clients of the worker. So results go through a
//! lock-free channel, and a wake-up without a lock (`uv`) announces all that have arrived.
//!
//! Preliminary, from one quick run of the bench on a busy machine, not interleaved: with thread-safe functions, an
//! `eth_call` of 1,000 rounds of Keccak took 576 instead of 422 microseconds of processor time, `eth_sendRawTransaction`
//! 130 instead of 95. `BENCH_RHIZOME_WITHOUT=libuv-completions` measures it.
//!
//! The functions of libuv for that are not documented by Node. Where they are missing, promises are settled in Node-API's
//! own way.
#![expect(unsafe_code, reason = "promises by their handles, on the thread that made them")]

use crate::deferred::{self, DeferredReply};
use crate::optimizations::optimizations;
use crate::reply::{Reply, refusal};
use crate::uv::{self, Waker, Wakeup};
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsError, Result, check_status, sys};
use rhizome_answers::Answer;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of results that are handed to JavaScript in one callback.
const MAX_CALLBACK_BYTES: usize = 256 << 10;
/// Bytes that a result counts as on top of its length, for the work that JavaScript does for it.
const BASE_RESULT_BYTES: usize = 4 << 10;

thread_local! {
    /// Completions of the worker on this thread, from its first promise to its end.
    static COMPLETIONS: RefCell<Option<Rc<Completions>>> = const { RefCell::new(None) };
}

/// The promises of one worker that are settled through its channel.
struct Completions {
    env: sys::napi_env,
    /// `settle_some` as JavaScript sees it.
    settle_some: sys::napi_ref,
    receiver: Receiver<Completion>,
    sender: Sender<Completion>,
    wakeup: Wakeup,
    /// Number of promises that are not settled. The loop keeps running while it is not 0.
    open: Cell<usize>,
}

/// The native end of a promise of the pool. Any thread can settle it.
pub(crate) enum PendingReply {
    /// Settled through the channel of the worker.
    Channel(ChannelReply),
    /// Settled in Node-API's own way.
    ThreadSafeFunction(DeferredReply),
}

/// A promise, and the way back to the thread that made it.
pub(crate) struct ChannelReply {
    promise: Deferred,
    sender: Sender<Completion>,
    waker: Arc<Waker>,
}

struct Completion {
    promise: Deferred,
    answer: Answer,
}

struct Deferred(sys::napi_deferred);

// Safety: it travels through other threads, but only the thread that made it uses it.
unsafe impl Send for Deferred {}

impl PendingReply {
    /// Settles the promise. Does nothing if the worker has ended.
    pub(crate) fn settle(self, answer: Answer) {
        match self {
            Self::Channel(ChannelReply { promise, sender, waker }) => {
                if sender.send(Completion { promise, answer }).is_ok() {
                    waker.wake();
                }
            }
            Self::ThreadSafeFunction(reply) => deferred::settle(reply, answer),
        }
    }
}

/// Makes a promise. Returns its native end and its value in JavaScript.
pub(crate) fn promise(env: &Env) -> Result<(PendingReply, Object<'_>)> {
    if !optimizations().libuv_completions || !uv::is_available() {
        let (reply, promise) = deferred::promise(env)?;
        return Ok((PendingReply::ThreadSafeFunction(reply), promise));
    }
    let completions = completions(env)?;
    let (mut deferred, mut value) = (null_mut(), null_mut());
    // Safety: the environment is that of the caller.
    check_status!(unsafe { sys::napi_create_promise(env.raw(), &mut deferred, &mut value) }, "Node gave no promise")?;
    if completions.open.replace(completions.open.get() + 1) == 0 {
        completions.wakeup.keep_loop(true);
    }
    let (sender, waker) = (completions.sender.clone(), completions.wakeup.waker());
    let reply = ChannelReply { promise: Deferred(deferred), sender, waker };
    Ok((PendingReply::Channel(reply), Object::from_raw(env.raw(), value)))
}

fn completions(env: &Env) -> Result<Rc<Completions>> {
    COMPLETIONS.with_borrow_mut(|completions| match completions {
        Some(completions) => Ok(Rc::clone(completions)),
        None => Ok(Rc::clone(completions.insert(Rc::new(Completions::new(env)?)))),
    })
}

impl Completions {
    fn new(env: &Env) -> Result<Self> {
        let (mut function, mut settle_some_ref) = (null_mut(), null_mut());
        let (sender, receiver) = channel();
        let raw = env.raw();
        // Safety: the environment is that of the caller, on its thread. The name is optional.
        unsafe {
            let status = sys::napi_create_function(raw, null(), 0, Some(settle_some), null_mut(), &mut function);
            check_status!(status, "Node gave no function")?;
            let status = sys::napi_create_reference(raw, function, 1, &mut settle_some_ref);
            check_status!(status, "Node gave no reference")?;
            let wakeup = Wakeup::new(env, on_wakeup)?;
            let status = sys::napi_add_async_cleanup_hook(raw, Some(on_worker_end), null_mut(), null_mut());
            check_status!(status, "Node took no hook")?;
            Ok(Self { env: raw, settle_some: settle_some_ref, receiver, sender, wakeup, open: Cell::new(0) })
        }
    }

    /// Settles promises whose results have arrived, a bounded number at once, because JavaScript continues behind each of
    /// them. The rest follows after the loop has served its sockets.
    fn settle_some(&self) {
        let mut left = MAX_CALLBACK_BYTES;
        for Completion { promise: Deferred(deferred), answer } in self.receiver.try_iter() {
            let taken = BASE_RESULT_BYTES + answer.as_ref().map_or(0, Vec::len);
            // Safety: JavaScript calls this function on the thread that made the promises.
            unsafe {
                // These calls fail only if the worker is ending.
                let _ending = match answer.map_err(refusal).and_then(|text| Reply::to_napi_value(self.env, Reply(text)))
                {
                    Ok(value) => sys::napi_resolve_deferred(self.env, deferred, value),
                    Err(error) => {
                        sys::napi_reject_deferred(self.env, deferred, JsError::from(error).into_value(self.env))
                    }
                };
            }
            if self.open.replace(self.open.get() - 1) == 1 {
                self.wakeup.keep_loop(false);
            }
            left = left.saturating_sub(taken);
            if left == 0 {
                self.wakeup.waker().wake();
                return;
            }
        }
    }
}

/// Callback of libuv after a wake-up. Calls `settle_some` through Node, which runs what waits for the promises after it.
unsafe extern "C" fn on_wakeup(_handle: *mut c_void) {
    let Some(completions) = COMPLETIONS.with_borrow(Option::clone) else { return };
    let (mut scope, mut function, mut global) = (null_mut(), null_mut(), null_mut());
    // Safety: the environment of this thread, between two tasks of its loop.
    unsafe {
        if sys::napi_open_handle_scope(completions.env, &mut scope) != sys::Status::napi_ok {
            return;
        }
        sys::napi_get_reference_value(completions.env, completions.settle_some, &mut function);
        sys::napi_get_global(completions.env, &mut global);
        let status = sys::napi_make_callback(completions.env, null_mut(), global, function, 0, null(), null_mut());
        if status == sys::Status::napi_pending_exception {
            report_exception(completions.env);
        }
        sys::napi_close_handle_scope(completions.env, scope);
    }
}

/// Reports an exception that JavaScript did not catch. Otherwise Node-API would keep it: further callbacks would be refused,
/// and a clean-up hook of the ending worker, in which no handle may be made, would make one for it.
///
/// # Safety
///
/// Runs on the thread of the environment, in an open handle scope.
unsafe fn report_exception(env: sys::napi_env) {
    let mut exception = null_mut();
    // Safety: as above.
    unsafe {
        if sys::napi_get_and_clear_last_exception(env, &mut exception) == sys::Status::napi_ok
            && sys::napi_fatal_exception(env, exception) != sys::Status::napi_ok
        {
            // The worker is ending, or its handler of uncaught exceptions has failed.
            sys::napi_get_and_clear_last_exception(env, &mut exception);
        }
    }
}

unsafe extern "C" fn settle_some(_env: sys::napi_env, _info: sys::napi_callback_info) -> sys::napi_value {
    let completions = COMPLETIONS.with_borrow(Option::clone);
    // A panic must not unwind into C.
    let _panic = catch_unwind(AssertUnwindSafe(|| completions.iter().for_each(|one| one.settle_some())));
    null_mut()
}

/// Callback of Node when the worker ends.
unsafe extern "C" fn on_worker_end(hook: sys::napi_async_cleanup_hook_handle, _data: *mut c_void) {
    if let Some(completions) = COMPLETIONS.take() {
        completions.wakeup.close(hook);
    }
}
