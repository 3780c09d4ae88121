//! Sends requests over all connections until the time is over, then waits for the answers in flight.

use crate::connection::{Connection, ConnectionEvent};
use crate::options::Options;
use crate::plan::{Entry, Ids};
use crate::report::Report;
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

/// Interval of the check for lost answers.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Closed connections after which the run is aborted.
const MAX_LOST: u64 = 100_000;

struct Run<'a> {
    options: &'a Options,
    plan: &'a [Entry],
    poll: Poll,
    connections: Vec<Connection<'a>>,
    ids: Ids,
    report: Report,
    /// Number of requests sent.
    sent: usize,
    /// Connections that pause before their next request, in the order of their time.
    paused: VecDeque<(Instant, usize)>,
    end: Instant,
    losses: u64,
}

/// Sends the requests of the plan in turn over all connections.
pub fn run(options: &Options, plan: &[Entry]) -> Result<Report, Box<dyn Error>> {
    let poll = Poll::new()?;
    let connections = (0..options.connections)
        .map(|index| Connection::open(options.address, &options.protocol, poll.registry(), Token(index)))
        .collect::<Result<_, _>>()?;
    let start = Instant::now();
    // With pauses the first requests are spread over one pause, so that the rate is constant.
    let share = options.pause / u32::try_from(options.connections.max(1))?;
    let paused = (0..options.connections).map(|index| (start + share * index as u32, index)).collect();
    let (ids, report, end) = (Ids::new(), Report::default(), start + options.time);
    let mut run = Run { options, plan, poll, connections, ids, report, sent: 0, paused, end, losses: 0 };
    let last = run.run()?;
    Ok(run.report.finish(last.duration_since(start)))
}

impl Run<'_> {
    /// Runs to the end and returns the time of the last answer.
    fn run(&mut self) -> Result<Instant, Box<dyn Error>> {
        let mut events = Events::with_capacity(1024);
        let mut last = Instant::now();
        let mut checked = last;
        loop {
            let now = Instant::now();
            self.wake(now)?;
            if now >= checked + CHECK_INTERVAL {
                checked = now;
                self.expire(now)?;
            }
            if self.losses > MAX_LOST || (self.is_over(now) && self.is_idle()) {
                return Ok(last);
            }
            let due = self.paused.front().map_or(CHECK_INTERVAL, |(due, _)| due.saturating_duration_since(now));
            self.poll.poll(&mut events, Some(due.min(CHECK_INTERVAL)))?;
            for event in &events {
                let index = event.token().0;
                if event.is_writable() && self.connections[index].flush().is_err() {
                    self.replace(index, "the connection broke while sending".to_owned())?;
                    continue;
                }
                if event.is_readable() {
                    last = self.receive(index)?.unwrap_or(last);
                }
            }
        }
    }

    /// Reads all answers, then sends the next request. Returns the time of the last answer.
    fn receive(&mut self, index: usize) -> Result<Option<Instant>, Box<dyn Error>> {
        let mut last = None;
        loop {
            match self.connections[index].receive() {
                ConnectionEvent::Idle => break,
                ConnectionEvent::Answer(sent, fault) => {
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
                ConnectionEvent::Invalid(reason) => {
                    self.report.wrong(reason);
                    self.reopen(index)?;
                    return Ok(last);
                }
                ConnectionEvent::Closed(reason) => {
                    self.replace(index, reason)?;
                    return Ok(last);
                }
            }
        }
        if let Some(now) = last {
            self.schedule(index, now)?;
        }
        Ok(last)
    }

    fn is_over(&self, now: Instant) -> bool {
        now >= self.end || (self.options.is_once && self.sent >= self.plan.len())
    }

    fn is_idle(&self) -> bool {
        self.connections.iter().all(|connection| connection.waits_since().is_none())
    }

    fn schedule(&mut self, index: usize, now: Instant) -> Result<(), Box<dyn Error>> {
        if self.options.pause.is_zero() {
            self.send(index, now)
        } else {
            self.paused.push_back((now + self.options.pause, index));
            Ok(())
        }
    }

    fn wake(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        while let Some(&(due, index)) = self.paused.front() {
            if due > now {
                break;
            }
            self.paused.pop_front();
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

    /// Replaces a closed connection. Its request in flight is lost.
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
        self.paused.push_back((Instant::now() + self.options.pause.max(Duration::from_millis(1)), index));
        Ok(())
    }

    fn expire(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        for index in 0..self.connections.len() {
            let is_late = self.connections[index].waits_since().is_some_and(|since| now - since > self.options.timeout);
            if is_late {
                self.replace(index, format!("no answer within {} ms", self.options.timeout.as_millis()))?;
            }
        }
        Ok(())
    }
}
