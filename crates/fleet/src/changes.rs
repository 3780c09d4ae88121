//! Publishes the change feed of the chain, for clients of the NATS server. One node at a time does: the holder of the lease.
//!
//! The place in the feed is in the stream: each message has its cursor. So the next holder continues exactly where the last one ended,
//! and a message expects the sequence number of the one before, so a holder that has lost its lease unnoticed adds nothing.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy, LastRawMessageErrorKind, StorageType, Stream};

use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::lease::{Lease, RENEWAL};
use crate::ordered_publish::{Publication, publish_after};
use crate::session::{Session, stream};

/// Header with the cursor of the event.
const CURSOR: &str = "Rhizome-Cursor";
/// Header with the cursor of the event before; absent in the first message of a stream.
const PREVIOUS: &str = "Rhizome-Previous";
/// Header with the contents of the events.
const CONTENTS: &str = "Rhizome-Contents";
/// Bytes of a message besides its event.
const HEADER_BYTES: usize = 1024;
/// Time for the block of the last cursor to arrive at this node.
const ARRIVAL: Duration = Duration::from_secs(2);
/// Time between two reads while it has not arrived.
const ARRIVAL_LOOK: Duration = Duration::from_millis(50);
/// Time for which a node that cannot publish leaves the lease to the others.
const PAUSE: Duration = Duration::from_secs(10);

/// An event of the change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEvent {
    /// Place behind the event.
    pub cursor: String,
    /// The event as JSON.
    pub json: Vec<u8>,
}

/// Events behind a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePage {
    /// Events in order; the cursor of the last one is the next place.
    pub events: Vec<ChangeEvent>,
    /// Whether there are no more events at the moment.
    pub is_at_head: bool,
}

/// Why a page cannot be read.
pub type ChangeError = Box<dyn Error + Send + Sync>;

/// Reads the events behind a cursor; `None`: the first event is the place of the head.
type ReadPage = Box<dyn Fn(Option<&str>) -> Result<ChangePage, ChangeError> + Send + Sync>;

/// Change feed of the chain of this node.
pub struct ChangeSource {
    contents: String,
    read: ReadPage,
}

impl ChangeSource {
    /// `contents`: names of the contents, for clients. `read` is called on a thread that may wait.
    pub fn new(
        contents: String,
        read: impl Fn(Option<&str>) -> Result<ChangePage, ChangeError> + Send + Sync + 'static,
    ) -> Self {
        Self { contents, read: Box::new(read) }
    }
}

/// The stream of changes as this node sees it. Counters start with the node.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ChangeStatus {
    /// Whether this node holds the lease.
    pub is_holder: bool,
    /// Sequence number of the last message.
    pub sequence: u64,
    /// Messages that this node added.
    pub published: u64,
    /// Why this node cannot publish.
    pub failure: Option<String>,
}

/// Last message of the stream.
struct LastChange {
    cursor: Option<String>,
    /// Its sequence number; 0 if there is no message.
    sequence: u64,
}

/// Reports that this node holds the lease, until it is dropped: also when the session ends in the middle.
struct Holding<'s>(&'s FleetState);

impl<'s> Holding<'s> {
    fn new(state: &'s FleetState) -> Self {
        state.count_changes(|status| {
            status.is_holder = true;
            status.failure = None;
        });
        Self(state)
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.0.count_changes(|status| status.is_holder = false);
    }
}

/// Publishes whenever this node holds the lease, until the session ends.
pub(crate) async fn publish(session: &Session, state: &Arc<FleetState>) -> Result<Infallible, FleetError> {
    let Some(source) = &state.changes else { return std::future::pending().await };
    loop {
        let result = follow(session, state, source).await;
        let pause = if matches!(result, Err(FleetError::Changes(_) | FleetError::LargeChange { .. })) {
            PAUSE
        } else {
            RENEWAL
        };
        state.count_changes(|status| status.failure = result.err().map(|error| error.to_string()));
        tokio::time::sleep(pause).await;
    }
}

/// Waits for the lease and publishes until it is lost.
async fn follow(session: &Session, state: &Arc<FleetState>, source: &Arc<ChangeSource>) -> Result<(), FleetError> {
    let changes = open(session, state).await?;
    let mut lease = Lease::open(session, state).await?;
    // A node without the best head would be late.
    while state.heads.is_behind(&state.chain) || !lease.take(session).await? {
        let last = changes.get_info().await.map_err(|error| FleetError::Refused(error.to_string()))?;
        state.count_changes(|status| {
            status.sequence = last.state.last_sequence;
            status.failure = None;
        });
        tokio::time::sleep(RENEWAL).await;
    }
    let _holding = Holding::new(state);
    tokio::select! {
        ended = renew(session, state, &mut lease) => ended,
        ended = write(session, state, source, &changes) => ended,
    }
}

/// Holds the lease until another node has it, or this one lacks the best head.
async fn renew(session: &Session, state: &FleetState, lease: &mut Lease) -> Result<(), FleetError> {
    loop {
        tokio::time::sleep(RENEWAL).await;
        if state.heads.is_behind(&state.chain) || !lease.take(session).await? {
            return Ok(());
        }
    }
}

/// Publishes all events behind the last message, until another node has added one.
async fn write(
    session: &Session,
    state: &Arc<FleetState>,
    source: &Arc<ChangeSource>,
    changes: &Stream,
) -> Result<(), FleetError> {
    let subject = state.names.changes();
    let mut place = last_place(changes, &subject).await?;
    loop {
        let page = read(source, place.cursor.clone()).await?;
        for event in page.events {
            let message = message(session, source, &place, &event)?;
            match publish_after(&session.context, &subject, message, place.sequence).await? {
                Publication::Refused => return Ok(()),
                Publication::Added { sequence } => place = LastChange { cursor: Some(event.cursor), sequence },
            }
            state.count_changes(|status| {
                status.published += 1;
                status.sequence = place.sequence;
            });
        }
        if page.is_at_head {
            state.changed.notified().await;
        }
    }
}

fn message(
    session: &Session,
    source: &ChangeSource,
    place: &LastChange,
    event: &ChangeEvent,
) -> Result<PublishMessage, FleetError> {
    let maximum = session.client.server_info().max_payload.saturating_sub(HEADER_BYTES);
    if event.json.len() > maximum {
        return Err(FleetError::LargeChange { cursor: event.cursor.clone(), bytes: event.json.len(), maximum });
    }
    let message = PublishMessage::build()
        .header(CURSOR, event.cursor.as_str())
        .header(CONTENTS, source.contents.as_str())
        .payload(event.json.clone().into());
    Ok(match &place.cursor {
        Some(cursor) => message.header(PREVIOUS, cursor.as_str()),
        None => message,
    })
}

/// Reads a page. The holder before may have had a block that this node gets a moment later.
async fn read(source: &Arc<ChangeSource>, from: Option<String>) -> Result<ChangePage, FleetError> {
    let start = Instant::now();
    loop {
        let (source, from) = (Arc::clone(source), from.clone());
        let reading = tokio::task::spawn_blocking(move || (source.read)(from.as_deref()));
        match reading.await.map_err(|panic| FleetError::Changes(panic.to_string()))? {
            Ok(page) => return Ok(page),
            Err(error) if start.elapsed() > ARRIVAL => return Err(FleetError::Changes(error.to_string())),
            Err(_) => tokio::time::sleep(ARRIVAL_LOOK).await,
        }
    }
}

async fn last_place(changes: &Stream, subject: &str) -> Result<LastChange, FleetError> {
    match changes.get_last_raw_message_by_subject(subject).await {
        Ok(message) => {
            let cursor = message.headers.get(CURSOR).map(|cursor| cursor.as_str().to_owned());
            let foreign = || FleetError::Changes(format!("message {} has no {CURSOR}", message.sequence));
            Ok(LastChange { cursor: Some(cursor.ok_or_else(foreign)?), sequence: message.sequence })
        }
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
            Ok(LastChange { cursor: None, sequence: 0 })
        }
        Err(error) => Err(FleetError::Refused(format!("read the last change: {error}"))),
    }
}

async fn open(session: &Session, state: &FleetState) -> Result<Stream, FleetError> {
    let config = Config {
        name: state.names.changes_stream(),
        subjects: vec![state.names.changes()],
        max_age: state.options.block_retention,
        storage: StorageType::File,
        discard: DiscardPolicy::Old,
        num_replicas: state.options.stream_copies,
        ..Config::default()
    };
    stream(&session.context, state, config).await
}
