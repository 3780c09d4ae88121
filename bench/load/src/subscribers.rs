//! Subscribers to new heads: measures the time from the trigger of a block to the last notification.
//!
//! The driver of this program communicates in lines. The program prints `ready` when all connections have subscribed. For each
//! input line it prints `listening`, after which the driver triggers a block: earlier messages are faults. When all
//! subscribers have the head it prints `received`, and at the end of the input the report.

use crate::channel::{Channel, ChannelEvent};
use crate::head::{Heads, described, granted};
use crate::options::Options;
use crate::report::Report;
use mio::{Events, Poll, Token};
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

const REQUEST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#;

struct Subscriber {
    channel: Channel,
    state: State,
    /// Id of the subscription, with quotation marks.
    id: Vec<u8>,
}

#[derive(PartialEq)]
enum State {
    /// Waits for the answer to `eth_subscribe`.
    Subscribing,
    /// Waits for the head of a block.
    Waiting,
    /// Has the head of the last block.
    Received,
    /// The connection has closed, or a message was late; later messages are ignored.
    Closed(String),
}

struct Subscribers {
    poll: Poll,
    events: Events,
    subscribers: Vec<Subscriber>,
    timeout: Duration,
    heads: Heads,
    report: Report,
    /// Number of subscribers in `Subscribing` or `Waiting`.
    missing: usize,
    /// Time of the last trigger.
    began: Instant,
    /// Time of the last message.
    last: Instant,
}

/// Subscribes on every connection, then measures a block for each line of `input`.
pub fn run(options: &Options, input: impl BufRead, mut output: impl Write) -> Result<(), Box<dyn Error>> {
    let mut say = move |text: &str| writeln!(output, "{text}").and_then(|()| output.flush());
    let mut listeners = Subscribers::subscribe(options)?;
    say("ready")?;
    let mut elapsed = Duration::ZERO;
    for line in input.lines() {
        line?;
        listeners.begin()?;
        say("listening")?;
        elapsed += listeners.wait_for_heads()?;
        say("received")?;
    }
    listeners.drain()?;
    say(&listeners.report.finish(elapsed).to_string())?;
    Ok(())
}

impl Subscribers {
    fn subscribe(options: &Options) -> Result<Self, Box<dyn Error>> {
        let poll = Poll::new()?;
        let request = options.protocol.request("", REQUEST);
        let mut subscribers = Vec::with_capacity(options.connections);
        for index in 0..options.connections {
            let mut channel = Channel::open(options.address, &options.protocol, poll.registry(), Token(index))?;
            channel.outgoing().extend_from_slice(&request);
            subscribers.push(Subscriber { channel, state: State::Subscribing, id: Vec::new() });
        }
        let now = Instant::now();
        let mut listeners = Self {
            poll,
            events: Events::with_capacity(1024),
            missing: subscribers.len(),
            subscribers,
            timeout: options.timeout,
            heads: Heads::default(),
            report: Report::default(),
            began: now,
            last: now,
        };
        listeners.wait()?;
        match listeners.subscribers.iter().find(|one| one.state != State::Received) {
            None => Ok(listeners),
            Some(Subscriber { state: State::Closed(reason), .. }) => Err(format!("eth_subscribe: {reason}").into()),
            Some(_) => Err("eth_subscribe was not answered in time".into()),
        }
    }

    /// Makes all subscribers wait for the next block.
    fn begin(&mut self) -> Result<(), Box<dyn Error>> {
        self.drain()?;
        self.heads.next_block();
        self.missing = 0;
        for subscriber in &mut self.subscribers {
            match &subscriber.state {
                State::Closed(reason) => self.report.lost(reason.clone()),
                _ => {
                    subscriber.state = State::Waiting;
                    self.missing += 1;
                }
            }
        }
        self.began = Instant::now();
        self.last = self.began;
        Ok(())
    }

    /// Waits for all heads. Returns the time from the trigger to the last of them.
    fn wait_for_heads(&mut self) -> Result<Duration, Box<dyn Error>> {
        self.wait()?;
        for subscriber in &mut self.subscribers {
            if subscriber.state == State::Waiting {
                let reason = format!("a subscriber received no head within {} ms", self.timeout.as_millis());
                self.report.lost(reason.clone());
                subscriber.state = State::Closed(reason);
            }
        }
        Ok(self.last - self.began)
    }

    /// Reads until no subscriber is missing or the time is over.
    fn wait(&mut self) -> Result<(), Box<dyn Error>> {
        let end = self.began + self.timeout;
        while self.missing > 0 {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            self.listen(rest)?;
        }
        Ok(())
    }

    /// Reads messages that no subscriber waits for.
    fn drain(&mut self) -> Result<(), Box<dyn Error>> {
        while self.listen(Duration::ZERO)? {}
        Ok(())
    }

    /// Waits for messages and reads them. Returns false if there were none.
    fn listen(&mut self, limit: Duration) -> Result<bool, Box<dyn Error>> {
        match self.poll.poll(&mut self.events, Some(limit)) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(true),
            result => result?,
        }
        let ready: Vec<_> = self.events.iter().map(|event| (event.token().0, event.is_writable())).collect();
        for &(index, is_writable) in &ready {
            self.serve(index, is_writable);
        }
        Ok(!ready.is_empty())
    }

    fn serve(&mut self, index: usize, is_writable: bool) {
        if let Err(reason) = self.receive(index, is_writable) {
            let state = std::mem::replace(&mut self.subscribers[index].state, State::Closed(reason.clone()));
            if state == State::Waiting {
                self.report.lost(reason);
            }
            if matches!(state, State::Subscribing | State::Waiting) {
                self.missing -= 1;
            }
        }
    }

    /// Reads the messages of one subscriber. The error is the reason of a closed connection.
    fn receive(&mut self, index: usize, is_writable: bool) -> Result<(), String> {
        let subscriber = &mut self.subscribers[index];
        if is_writable {
            subscriber.channel.flush().map_err(|error| error.to_string())?;
        }
        while !matches!(subscriber.state, State::Closed(_)) {
            let answer = match subscriber.channel.next() {
                ChannelEvent::Idle => break,
                ChannelEvent::Invalid(reason) | ChannelEvent::Closed(reason) => return Err(reason),
                ChannelEvent::Answer(answer) => answer,
            };
            let body = subscriber.channel.body(&answer);
            match subscriber.state {
                State::Subscribing => subscriber.id = granted(body)?,
                State::Waiting => {
                    self.last = Instant::now();
                    match self.heads.fault(body, &subscriber.id) {
                        None => self.report.right(self.last - self.began),
                        Some(fault) => self.report.wrong(fault),
                    }
                }
                State::Received | State::Closed(_) => {
                    self.report.wrong(described("an unexpected message", body));
                    continue;
                }
            }
            subscriber.state = State::Received;
            self.missing -= 1;
        }
        Ok(())
    }
}
