//! A run: keeps every connection busy until the time is over, then waits for what is still on its way.

use crate::connection::{Connection, Told};
use crate::options::Options;
use crate::plan::{Entry, Ids};
use crate::report::Report;
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

/// How often lost answers are looked for.
const LOOK: Duration = Duration::from_millis(100);
/// A server that closes connections so often does not serve.
const MOST_LOST: u64 = 100_000;

struct Run<'a> {
    options: &'a Options,
    plan: &'a [Entry],
    poll: Poll,
    connections: Vec<Connection<'a>>,
    ids: Ids,
    report: Report,
    /// How many requests have been sent.
    sent: usize,
    /// Connections that wait for their next request, in the order of their time.
    resting: VecDeque<(Instant, usize)>,
    end: Instant,
    losses: u64,
}

/// Sends the requests of the plan, one after the other, over all connections.
pub fn run(options: &Options, plan: &[Entry]) -> Result<Report, Box<dyn Error>> {
    let poll = Poll::new()?;
    let connections = (0..options.connections)
        .map(|index| Connection::open(options.address, &options.protocol, poll.registry(), Token(index)))
        .collect::<Result<_, _>>()?;
    let start = Instant::now();
    // With pauses the first requests are spread over one pause: as many are due at any time.
    let share = options.pause / u32::try_from(options.connections.max(1))?;
    let resting = (0..options.connections).map(|index| (start + share * index as u32, index)).collect();
    let (ids, report, end) = (Ids::new(), Report::default(), start + options.time);
    let mut run = Run { options, plan, poll, connections, ids, report, sent: 0, resting, end, losses: 0 };
    let last = run.go()?;
    Ok(run.report.finish(last.duration_since(start)))
}

impl Run<'_> {
    /// Returns the time of the last answer.
    fn go(&mut self) -> Result<Instant, Box<dyn Error>> {
        let mut events = Events::with_capacity(1024);
        let mut last = Instant::now();
        let mut looked = last;
        loop {
            let now = Instant::now();
            self.wake(now)?;
            if now >= looked + LOOK {
                looked = now;
                self.give_up(now)?;
            }
            if self.losses > MOST_LOST || (self.is_over(now) && self.is_idle()) {
                return Ok(last);
            }
            let due = self.resting.front().map_or(LOOK, |(due, _)| due.saturating_duration_since(now));
            self.poll.poll(&mut events, Some(due.min(LOOK)))?;
            for event in &events {
                let index = event.token().0;
                if event.is_writable() && self.connections[index].flush().is_err() {
                    self.replace(index, "the connection broke while sending".to_owned())?;
                    continue;
                }
                if event.is_readable() {
                    last = self.hear(index)?.unwrap_or(last);
                }
            }
        }
    }

    /// Takes what has come, then sends the next request. Returns the time of an answer.
    fn hear(&mut self, index: usize) -> Result<Option<Instant>, Box<dyn Error>> {
        let mut last = None;
        loop {
            match self.connections[index].receive() {
                Told::Nothing => break,
                Told::Answer(sent, fault) => {
                    let now = Instant::now();
                    last = Some(now);
                    match fault {
                        None => self.report.right(now - sent),
                        Some(fault) => self.report.wrong(fault),
                    }
                    if self.connections[index].is_over() {
                        self.connections[index] = self.open(index)?;
                        break;
                    }
                }
                Told::Nonsense(reason) => {
                    self.report.wrong(reason);
                    self.reopen(index)?;
                    return Ok(last);
                }
                Told::End(reason) => {
                    self.replace(index, reason)?;
                    return Ok(last);
                }
            }
        }
        if let Some(now) = last {
            self.go_on(index, now)?;
        }
        Ok(last)
    }

    fn is_over(&self, now: Instant) -> bool {
        now >= self.end || (self.options.is_once && self.sent >= self.plan.len())
    }

    fn is_idle(&self) -> bool {
        self.connections.iter().all(|connection| connection.waits_since().is_none())
    }

    fn go_on(&mut self, index: usize, now: Instant) -> Result<(), Box<dyn Error>> {
        if self.options.pause.is_zero() {
            self.send(index, now)
        } else {
            self.resting.push_back((now + self.options.pause, index));
            Ok(())
        }
    }

    fn wake(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        while let Some(&(due, index)) = self.resting.front() {
            if due > now {
                break;
            }
            self.resting.pop_front();
            self.send(index, now)?;
        }
        Ok(())
    }

    fn send(&mut self, index: usize, now: Instant) -> Result<(), Box<dyn Error>> {
        if self.is_over(now) {
            return Ok(());
        }
        let entry = &self.plan[self.sent % self.plan.len()];
        self.sent += 1;
        if let Err(error) = self.connections[index].send(entry, &mut self.ids) {
            self.replace(index, error.to_string())?;
        }
        Ok(())
    }

    /// A connection that has ended makes room for another. Its request, if there was one, is lost.
    fn replace(&mut self, index: usize, reason: String) -> Result<(), Box<dyn Error>> {
        if self.connections[index].waits_since().is_some() {
            self.report.lost(reason);
        }
        self.reopen(index)
    }

    fn open(&self, index: usize) -> std::io::Result<Connection<'static>> {
        Connection::open(self.options.address, &self.options.protocol, self.poll.registry(), Token(index))
    }

    fn reopen(&mut self, index: usize) -> Result<(), Box<dyn Error>> {
        self.losses += 1;
        self.connections[index] = self.open(index)?;
        self.resting.push_back((Instant::now() + self.options.pause.max(Duration::from_millis(1)), index));
        Ok(())
    }

    fn give_up(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        for index in 0..self.connections.len() {
            let is_late =
                self.connections[index].waits_since().is_some_and(|since| now - since > self.options.patience);
            if is_late {
                self.replace(index, format!("no answer within {} ms", self.options.patience.as_millis()))?;
            }
        }
        Ok(())
    }
}
