//! Publishes the blocks that this node stores, on the best chain and beside it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use futures_util::{StreamExt, stream};
use rhizome_chain::{FleetLog, LogPlace};
use rhizome_primitives::B256;
use tokio::time::Instant;

use crate::block_message;
use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::ordered_publish::{Publication, publish_after};
use crate::session::Session;

/// Blocks that are read at once.
const PAGE: usize = 256;
/// Messages without an answer of the server. The answers of each are awaited, so a block is at most sent twice.
const IN_FLIGHT: usize = 16;
/// Blocks of the chain that a new log gets, with those beside them: a week at one block in 30 s, and a tenth more.
const BACKLOG: u64 = 22_000;
/// Time between two looks for blocks beside the best chain, which cause no event.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks at the log itself.
const LOG_LOOK: Duration = Duration::from_secs(5);
/// Time between two looks for the message of the same head.
const HEAD_LOOK: Duration = Duration::from_secs(3_600);
/// Messages below that of the head that a node which begins with a copy of this database reads again: those of blocks that another
/// importer published and that this one got later.
const READ_AGAIN: u64 = 1_000;

/// Publishes until the session ends.
pub(crate) async fn publish(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    let log = state.chain.block_log();
    begin(session, state, &log)?;
    let mut placed = None;
    let mut next_look = Instant::now() + LOG_LOOK;
    loop {
        let blocks = log.unpublished(PAGE)?;
        if !blocks.is_empty() {
            publish_page(session, state, &log, blocks).await?;
            continue;
        }
        while !log.has_unread() {
            tokio::select! {
                () = state.stored.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            if Instant::now() >= next_look {
                check_log(session).await?;
                placed = write_place(session, state, &log, placed).await?;
                next_look = Instant::now() + LOG_LOOK;
            }
        }
    }
}

/// Lets a log that this node does not know get the last blocks of the chain.
fn begin(session: &Session, state: &FleetState, log: &FleetLog) -> Result<(), FleetError> {
    let identity = session.log_identity();
    let known = log.place()?;
    if known.is_none_or(|place| place.log != identity) {
        let lowest = state.chain.head().number().saturating_sub(BACKLOG);
        log.publish_from(lowest, LogPlace { log: identity, sequence: 0 })?;
        state.count(|counts| counts.renewed += u64::from(known.is_some()));
    }
    // Those of an earlier session whose answer is missing.
    log.read_again(0);
    Ok(())
}

/// Fails if the log was deleted or created again: then the next session publishes the last blocks again.
async fn check_log(session: &Session) -> Result<(), FleetError> {
    let changed = || FleetError::StreamChanged { stream: session.blocks.cached_info().config.name.clone() };
    let info = session.blocks.get_info().await.map_err(|_absent| changed())?;
    if info.created == session.blocks.cached_info().created { Ok(()) } else { Err(changed()) }
}

/// A head whose message was found in the log.
#[derive(Clone, Copy)]
struct PlacedHead {
    hash: B256,
    found: Instant,
}

/// Writes the place of the head in the log, unless it is that of the last call. A replica that begins with a copy of this database
/// reads the log from there. Publishes a head again that retention has removed: nodes that lack it believe the log only.
async fn write_place(
    session: &Session,
    state: &FleetState,
    log: &FleetLog,
    placed: Option<PlacedHead>,
) -> Result<Option<PlacedHead>, FleetError> {
    let head = Arc::clone(&state.chain.head().record);
    let (number, hash) = (head.number(), head.hash);
    if placed.is_some_and(|placed| placed.hash == hash && placed.found.elapsed() < HEAD_LOOK) {
        return Ok(placed);
    }
    let message = match session.blocks.get_last_raw_message_by_subject(&state.names.block(&hash)).await {
        Ok(message) => message,
        Err(error) => {
            if error.kind() == LastRawMessageErrorKind::NoMessageFound && number > 0 {
                publish_block(session, state, log, number, hash).await?;
            }
            return Ok(placed);
        }
    };
    let place = LogPlace { log: session.log_identity(), sequence: message.sequence.saturating_sub(READ_AGAIN) };
    log.set_place(place);
    log.write_place()?;
    state.count(|counts| counts.place = place.sequence);
    Ok(Some(PlacedHead { hash, found: Instant::now() }))
}

async fn publish_page(
    session: &Session,
    state: &FleetState,
    log: &FleetLog,
    blocks: Vec<(u64, B256)>,
) -> Result<(), FleetError> {
    let lowest = blocks.first().map_or(0, |(number, _)| *number);
    let publish = |(number, hash): (u64, B256)| async move {
        publish_block(session, state, log, number, hash).await.map(|()| (number, hash))
    };
    let mut results = stream::iter(blocks).map(publish).buffered(IN_FLIGHT);
    let (mut published, mut failure) = (Vec::new(), None);
    while failure.is_none()
        && let Some(result) = results.next().await
    {
        match result {
            Ok(block) => published.push(block),
            Err(error) => failure = Some(error),
        }
    }
    log.mark_published(&published)?;
    failure.map_or(Ok(()), |error| {
        log.read_again(lowest);
        Err(error)
    })
}

async fn publish_block(
    session: &Session,
    state: &FleetState,
    log: &FleetLog,
    number: u64,
    hash: B256,
) -> Result<(), FleetError> {
    // A deleted block: another node may have it.
    let Some(block) = log.block(number, &hash)? else { return Ok(()) };
    let message = block_message::encode(&block).map_err(FleetError::Compression)?;
    let publication = publish_after(&session.context, &state.names.block(&hash), message, 0).await?;
    state.count(|counts| match publication {
        Publication::Added { .. } => counts.published += 1,
        Publication::Refused => counts.refused += 1,
    });
    Ok(())
}
