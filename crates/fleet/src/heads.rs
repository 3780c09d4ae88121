//! Announces the head of this node and listens to those of the others. Each node announces its own when it changes and ten times a second.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::context::{RequestError, RequestErrorKind};
use futures_util::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::heard_nodes::{Announcement, Claim, FleetHead};
use crate::options::FleetRole;
use crate::session::{Session, slow};

/// Time between two announcements of the same head.
const PERIOD: Duration = Duration::from_millis(100);
/// Least time between two announcements. A replica that catches up changes its head hundreds of times a second, and each announcement
/// costs all nodes of the fleet some time.
const PAUSE: Duration = Duration::from_millis(10);
/// Time between two looks for heads that this chain lacks.
const CLAIM_LOOK: Duration = Duration::from_millis(250);
/// Maximum length of an announcement in bytes.
const MAX_BYTES: usize = 512;

/// An announcement: number, hash, total difficulty, role and version, separated by spaces.
fn encode(head: &FleetHead, role: FleetRole, version: &str) -> String {
    format!("{} {} {} {} {version}", head.number, head.hash, head.total_difficulty, role.name())
}

fn decode(announcement: &[u8]) -> Option<Announcement> {
    if announcement.len() > MAX_BYTES {
        return None;
    }
    let mut words = std::str::from_utf8(announcement).ok()?.split(' ');
    let head = FleetHead {
        number: words.next()?.parse().ok()?,
        hash: words.next()?.parse().ok()?,
        total_difficulty: words.next()?.parse().ok()?,
    };
    Some(Announcement { head, role: words.next()?.to_owned(), version: words.next()?.to_owned() })
}

/// Announces the head of this node.
pub(crate) async fn announce(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    let subject = state.names.head(&state.options.name);
    loop {
        let head = FleetHead::of(&state.chain);
        let text = encode(&head, state.options.role, &state.options.version);
        session.client.publish(subject.clone(), text.into()).await.map_err(|_closed| FleetError::Lost)?;
        let next = Instant::now() + PERIOD;
        tokio::time::sleep(PAUSE).await;
        tokio::select! {
            () = state.moved.notified() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

/// Reports that announcements are heard, until it is dropped: also when the session ends in the middle.
struct HeadSubscription<'s>(&'s FleetState);

impl<'s> HeadSubscription<'s> {
    fn new(state: &'s FleetState) -> Self {
        state.heads.listen(true);
        Self(state)
    }
}

impl Drop for HeadSubscription<'_> {
    fn drop(&mut self) {
        self.0.heads.listen(false);
    }
}

/// Listens to the heads of the other nodes.
pub(crate) async fn listen(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    let subscribed = session.client.subscribe(state.names.all_heads()).await;
    let mut announcements = subscribed.map_err(|error| FleetError::Refused(error.to_string()))?;
    let _subscription = HeadSubscription::new(state);
    while let Some(message) = announcements.next().await {
        let name = message.subject.rsplit('.').next().unwrap_or_default();
        if let Some(announced) = decode(&message.payload) {
            state.heads.hear(name, announced, &state.chain);
        }
    }
    Err(FleetError::Lost)
}

/// Looks up in the block log the announced heads that this chain lacks.
pub(crate) async fn verify(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    loop {
        tokio::time::sleep(CLAIM_LOOK).await;
        for claim in state.heads.claims(&state.chain) {
            let is_logged = is_logged(session, state, &claim).await?;
            if state.heads.decide(&claim, is_logged) {
                let Claim { node, head } = claim;
                state.report_fault(format!(
                    "node {node} announces block {} ({}), which is not in the block log",
                    head.number, head.hash
                ));
            }
        }
    }
}

async fn is_logged(session: &Session, state: &FleetState, claim: &Claim) -> Result<bool, FleetError> {
    let subject = state.names.block(&claim.head.hash);
    let failure = |error: RequestError| match error.kind() {
        RequestErrorKind::TimedOut => slow("look up a block"),
        _ => FleetError::Refused(format!("look up a block: {error}")),
    };
    let mut found = session.blocks.info_with_subjects(subject).await.map_err(failure)?;
    Ok(found.try_next().await.map_err(failure)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{B256, U256};

    #[test]
    fn an_announcement_is_read_back() {
        let head = FleetHead { number: 7, hash: B256::repeat_byte(3), total_difficulty: U256::from(8) };
        let text = encode(&head, FleetRole::Replica, "0.1.0");
        let read = decode(text.as_bytes()).unwrap();
        assert_eq!((read.head, read.role.as_str(), read.version.as_str()), (head, "replica", "0.1.0"));
        assert!(decode(b"7 0x 1").is_none());
        assert!(decode(&[b'1'; MAX_BYTES + 1]).is_none());
    }
}
