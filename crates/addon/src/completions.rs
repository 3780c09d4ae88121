//! Promises that the threads of the pool keep.
//!
//! Node-API's own way, a thread-safe function for each promise, wakes the worker while it holds a lock. The worker then
//! takes the processor from the thread that stands back, runs into the lock, and waits until that thread gets a processor
//! again: milliseconds on a busy machine, for all whom the worker serves. So answers go through a channel without locks,
//! and a bell without locks rings once for all that have come.
#![expect(unsafe_code, reason = "promises by their handles, on the thread that made them")]

use crate::reply::{Reply, refusal};
use crate::uv::{Bell, Wakeup};
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

/// Bytes of answers that are handed to JavaScript at a time.
const MOST_BYTES: usize = 256 << 10;
/// What an answer counts at least, for what JavaScript does with it.
const LEAST_BYTES: usize = 4 << 10;

thread_local! {
    /// Of the worker on this thread, from its first promise to its end.
    static DESK: RefCell<Option<Rc<Desk>>> = const { RefCell::new(None) };
}

/// What a worker has promised.
struct Desk {
    env: sys::napi_env,
    /// `settle_some` as JavaScript sees it.
    settle_some: sys::napi_ref,
    done: Receiver<Settled>,
    sender: Sender<Settled>,
    wakeup: Wakeup,
    /// Promises that are not kept yet. While there are any, the loop goes on.
    open: Cell<usize>,
}

/// A promise that any thread can keep.
pub(crate) struct PendingReply {
    promise: Deferred,
    sender: Sender<Settled>,
    bell: Arc<Bell>,
}

struct Settled {
    promise: Deferred,
    answer: Answer,
}

struct Deferred(sys::napi_deferred);

// Safety: it travels through other threads, but only the one that made it looks into it.
unsafe impl Send for Deferred {}

impl PendingReply {
    /// Keeps the promise. When the worker has ended, nobody hears of it.
    pub(crate) fn settle(self, answer: Answer) {
        let Self { promise, sender, bell } = self;
        if sender.send(Settled { promise, answer }).is_ok() {
            bell.ring();
        }
    }
}

/// A promise and its other end.
pub(crate) fn promise(env: &Env) -> Result<(PendingReply, Object<'_>)> {
    let desk = desk(env)?;
    let (mut deferred, mut value) = (null_mut(), null_mut());
    // Safety: the environment is that of the caller.
    check_status!(unsafe { sys::napi_create_promise(env.raw(), &mut deferred, &mut value) }, "Node gave no promise")?;
    if desk.open.replace(desk.open.get() + 1) == 0 {
        desk.wakeup.keep_loop(true);
    }
    let reply = PendingReply { promise: Deferred(deferred), sender: desk.sender.clone(), bell: desk.wakeup.bell() };
    Ok((reply, Object::from_raw(env.raw(), value)))
}

fn desk(env: &Env) -> Result<Rc<Desk>> {
    DESK.with_borrow_mut(|place| match place {
        Some(desk) => Ok(Rc::clone(desk)),
        None => Ok(Rc::clone(place.insert(Rc::new(Desk::new(env)?)))),
    })
}

impl Desk {
    fn new(env: &Env) -> Result<Self> {
        let (mut function, mut settle_some_ref) = (null_mut(), null_mut());
        let (sender, done) = channel();
        let raw = env.raw();
        // Safety: the environment is that of the caller, on its thread. The name is optional.
        unsafe {
            let status = sys::napi_create_function(raw, null(), 0, Some(settle_some), null_mut(), &mut function);
            check_status!(status, "Node gave no function")?;
            let status = sys::napi_create_reference(raw, function, 1, &mut settle_some_ref);
            check_status!(status, "Node gave no reference")?;
            let wakeup = Wakeup::new(env, wake)?;
            let status = sys::napi_add_async_cleanup_hook(raw, Some(end), null_mut(), null_mut());
            check_status!(status, "Node took no hook")?;
            Ok(Self { env: raw, settle_some: settle_some_ref, done, sender, wakeup, open: Cell::new(0) })
        }
    }

    /// Settles promises whose answers have arrived, a bounded number at a time: JavaScript works on each of them.
    /// The rest follows when the loop has looked at its sockets.
    fn settle_some(&self) {
        let mut left = MOST_BYTES;
        for Settled { promise: Deferred(deferred), answer } in self.done.try_iter() {
            let taken = LEAST_BYTES + answer.as_ref().map_or(0, Vec::len);
            // Safety: we are called by JavaScript on the thread that made the promises.
            unsafe {
                // What fails here fails because the worker is ending.
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
                self.wakeup.bell().ring();
                return;
            }
        }
    }
}

/// The bell has rung: libuv calls. Functions that Node calls back run with everything that JavaScript needs, and what waits
/// for the promises runs after them.
unsafe extern "C" fn wake(_handle: *mut c_void) {
    let Some(desk) = DESK.with_borrow(Option::clone) else { return };
    let (mut scope, mut function, mut global) = (null_mut(), null_mut(), null_mut());
    // Safety: the environment of this thread, between two tasks of its loop.
    unsafe {
        if sys::napi_open_handle_scope(desk.env, &mut scope) != sys::Status::napi_ok {
            return;
        }
        sys::napi_get_reference_value(desk.env, desk.settle_some, &mut function);
        sys::napi_get_global(desk.env, &mut global);
        sys::napi_make_callback(desk.env, null_mut(), global, function, 0, null(), null_mut());
        sys::napi_close_handle_scope(desk.env, scope);
    }
}

unsafe extern "C" fn settle_some(_env: sys::napi_env, _info: sys::napi_callback_info) -> sys::napi_value {
    let desk = DESK.with_borrow(Option::clone);
    // A panic must not cross the border.
    let _panic = catch_unwind(AssertUnwindSafe(|| desk.iter().for_each(|desk| desk.settle_some())));
    null_mut()
}

/// The worker ends: Node calls.
unsafe extern "C" fn end(hook: sys::napi_async_cleanup_hook_handle, _data: *mut c_void) {
    if let Some(desk) = DESK.take() {
        desk.wakeup.close(hook);
    }
}
