//! The lease that lets one node of a fleet publish changes: a message that the server deletes when it is not renewed.

use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};

use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::ordered_publish::{Publication, publish_after};
use crate::session::{Session, stream};

/// Time for which the server keeps the lease of a node that is silent. Only the clock of the server counts.
const DURATION: Duration = Duration::from_secs(4);
/// Time between two renewals.
pub(crate) const RENEWAL: Duration = Duration::from_secs(1);

/// The lease as this node sees it.
pub(crate) struct Lease {
    subject: String,
    name: String,
    /// Sequence number of the message of this node; `None` if another node may hold the lease.
    sequence: Option<u64>,
}

impl Lease {
    /// Opens the stream of the lease; an importer creates it.
    pub(crate) async fn open(session: &Session, state: &FleetState) -> Result<Self, FleetError> {
        let config = Config {
            name: state.names.lease_stream(),
            subjects: vec![state.names.lease()],
            max_age: DURATION,
            max_messages: 1,
            storage: StorageType::Memory,
            discard: DiscardPolicy::Old,
            num_replicas: state.options.stream_copies,
            ..Config::default()
        };
        stream(&session.context, state, config).await?;
        Ok(Self { subject: state.names.lease(), name: state.options.name.clone(), sequence: None })
    }

    /// Takes the lease if no node holds it, or renews that of this node. Returns whether this node holds it.
    pub(crate) async fn take(&mut self, session: &Session) -> Result<bool, FleetError> {
        let message = PublishMessage::build().payload(self.name.clone().into());
        let after = self.sequence.take().unwrap_or(0);
        self.sequence = match publish_after(&session.context, &self.subject, message, after).await? {
            Publication::Added { sequence } => Some(sequence),
            Publication::Refused => None,
        };
        Ok(self.sequence.is_some())
    }
}
