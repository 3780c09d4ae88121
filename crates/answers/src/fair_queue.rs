//! A bounded queue that shares the threads of a pool fairly: apps take turns, the clients of an app, the connections of a client,
//! and what one connection has asked for keeps its order.

use std::collections::{HashMap, VecDeque};

/// Lines that are compared when the longest one is searched.
const COMPARED: usize = 256;

/// On whose account a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owner {
    /// The app whose key was sent; 0 without a key.
    pub app: u32,
    /// The network of the client: one client can open many connections.
    pub client: u32,
    /// The HTTP request or the WebSocket connection.
    pub connection: u32,
}

/// Jobs that wait.
pub struct FairQueue<J> {
    apps: Rounds<Rounds<ClientJobs<J>>>,
    length: usize,
    limit: usize,
}

/// Jobs of one client.
struct ClientJobs<J> {
    connections: Rounds<VecDeque<J>>,
    length: usize,
}

impl<J> Default for ClientJobs<J> {
    fn default() -> Self {
        Self { connections: Rounds::default(), length: 0 }
    }
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

    /// Takes from the first line in turn that `may`, which then stands last. `take` also says whether the line is empty now.
    fn take<T>(
        &mut self,
        may: impl Fn(u32, &L) -> bool,
        take: impl FnOnce(u32, &mut L) -> (Option<T>, bool),
    ) -> Option<T> {
        let is_next = |key: &u32| self.lines.get(key).is_some_and(|line| may(*key, line));
        let key = self.order.iter().position(is_next).and_then(|position| self.order.remove(position))?;
        let (taken, is_empty) = take(key, self.lines.get_mut(&key)?);
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

    /// Queues a job. If the queue is full, returns the last job of the longest line of the client with the most jobs, which may be
    /// the new job.
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
        let client = self.apps.line(owner.app).line(owner.client);
        client.length += 1;
        client.connections.line(owner.connection).push_back(job);
        refused
    }

    /// The job whose turn it is.
    pub fn pop(&mut self) -> Option<J> {
        self.pop_of(|_any| true).map(|(_client, job)| job)
    }

    /// The job whose turn it is among the clients that `may`, with its client: app and client of the owner.
    pub fn pop_of(&mut self, may: impl Fn((u32, u32)) -> bool) -> Option<((u32, u32), J)> {
        let may_any = |app, clients: &Rounds<ClientJobs<J>>| clients.order.iter().any(|client| may((app, *client)));
        let job = self.apps.take(may_any, |app, clients| {
            let job = clients.take(
                |client, _jobs| may((app, client)),
                |number, client| {
                    let job = client.connections.take(
                        |_connection, _jobs| true,
                        |_connection, jobs| {
                            let job = jobs.pop_front();
                            (job, jobs.is_empty())
                        },
                    );
                    client.length -= usize::from(job.is_some());
                    (job.map(|job| ((app, number), job)), client.length == 0)
                },
            );
            (job, clients.order.is_empty())
        });
        self.length -= usize::from(job.is_some());
        job
    }

    /// Whether a job of a client that `may` waits.
    pub fn has_job_of(&self, may: impl Fn((u32, u32)) -> bool) -> bool {
        let any =
            |(app, clients): (&u32, &Rounds<ClientJobs<J>>)| clients.order.iter().any(|client| may((*app, *client)));
        self.apps.lines.iter().any(any)
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Takes the last job of the client with the most jobs, or of the client of `owner` if that has as many with its new job. `None`
    /// if the new job is the one to refuse.
    fn make_room(&mut self, owner: Owner) -> Option<J> {
        let clients =
            self.apps.lines.iter().flat_map(|(app, clients)| {
                clients.lines.iter().map(move |(client, jobs)| ((*app, *client), jobs.length))
            });
        let (most, length) = clients.take(COMPARED).max_by_key(|(_, length)| *length)?;
        let own = (owner.app, owner.client);
        let own_length = self.client(own).map_or(0, |client| client.length);
        if own_length + 1 >= length {
            self.client(own)?.take_last(Some(owner.connection))
        } else {
            self.client(most)?.take_last(None)
        }
    }

    fn client(&mut self, (app, client): (u32, u32)) -> Option<&mut ClientJobs<J>> {
        self.apps.lines.get_mut(&app)?.lines.get_mut(&client)
    }
}

impl<J> ClientJobs<J> {
    /// Takes the last job out of the longest line, unless the line of the connection `except` would then be the longest.
    fn take_last(&mut self, except: Option<u32>) -> Option<J> {
        let Rounds { order, lines } = &mut self.connections;
        let lengths = lines.iter().map(|(connection, jobs)| (*connection, jobs.len()));
        let (longest, length) = lengths.take(COMPARED).max_by_key(|(_, length)| *length)?;
        if except.is_some_and(|own| lines.get(&own).map_or(0, VecDeque::len) + 1 >= length) {
            return None;
        }
        self.length -= 1;
        let last = lines.get_mut(&longest)?.pop_back();
        if length == 1 {
            lines.remove(&longest);
            order.retain(|connection| *connection != longest);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client with one connection.
    fn owner(app: u32, client: u32) -> Owner {
        Owner { app, client, connection: client }
    }

    fn connection(client: u32, connection: u32) -> Owner {
        Owner { app: 0, client, connection }
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

    #[test]
    fn clients_take_turns_whatever_the_number_of_their_connections() {
        let mut queue = FairQueue::new(100);
        for (number, job) in (0..).zip(["a1", "a2", "a3", "a4"]) {
            assert_eq!(queue.push(connection(7, number), job), None);
        }
        for job in ["b1", "b2"] {
            assert_eq!(queue.push(connection(8, 9), job), None);
        }
        assert_eq!(drained(&mut queue), ["a1", "b1", "a2", "b2", "a3", "a4"]);
    }

    #[test]
    fn clients_that_may_not_have_a_turn_keep_their_place() {
        let mut queue = FairQueue::new(100);
        for (client, job) in [(7, "a1"), (7, "a2"), (8, "b1"), (9, "c1")] {
            assert_eq!(queue.push(connection(client, 1), job), None);
        }
        assert_eq!(queue.pop_of(|client| client != (0, 7)), Some(((0, 8), "b1")));
        assert_eq!(queue.pop_of(|client| client == (0, 1)), None);
        assert!(!queue.is_empty() && queue.has_job_of(|client| client == (0, 7)));
        assert!(!queue.has_job_of(|client| client == (0, 8)));
        assert_eq!(drained(&mut queue), ["a1", "c1", "a2"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_full_queue_refuses_a_client_with_many_connections() {
        let mut queue = FairQueue::new(4);
        for (number, job) in (0..).zip(["a1", "a2", "a3", "a4"]) {
            assert_eq!(queue.push(connection(7, number), job), None);
        }
        assert_eq!(queue.push(connection(7, 5), "a5"), Some("a5"));
        assert!(queue.push(connection(8, 9), "b1").is_some_and(|job| job.starts_with('a')));
        assert!(queue.push(connection(8, 10), "b2").is_some_and(|job| job.starts_with('a')));
        assert_eq!(queue.push(connection(8, 11), "b3"), Some("b3"));
        let left: String = drained(&mut queue).iter().map(|job| &job[..1]).collect();
        assert_eq!(left, "abab");
        assert_eq!(queue.push(connection(7, 1), "again"), None);
        assert_eq!(drained(&mut queue), ["again"]);
    }
}
