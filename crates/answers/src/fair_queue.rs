//! A bounded queue that shares the threads of a pool fairly: apps take turns, the connections of an app take turns, and what
//! one connection has asked for keeps its order.

use std::collections::{HashMap, VecDeque};

/// Lines that are compared when the longest one is searched.
const COMPARED: usize = 256;

/// On whose account a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owner {
    /// The app whose key was sent; 0 without a key.
    pub app: u32,
    /// The HTTP request or the WebSocket connection.
    pub connection: u32,
}

/// Jobs that wait.
pub struct FairQueue<J> {
    apps: Rounds<Rounds<VecDeque<J>>>,
    length: usize,
    limit: usize,
}

/// Lines that take turns. There is no empty line.
struct Rounds<L> {
    /// The line whose turn is next comes first.
    order: VecDeque<u32>,
    lines: HashMap<u32, L>,
}

impl<L> Default for Rounds<L> {
    fn default() -> Self {
        Self { order: VecDeque::new(), lines: HashMap::new() }
    }
}

impl<L: Default> Rounds<L> {
    fn line(&mut self, key: u32) -> &mut L {
        let Self { order, lines } = self;
        lines.entry(key).or_insert_with(|| {
            order.push_back(key);
            L::default()
        })
    }

    /// Takes from the line whose turn it is, which then stands last. `take` also says whether the line is empty now.
    fn take<T>(&mut self, take: impl FnOnce(&mut L) -> (Option<T>, bool)) -> Option<T> {
        let key = self.order.pop_front()?;
        let (taken, is_empty) = take(self.lines.get_mut(&key)?);
        if is_empty {
            self.lines.remove(&key);
        } else {
            self.order.push_back(key);
        }
        taken
    }
}

impl<J> FairQueue<J> {
    /// `limit`: most jobs that wait at a time.
    pub fn new(limit: usize) -> Self {
        Self { apps: Rounds::default(), length: 0, limit }
    }

    /// Queues a job. If the queue is full, returns the last job of the longest line, which may be the new job.
    #[must_use]
    pub fn push(&mut self, owner: Owner, job: J) -> Option<J> {
        let refused = if self.length < self.limit {
            self.length += 1;
            None
        } else {
            match self.make_room(owner) {
                None => return Some(job),
                displaced => displaced,
            }
        };
        self.apps.line(owner.app).line(owner.connection).push_back(job);
        refused
    }

    /// The job whose turn it is.
    pub fn pop(&mut self) -> Option<J> {
        let job = self.apps.take(|connections| {
            let job = connections.take(|jobs| {
                let job = jobs.pop_front();
                (job, jobs.is_empty())
            });
            (job, connections.order.is_empty())
        });
        self.length -= usize::from(job.is_some());
        job
    }

    /// Takes the last job out of the longest line, unless the line of `owner` would then be the longest.
    fn make_room(&mut self, owner: Owner) -> Option<J> {
        let lines = self.apps.lines.iter().flat_map(|(app, connections)| {
            connections
                .lines
                .iter()
                .map(|(connection, jobs)| (Owner { app: *app, connection: *connection }, jobs.len()))
        });
        let (longest, length) = lines.take(COMPARED).max_by_key(|(_, length)| *length)?;
        let own = self.apps.lines.get(&owner.app).and_then(|connections| connections.lines.get(&owner.connection));
        if own.map_or(0, VecDeque::len) + 1 >= length {
            return None;
        }
        // The line keeps at least one job.
        self.apps.lines.get_mut(&longest.app)?.lines.get_mut(&longest.connection)?.pop_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(app: u32, connection: u32) -> Owner {
        Owner { app, connection }
    }

    fn drained(queue: &mut FairQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn apps_take_turns_then_connections_and_each_keeps_its_order() {
        let mut queue = FairQueue::new(100);
        for job in ["a1", "a2", "a3"] {
            assert_eq!(queue.push(owner(1, 1), job), None);
        }
        for (app, connection, job) in [(1, 2, "b1"), (2, 3, "c1"), (2, 3, "c2")] {
            assert_eq!(queue.push(owner(app, connection), job), None);
        }
        assert_eq!(drained(&mut queue), ["a1", "c1", "b1", "c2", "a2", "a3"]);
        assert_eq!(queue.push(owner(1, 1), "again"), None);
        assert_eq!(drained(&mut queue), ["again"]);
    }

    #[test]
    fn a_full_queue_refuses_the_newest_of_the_longest_line() {
        let mut queue = FairQueue::new(4);
        for job in ["a1", "a2", "a3", "a4"] {
            assert_eq!(queue.push(owner(0, 1), job), None);
        }
        assert_eq!(queue.push(owner(0, 1), "a5"), Some("a5"));
        assert_eq!(queue.push(owner(0, 2), "b1"), Some("a4"));
        assert_eq!(queue.push(owner(3, 9), "c1"), Some("a3"));
        // All lines are as long as each other then.
        assert_eq!(queue.push(owner(3, 9), "c2"), Some("c2"));
        assert_eq!(queue.push(owner(4, 9), "d1"), Some("a2"));
        assert_eq!(queue.push(owner(5, 9), "e1"), Some("e1"));
        let mut left = drained(&mut queue);
        left.sort_unstable();
        assert_eq!(left, ["a1", "b1", "c1", "d1"]);
    }
}
