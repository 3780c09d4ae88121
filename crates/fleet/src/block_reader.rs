//! Reads the block log behind the place of this node, and passes the blocks on to the import.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull::{Config, MessagesErrorKind};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use rhizome_chain::LogPlace;

use crate::block_import::{DecodedBlock, ImportMessage};
use crate::block_message;
use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::session::{Session, slow};

/// Blocks that are decoded at the same time, in order.
const DECODED: usize = 8;
/// Bytes of messages that the server sends ahead.
const BYTES_AHEAD: usize = 8 << 20;
/// Time without messages after which the server sends a sign of life; the double is too long.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Time after which the server forgets a reader.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// Messages of a stream behind a sequence number. They are not acknowledged: the reader knows its place.
pub(crate) async fn messages_after(
    stream: &Stream,
    after: u64,
) -> Result<async_nats::jetstream::consumer::pull::Stream, FleetError> {
    let config = Config {
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after.saturating_add(1) },
        ack_policy: AckPolicy::None,
        inactive_threshold: FORGOTTEN,
        memory_storage: true,
        num_replicas: 1,
        ..Config::default()
    };
    let refused = |error: &dyn std::fmt::Display| FleetError::Refused(format!("a reader of the stream: {error}"));
    let consumer = stream.create_consumer(config).await.map_err(|error| refused(&error))?;
    let messages = consumer.stream().max_bytes_per_batch(BYTES_AHEAD).heartbeat(HEARTBEAT).messages();
    messages.await.map_err(|error| refused(&error))
}

/// Returns the failure of a session whose reader ended.
pub(crate) fn reader_error(stream: &Stream, kind: MessagesErrorKind, text: String) -> FleetError {
    match kind {
        MessagesErrorKind::MissingHeartbeat => slow("read a stream"),
        MessagesErrorKind::ConsumerDeleted | MessagesErrorKind::NoResponders => {
            FleetError::StreamChanged { stream: stream.cached_info().config.name.clone() }
        }
        _ => FleetError::Refused(text),
    }
}

/// Reads until the session ends.
pub(crate) async fn read(session: &Session, state: &Arc<FleetState>) -> Result<Infallible, FleetError> {
    let log = session.log_identity();
    loop {
        let place = state.chain.block_log().place()?;
        let is_renewed = place.is_some_and(|place| place.log != log);
        state.count(|counts| counts.renewed += u64::from(is_renewed));
        let after = place.filter(|place| place.log == log).map_or(0, |place| place.sequence);
        state.input.send(ImportMessage::Begin(LogPlace { log, sequence: after })).await;
        if session.blocks.cached_info().state.messages == 0 {
            state.input.send(ImportMessage::CaughtUp).await;
        }
        tokio::select! {
            ended = pass_on(session, state, after) => return ended,
            () = state.reread.notified() => {}
        }
    }
}

async fn pass_on(session: &Session, state: &Arc<FleetState>, after: u64) -> Result<Infallible, FleetError> {
    let messages = messages_after(&session.blocks, after).await?;
    let decode = |message: Result<Message, _>| {
        let state = Arc::clone(state);
        async move {
            let message = message
                .map_err(|error: async_nats::error::Error<MessagesErrorKind>| (error.kind(), error.to_string()))?;
            // Decoding takes milliseconds, and the thread of the connection must not wait.
            let decoded = tokio::task::spawn_blocking(move || decoded(&message, &state));
            decoded.await.map_err(|error| (MessagesErrorKind::Other, error.to_string()))
        }
    };
    let mut decoded = std::pin::pin!(messages.map(decode).buffered(DECODED));
    while let Some(block) = decoded.next().await {
        match block {
            Ok(Some((block, is_last))) => {
                state.input.send(ImportMessage::Block(block)).await;
                if is_last {
                    state.input.send(ImportMessage::CaughtUp).await;
                }
            }
            Ok(None) => {}
            Err((kind, text)) => return Err(reader_error(&session.blocks, kind, text)),
        }
    }
    Err(FleetError::Lost)
}

/// Returns the block of a message, and whether it is the last one of the log. `None` without the data of the server.
fn decoded(message: &Message, state: &FleetState) -> Option<(DecodedBlock, bool)> {
    let info = message.info().ok()?;
    let (sequence, is_last) = (info.stream_sequence, info.pending == 0);
    let block = block_message::decode(message, state.chain.spec()).map(Box::new);
    let subject = message.subject.to_string();
    Some((DecodedBlock { sequence, subject, block }, is_last))
}
