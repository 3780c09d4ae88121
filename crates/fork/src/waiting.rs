//! Threads that must not wait for a remote node: the workers, which serve connections.

use std::cell::Cell;

thread_local! {
    static MUST_NOT_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Restores the permission at the end, also after a panic.
struct Restored(bool);

impl Drop for Restored {
    fn drop(&mut self) {
        MUST_NOT_WAIT.set(self.0);
    }
}

/// Runs `read` on a thread that must not wait: reads of values that are not in the cache fail with [`crate::ForkError::NotCached`].
pub fn without_requests<T>(read: impl FnOnce() -> T) -> T {
    let _restored = Restored(MUST_NOT_WAIT.replace(true));
    read()
}

/// Whether this thread may wait for a remote node.
pub(crate) fn may_wait() -> bool {
    !MUST_NOT_WAIT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permission_comes_back() {
        assert!(may_wait());
        without_requests(|| {
            assert!(!may_wait());
            without_requests(|| assert!(!may_wait()));
            assert!(!may_wait());
        });
        assert!(may_wait());
        std::panic::catch_unwind(|| without_requests(|| panic!("inside"))).unwrap_err();
        assert!(may_wait());
    }
}
