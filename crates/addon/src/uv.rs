//! What Node-API leaves out of libuv, the loop of every worker: waking it without a lock.
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
use std::sync::{Arc, OnceLock};

/// `UV_ASYNC` of `uv_handle_type`.
const ASYNC: c_int = 1;
/// Room for a `uv_async_t`: 128 bytes on Linux, 224 on Windows.
const ROOM: usize = 512;

/// A handle, and who is told when it is closed.
#[repr(C, align(16))]
struct Room {
    handle: [u8; ROOM],
    hook: sys::napi_async_cleanup_hook_handle,
}

type Callback = unsafe extern "C" fn(*mut c_void);

struct Functions {
    handle_size: unsafe extern "C" fn(c_int) -> usize,
    async_init: unsafe extern "C" fn(*mut c_void, *mut c_void, Callback) -> c_int,
    async_send: unsafe extern "C" fn(*mut c_void) -> c_int,
    reference: unsafe extern "C" fn(*mut c_void),
    unreference: unsafe extern "C" fn(*mut c_void),
    close: unsafe extern "C" fn(*mut c_void, Callback),
}

/// Found in the process once.
static FUNCTIONS: OnceLock<std::result::Result<Functions, String>> = OnceLock::new();

fn functions() -> Result<&'static Functions> {
    let found = FUNCTIONS.get_or_init(|| Functions::find().map_err(|error| error.to_string()));
    found.as_ref().map_err(|error| Error::new(Status::GenericFailure, format!("libuv is not to be found: {error}")))
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

/// A handle of the loop of the worker that made it. Closes when the worker ends.
pub(crate) struct Wakeup {
    bell: Arc<Bell>,
    /// What the loop's own thread does, no other may do.
    _stays: PhantomData<*mut c_void>,
}

/// Wakes the loop from any thread.
pub(crate) struct Bell {
    functions: &'static Functions,
    /// None when the worker has ended. It is written only then, so nobody waits for the lock.
    handle: RwLock<Option<NonNull<c_void>>>,
}

// Safety: `uv_async_send` may be called on every thread, and nothing else is done with the handle here.
unsafe impl Send for Bell {}
unsafe impl Sync for Bell {}

impl Bell {
    /// Lets the loop call back soon, once for all who have rung meanwhile.
    pub(crate) fn ring(&self) {
        if let Some(handle) = &*self.handle.read() {
            // Safety: the handle is not closed before the lock was held for writing.
            unsafe { (self.functions.async_send)(handle.as_ptr()) };
        }
    }
}

impl Wakeup {
    /// Makes a handle whose bell calls `called` on this thread. Does not keep the loop running.
    pub(crate) fn new(env: &Env, called: Callback) -> Result<Self> {
        let functions = functions()?;
        let mut uv_loop = null_mut();
        // Safety: the environment is that of the caller. The handle stays where it is until the loop has let it go.
        unsafe {
            check_status!(sys::napi_get_uv_event_loop(env.raw(), &mut uv_loop), "the worker has no loop")?;
            if (functions.handle_size)(ASYNC) > ROOM {
                return Err(Error::new(Status::GenericFailure, "a handle of libuv is larger than expected"));
            }
            let room = Box::into_raw(Box::new(Room { handle: [0; ROOM], hook: null_mut() }));
            let handle = NonNull::new_unchecked(room).cast::<c_void>();
            if (functions.async_init)(uv_loop.cast(), handle.as_ptr(), called) != 0 {
                drop(Box::from_raw(room));
                return Err(Error::new(Status::GenericFailure, "the loop takes no handle"));
            }
            (functions.unreference)(handle.as_ptr());
            let bell = Arc::new(Bell { functions, handle: RwLock::new(Some(handle)) });
            Ok(Self { bell, _stays: PhantomData })
        }
    }

    /// What other threads get.
    pub(crate) fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Says whether the loop has to go on, though nothing else wants it to.
    pub(crate) fn keep_loop(&self, is_kept: bool) {
        let Bell { functions, handle } = &*self.bell;
        let tell = if is_kept { functions.reference } else { functions.unreference };
        if let Some(handle) = &*handle.read() {
            // Safety: the handle is open, and this is the thread of its loop.
            unsafe { tell(handle.as_ptr()) };
        }
    }

    /// Closes the handle, and tells the worker when it may end.
    pub(crate) fn close(&self, hook: sys::napi_async_cleanup_hook_handle) {
        if let Some(handle) = self.bell.handle.write().take() {
            // Safety: as above, and nobody has the handle any more.
            unsafe {
                (*handle.cast::<Room>().as_ptr()).hook = hook;
                (self.bell.functions.close)(handle.as_ptr(), free);
            }
        }
    }
}

unsafe extern "C" fn free(handle: *mut c_void) {
    // Safety: it was a box, and the loop has let it go. The hook is that of the ending worker.
    unsafe {
        let room = Box::from_raw(handle.cast::<Room>());
        sys::napi_remove_async_cleanup_hook(room.hook);
    }
}
