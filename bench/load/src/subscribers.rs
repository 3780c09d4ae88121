//! Subscribers to new heads, and how long it takes until all have been told of a block.
//!
//! Whoever triggers the blocks talks to this program in lines: it prints `ready` when all are subscribed. For a line that it
//! reads it prints `listening`, and only then the block may be triggered: what has come before is nobody's message. When all
//! have been told it prints `told`, and at the end of the lines the report.

use crate::channel::{Channel, Received};
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
    /// Of its subscription, with quotation marks.
    id: Vec<u8>,
}

#[derive(PartialEq)]
enum State {
    /// It has asked for a subscription.
    Asking,
    /// It waits for the head of a block.
    Waiting,
    /// It has been told of the last block.
    Told,
    /// The connection has ended, or a message came too late: what comes now belongs to no block any more.
    Gone(String),
}

struct Audience {
    poll: Poll,
    events: Events,
    subscribers: Vec<Subscriber>,
    patience: Duration,
    heads: Heads,
    report: Report,
    /// How many are asking or waiting.
    missing: usize,
    /// The trigger of the last block.
    began: Instant,
    /// The last message of it.
    last: Instant,
}

/// Subscribes on every connection, then measures a block for each line of `input`.
pub fn run(options: &Options, input: impl BufRead, mut output: impl Write) -> Result<(), Box<dyn Error>> {
    let mut say = move |text: &str| writeln!(output, "{text}").and_then(|()| output.flush());
    let mut audience = Audience::subscribe(options)?;
    say("ready")?;
    let mut elapsed = Duration::ZERO;
    for line in input.lines() {
        line?;
        audience.begin()?;
        say("listening")?;
        elapsed += audience.be_told()?;
        say("told")?;
    }
    audience.dismiss()?;
    say(&audience.report.finish(elapsed).to_string())?;
    Ok(())
}

impl Audience {
    fn subscribe(options: &Options) -> Result<Self, Box<dyn Error>> {
        let poll = Poll::new()?;
        let request = options.protocol.request("", REQUEST);
        let mut subscribers = Vec::with_capacity(options.connections);
        for index in 0..options.connections {
            let mut channel = Channel::open(options.address, &options.protocol, poll.registry(), Token(index))?;
            channel.outgoing().extend_from_slice(&request);
            subscribers.push(Subscriber { channel, state: State::Asking, id: Vec::new() });
        }
        let now = Instant::now();
        let mut audience = Self {
            poll,
            events: Events::with_capacity(1024),
            missing: subscribers.len(),
            subscribers,
            patience: options.patience,
            heads: Heads::default(),
            report: Report::default(),
            began: now,
            last: now,
        };
        audience.wait()?;
        match audience.subscribers.iter().find(|one| one.state != State::Told) {
            None => Ok(audience),
            Some(Subscriber { state: State::Gone(reason), .. }) => Err(format!("eth_subscribe: {reason}").into()),
            Some(_) => Err("eth_subscribe was not answered in time".into()),
        }
    }

    /// From now on all wait for the same block.
    fn begin(&mut self) -> Result<(), Box<dyn Error>> {
        self.dismiss()?;
        self.heads.go_on();
        self.missing = 0;
        for subscriber in &mut self.subscribers {
            match &subscriber.state {
                State::Gone(reason) => self.report.lost(reason.clone()),
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

    /// Returns how long it took until the last was told.
    fn be_told(&mut self) -> Result<Duration, Box<dyn Error>> {
        self.wait()?;
        for subscriber in &mut self.subscribers {
            if subscriber.state == State::Waiting {
                let reason = format!("a subscriber was not told within {} ms", self.patience.as_millis());
                self.report.lost(reason.clone());
                subscriber.state = State::Gone(reason);
            }
        }
        Ok(self.last - self.began)
    }

    /// Listens until nobody is missing, or for as long as patience lasts.
    fn wait(&mut self) -> Result<(), Box<dyn Error>> {
        let end = self.began + self.patience;
        while self.missing > 0 {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            self.listen(rest)?;
        }
        Ok(())
    }

    /// Takes what has come although nobody waits.
    fn dismiss(&mut self) -> Result<(), Box<dyn Error>> {
        while self.listen(Duration::ZERO)? {}
        Ok(())
    }

    /// Waits until something comes, and takes it. False if nothing has come.
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
        if let Err(reason) = self.hear(index, is_writable) {
            let state = std::mem::replace(&mut self.subscribers[index].state, State::Gone(reason.clone()));
            if state == State::Waiting {
                self.report.lost(reason);
            }
            if matches!(state, State::Asking | State::Waiting) {
                self.missing -= 1;
            }
        }
    }

    /// Takes what has come for one subscriber. The error says why nothing more comes.
    fn hear(&mut self, index: usize, is_writable: bool) -> Result<(), String> {
        let subscriber = &mut self.subscribers[index];
        if is_writable {
            subscriber.channel.flush().map_err(|error| error.to_string())?;
        }
        while !matches!(subscriber.state, State::Gone(_)) {
            let answer = match subscriber.channel.next() {
                Received::Nothing => break,
                Received::Nonsense(reason) | Received::End(reason) => return Err(reason),
                Received::Answer(answer) => answer,
            };
            let body = subscriber.channel.body(&answer);
            match subscriber.state {
                State::Asking => subscriber.id = granted(body)?,
                State::Waiting => {
                    self.last = Instant::now();
                    match self.heads.fault(body, &subscriber.id) {
                        None => self.report.right(self.last - self.began),
                        Some(fault) => self.report.wrong(fault),
                    }
                }
                State::Told | State::Gone(_) => {
                    self.report.wrong(described("a message that nobody waited for", body));
                    continue;
                }
            }
            subscriber.state = State::Told;
            self.missing -= 1;
        }
        Ok(())
    }
}
