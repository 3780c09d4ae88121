//! Wakes the event loop of a worker from any thread, without a lock: a handle of libuv, which Node-API leaves out.
//!
//! The functions are those of `uv.h`, which are stable within version 1 of libuv; Node exports them, but does not document
//! that. [`is_available`] returns whether this process has them.
#![expect(unsafe_code, reason = "libuv is C; Node exports it")]

use libloading::Error as LoadError;
#[cfg(unix)]
use libloading::os::unix::Library;
#[cfg(windows)]
use libloading::os::windows::Library;
use napi::{Env, Error, Result, Status, check_status, sys};
use parking_lot::RwLock;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, LazyLock};

/// `UV_ASYNC` of `uv_handle_type`.
const ASYNC: c_int = 1;
/// Space for a `uv_async_t`: 128 bytes on Linux, 224 on Windows.
const HANDLE_BYTES: usize = 512;

/// A handle, and the hook of the ending worker that waits until the handle is closed.
#[repr(C, align(16))]
struct HandleMemory {
    handle: [u8; HANDLE_BYTES],
    hook: sys::napi_async_cleanup_hook_handle,
}

type UvCallback = unsafe extern "C" fn(*mut c_void);

struct Functions {
    handle_size: unsafe extern "C" fn(c_int) -> usize,
    async_init: unsafe extern "C" fn(*mut c_void, *mut c_void, UvCallback) -> c_int,
    async_send: unsafe extern "C" fn(*mut c_void) -> c_int,
    reference: unsafe extern "C" fn(*mut c_void),
    unreference: unsafe extern "C" fn(*mut c_void),
    close: unsafe extern "C" fn(*mut c_void, UvCallback),
}

/// Looked up once per process. `None` if a symbol is missing or a handle is larger than [`HANDLE_BYTES`].
static FUNCTIONS: LazyLock<Option<Functions>> = LazyLock::new(|| {
    let functions = Functions::find().ok()?;
    // Safety: the function only looks up a size.
    let size = unsafe { (functions.handle_size)(ASYNC) };
    (size <= HANDLE_BYTES).then_some(functions)
});

/// Returns whether a [`Wakeup`] can be made in this process.
pub(crate) fn is_available() -> bool {
    FUNCTIONS.is_some()
}

impl Functions {
    fn find() -> std::result::Result<Self, LoadError> {
        #[cfg(unix)]
        let node = Library::this();
        #[cfg(windows)]
        let node = Library::this()?;
        // Safety: the types are those of uv.h, which do not change within version 1. The program is never unloaded.
        unsafe {
            Ok(Self {
                handle_size: *node.get(b"uv_handle_size\0")?,
                async_init: *node.get(b"uv_async_init\0")?,
                async_send: *node.get(b"uv_async_send\0")?,
                reference: *node.get(b"uv_ref\0")?,
                unreference: *node.get(b"uv_unref\0")?,
                close: *node.get(b"uv_close\0")?,
            })
        }
    }
}

/// A handle of the event loop of the worker that made it. Closes when the worker ends.
pub(crate) struct Wakeup {
    waker: Arc<Waker>,
    /// The handle belongs to the thread of the loop: this type must not be sent to another thread.
    _not_send: PhantomData<*mut c_void>,
}

/// Wakes the loop from any thread.
pub(crate) struct Waker {
    functions: &'static Functions,
    /// `None` after the worker has ended. Written only then, so no reader waits for the lock.
    handle: RwLock<Option<NonNull<c_void>>>,
}

// Safety: `uv_async_send` may be called on every thread, and a `Waker` calls no other function with the handle until it is
// closed on the thread of the loop.
unsafe impl Send for Waker {}
unsafe impl Sync for Waker {}

impl Waker {
    /// Makes the loop call back soon: once for all calls of this function until then.
    pub(crate) fn wake(&self) {
        if let Some(handle) = &*self.handle.read() {
            // Safety: the handle stays open as long as the lock is held for reading.
            unsafe { (self.functions.async_send)(handle.as_ptr()) };
        }
    }
}

impl Wakeup {
    /// Makes a handle whose waker makes the loop call `callback` on this thread. Does not keep the loop running.
    pub(crate) fn new(env: &Env, callback: UvCallback) -> Result<Self> {
        let functions =
            FUNCTIONS.as_ref().ok_or_else(|| Error::new(Status::GenericFailure, "libuv is not available"))?;
        let mut uv_loop = null_mut();
        // Safety: the environment is that of the caller. The memory of the handle is freed after the loop has closed it.
        unsafe {
            check_status!(sys::napi_get_uv_event_loop(env.raw(), &mut uv_loop), "the worker has no loop")?;
            let memory = Box::into_raw(Box::new(HandleMemory { handle: [0; HANDLE_BYTES], hook: null_mut() }));
            let handle = NonNull::new_unchecked(memory).cast::<c_void>();
            if (functions.async_init)(uv_loop.cast(), handle.as_ptr(), callback) != 0 {
                drop(Box::from_raw(memory));
                return Err(Error::new(Status::GenericFailure, "the loop takes no handle"));
            }
            (functions.unreference)(handle.as_ptr());
            let waker = Arc::new(Waker { functions, handle: RwLock::new(Some(handle)) });
            Ok(Self { waker, _not_send: PhantomData })
        }
    }

    /// Returns the part that other threads use.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Sets whether the handle keeps the loop running.
    pub(crate) fn keep_loop(&self, is_kept: bool) {
        let Waker { functions, handle } = &*self.waker;
        let set = if is_kept { functions.reference } else { functions.unreference };
        if let Some(handle) = &*handle.read() {
            // Safety: the handle is open, and this is the thread of its loop.
            unsafe { set(handle.as_ptr()) };
        }
    }

    /// Closes the handle. Removes `hook`, for which the ending worker waits, after the loop has closed it.
    pub(crate) fn close(&self, hook: sys::napi_async_cleanup_hook_handle) {
        if let Some(handle) = self.waker.handle.write().take() {
            // Safety: the handle is open until here, and no other thread has it any more.
            unsafe {
                (*handle.cast::<HandleMemory>().as_ptr()).hook = hook;
                (self.waker.functions.close)(handle.as_ptr(), free);
            }
        }
    }
}

unsafe extern "C" fn free(handle: *mut c_void) {
    // Safety: it was a box, and the loop has closed it. The hook is that of the ending worker.
    unsafe {
        let memory = Box::from_raw(handle.cast::<HandleMemory>());
        sys::napi_remove_async_cleanup_hook(memory.hook);
    }
}
