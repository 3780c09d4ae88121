//! Requests to one peer that wait for their answers.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Requests by id with the time at which they were sent.
pub(crate) struct WaitingRequests<R> {
    requests: HashMap<u64, (R, Instant)>,
    /// Time of the last answer to one of the requests.
    heard: Instant,
}

impl<R> Default for WaitingRequests<R> {
    fn default() -> Self {
        Self { requests: HashMap::new(), heard: Instant::now() }
    }
}

impl<R> WaitingRequests<R> {
    /// Adds a request that was sent now.
    pub(crate) fn add(&mut self, id: u64, request: R) {
        self.requests.insert(id, (request, Instant::now()));
    }

    /// Takes the request that an answer is for; `None` if there is none, or it was given up.
    pub(crate) fn answered(&mut self, id: u64) -> Option<R> {
        let (request, _) = self.requests.remove(&id)?;
        self.heard = Instant::now();
        Some(request)
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        self.requests.values().map(|(request, _)| request)
    }

    /// Returns the requests with the time since they were sent.
    pub(crate) fn with_age(&self, now: Instant) -> impl Iterator<Item = (&R, Duration)> {
        self.requests.values().map(move |(request, sent)| (request, now.saturating_duration_since(*sent)))
    }

    /// Whether answers have been missing for a time, and no other has arrived in it.
    pub(crate) fn is_silent(&self, time: Duration, now: Instant) -> bool {
        let oldest = self.requests.values().map(|(_, sent)| *sent).min();
        oldest.is_some_and(|oldest| now.duration_since(oldest.max(self.heard)) >= time)
    }

    /// Does not count a time in which this node did not run as silence of the peer: its answers may wait.
    pub(crate) fn excuse(&mut self, pause: Duration, now: Instant) {
        let later = |time: Instant| (time + pause).min(now);
        self.heard = later(self.heard);
        self.requests.values_mut().for_each(|(_, sent)| *sent = later(*sent));
    }

    /// Removes and returns requests that have waited for a time.
    pub(crate) fn take_late(&mut self, time: Duration, now: Instant) -> Vec<R> {
        let is_late = |_: &u64, (_, sent): &mut (R, Instant)| now.duration_since(*sent) >= time;
        self.requests.extract_if(is_late).map(|(_, (request, _))| request).collect()
    }

    /// Removes and returns all requests.
    pub(crate) fn take_all(&mut self) -> Vec<R> {
        self.requests.drain().map(|(_, (request, _))| request).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_this_node_is_no_silence_of_the_peer() {
        let mut waiting = WaitingRequests::default();
        let sent = waiting.heard;
        let (after, seconds) = (|seconds| sent + Duration::from_secs(seconds), Duration::from_secs);
        waiting.requests.insert(1, ("first", sent));
        waiting.requests.insert(2, ("second", after(14)));
        assert!(waiting.is_silent(seconds(15), after(15)));
        waiting.excuse(seconds(12), after(15));
        assert!(!waiting.is_silent(seconds(4), after(15)) && waiting.is_silent(seconds(3), after(15)));
        assert!(waiting.take_late(seconds(4), after(15)).is_empty());
        assert_eq!(waiting.take_late(seconds(3), after(15)), ["first"]);
        assert_eq!(waiting.requests[&2].1, after(15));
    }
}
