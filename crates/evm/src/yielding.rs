//! Turns of threads that stand back.
//!
//! A system lets a thread run for milliseconds before it looks who else waits, even behind a thread of lower priority. So
//! long work gives way by itself, at the places where it looks at its deadline anyway.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

/// After so long others are let in.
const TURN: Duration = Duration::from_micros(100);

thread_local! {
    /// When this thread last let others in; none if it stands back for nobody.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// From now on this thread lets others in whenever it has had its turn.
pub fn yield_periodically() {
    BEGAN.set(Some(Instant::now()));
}

/// Lets others in if this thread stands back and has had its turn.
pub(crate) fn yield_if_due() {
    if BEGAN.get().is_some_and(|began| began.elapsed() >= TURN) {
        thread::yield_now();
        BEGAN.set(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_anew_when_others_were_let_in() {
        yield_if_due();
        assert_eq!(BEGAN.get(), None);
        yield_periodically();
        let first = BEGAN.get();
        thread::sleep(2 * TURN);
        yield_if_due();
        assert!(BEGAN.get() > first);
    }
}
