//! Number of messages of rsk/62 that a node of the reference takes in a minute (docs/spec/p2p.md, 7.3; p2p-additions.md, B).

use parking_lot::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Messages in a minute. The reference takes 1,001; the others are for clocks that differ.
const MESSAGES_PER_MINUTE: u32 = 960;
const MINUTE_MS: u64 = 60_000;
/// Messages that may be sent at once when they are spread evenly.
const SPREAD_BURST: u32 = 32;
/// Messages of a minute from which on answers are spread evenly over the rest of it, so that the peer is never left in silence.
const ANSWERS_AT_ONCE: u32 = 300;
/// Time after which an answer is tried again in a minute without room.
const RETRY: Duration = Duration::from_millis(100);

/// Budget of one peer, by minutes of the Unix time. Further messages are lost there without notice.
#[derive(Debug)]
pub(crate) struct MessageBudget {
    /// Nodes of this project have no such limit.
    is_unlimited: bool,
    minute: Mutex<SentInMinute>,
}

#[derive(Debug, Default)]
struct SentInMinute {
    minute: u64,
    count: u32,
    /// The clock of the peer seems to differ.
    is_spread: bool,
    /// Time of the last answer in milliseconds.
    last_answer: u64,
}

impl MessageBudget {
    pub(crate) fn new(is_unlimited: bool) -> MessageBudget {
        MessageBudget { is_unlimited, minute: Mutex::default() }
    }

    /// Counts a message if more than `reserve` are left. Returns false if the message must not be sent now.
    pub(crate) fn take(&self, reserve: u32) -> bool {
        self.take_at(now_ms(), reserve)
    }

    fn take_at(&self, now: u64, reserve: u32) -> bool {
        if self.is_unlimited {
            return true;
        }
        let mut sent = self.minute.lock();
        if sent.left(now) <= reserve {
            return false;
        }
        sent.count += 1;
        true
    }

    /// Counts an answer. If it must not be sent now, returns the time after which to try again.
    pub(crate) fn take_answer(&self) -> Result<(), Duration> {
        self.take_answer_at(now_ms())
    }

    fn take_answer_at(&self, now: u64) -> Result<(), Duration> {
        if self.is_unlimited {
            return Ok(());
        }
        let mut sent = self.minute.lock();
        let left = sent.left(now);
        if left == 0 {
            return Err(RETRY);
        }
        if sent.count >= ANSWERS_AT_ONCE {
            let due = sent.last_answer + (MINUTE_MS - now % MINUTE_MS) / u64::from(left);
            if now < due {
                return Err(Duration::from_millis(due - now));
            }
        }
        sent.count += 1;
        sent.last_answer = now;
        Ok(())
    }

    /// Spreads messages over each minute from now on: the minutes of the peer begin at another time.
    pub(crate) fn spread(&self) {
        self.minute.lock().is_spread = true;
    }
}

impl SentInMinute {
    fn left(&mut self, now: u64) -> u32 {
        if self.minute != now / MINUTE_MS {
            (self.minute, self.count) = (now / MINUTE_MS, 0);
        }
        let allowed = match self.is_spread {
            // The product is below 2^32.
            true => SPREAD_BURST + (now % MINUTE_MS * u64::from(MESSAGES_PER_MINUTE - SPREAD_BURST) / MINUTE_MS) as u32,
            false => MESSAGES_PER_MINUTE,
        };
        allowed.saturating_sub(self.count)
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(budget: &MessageBudget, now: u64, reserve: u32) -> usize {
        (0..2_000).filter(|_| budget.take_at(now, reserve)).count()
    }

    #[test]
    fn a_minute_has_960_messages() {
        let budget = MessageBudget::new(false);
        assert_eq!(taken(&budget, 30_000, 100), 860);
        assert_eq!(taken(&budget, 59_999, 0), 100);
        assert_eq!(taken(&budget, 60_000, 0), 960);
        assert_eq!(taken(&MessageBudget::new(true), 0, 0), 2_000);
    }

    #[test]
    fn answers_are_spread_over_the_rest_of_a_minute() {
        let budget = MessageBudget::new(false);
        let (mut now, mut times) = (120_000, Vec::new());
        while now < 180_000 {
            match budget.take_answer_at(now) {
                Ok(()) => times.push(now),
                Err(delay) => now += delay.as_millis() as u64,
            }
        }
        assert!((950..=960).contains(&times.len()), "{}", times.len());
        assert_eq!(times.get(299), Some(&120_000));
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= 200));
        assert!(times.last().is_some_and(|last| *last > 179_000));
    }

    #[test]
    fn spread_messages_leave_evenly() {
        let budget = MessageBudget::new(false);
        budget.spread();
        assert_eq!(taken(&budget, 0, 0), 32);
        assert_eq!(taken(&budget, 30_000, 0), 464);
        assert_eq!(taken(&budget, 59_999, 0), 463);
    }
}
