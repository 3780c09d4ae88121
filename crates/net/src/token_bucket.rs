//! Limit of a rate with bursts.

use std::time::{Duration, Instant};

/// Tokens that refill at a constant rate up to a maximum. May be overdrawn by a single withdrawal.
#[derive(Debug, Clone)]
pub(crate) struct TokenBucket {
    tokens: f64,
    per_second: f64,
    maximum: f64,
    updated: Instant,
}

impl TokenBucket {
    /// Returns a full bucket.
    pub(crate) fn new(per_second: f64, maximum: f64, now: Instant) -> TokenBucket {
        TokenBucket { tokens: maximum, per_second, maximum, updated: now }
    }

    /// Takes one token. Returns whether there was one.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        self.refill(now);
        let has_token = self.tokens >= 1.0;
        if has_token {
            self.tokens -= 1.0;
        }
        has_token
    }

    /// Withdraws tokens, below zero if necessary.
    pub(crate) fn withdraw(&mut self, amount: f64, now: Instant) {
        self.refill(now);
        self.tokens -= amount;
    }

    /// Returns tokens that were withdrawn without need.
    pub(crate) fn refund(&mut self, amount: f64) {
        self.tokens = (self.tokens + amount).min(self.maximum);
    }

    /// Returns the time until the bucket is not overdrawn.
    pub(crate) fn debt(&mut self, now: Instant) -> Duration {
        self.refill(now);
        Duration::from_secs_f64((-self.tokens / self.per_second).max(0.0))
    }

    /// Whether the bucket is full, so that a new one is equal to it.
    pub(crate) fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.tokens >= self.maximum
    }

    fn refill(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.updated).as_secs_f64();
        self.tokens = (self.tokens + seconds * self.per_second).min(self.maximum);
        self.updated = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refills_at_its_rate() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(2.0, 3.0, start);
        assert_eq!((0..5).filter(|_| bucket.take(start)).count(), 3);
        assert!(bucket.take(start + Duration::from_millis(500)));
        assert!(!bucket.take(start + Duration::from_millis(500)));
        let late = start + Duration::from_secs(60);
        assert!(bucket.is_full(late));
        bucket.withdraw(5.0, late);
        assert_eq!(bucket.debt(late), Duration::from_secs(1));
        bucket.refund(2.0);
        assert_eq!(bucket.debt(late), Duration::ZERO);
    }
}
