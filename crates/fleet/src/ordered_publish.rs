//! Publishes a message behind a known message of its subject, so that two nodes cannot interleave theirs.

use std::error::Error as _;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{Context, ErrorCode};

use crate::error::FleetError;
use crate::session::slow;

/// Answer of the server.
pub(crate) enum Publication {
    /// The message is in the stream.
    Added {
        /// Its sequence number.
        sequence: u64,
    },
    /// The subject has a different last message.
    Refused,
}

/// Sends a message that expects the sequence number of the last message of its subject (0: none), and waits for the answer.
pub(crate) async fn publish_after(
    context: &Context,
    subject: &str,
    message: PublishMessage,
    last: u64,
) -> Result<Publication, FleetError> {
    let message = message.expected_last_subject_sequence(last);
    let answer = match context.send_publish(subject.to_owned(), message).await {
        Ok(answer) => answer.await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(added) => Ok(Publication::Added { sequence: added.sequence }),
        Err(error) if is_refused(&error) => Ok(Publication::Refused),
        Err(error) => Err(match error.kind() {
            PublishErrorKind::TimedOut => slow("publish a message"),
            PublishErrorKind::BrokenPipe => FleetError::Lost,
            _ => FleetError::Refused(error.to_string()),
        }),
    }
}

fn is_refused(error: &PublishError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    // A cluster answers with the second code while the first message is under way.
    error.kind() == PublishErrorKind::WrongLastSequence
        || source.is_some_and(|source| source.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
}
