//! One connection to the server, from the first contact until it is lost, and the streams of the chain.

use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectOptions, Event, ServerError};
use futures_util::TryStreamExt;
use tokio::sync::mpsc;

use crate::block_message::MAX_BLOCK_BYTES;
use crate::error::{FleetError, OtherStreams};
use crate::fleet_state::FleetState;
use crate::names::STREAM_PREFIX;
use crate::options::{Credentials, FleetOptions, FleetRole};

/// Time for an answer of the server.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Time without a sign of life after which the connection counts as lost, twice.
const PING_TIME: Duration = Duration::from_secs(5);
/// Time for which a transaction stays in its stream: as long as in a pool.
const TRANSACTION_TIME: Duration = Duration::from_secs(650);
/// Maximum size of the stream of transactions.
const TRANSACTION_BYTES: i64 = 256 << 20;

/// A connection with the streams of the chain.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) blocks: Stream,
    pub(crate) transactions: Stream,
}

/// Reports the end of a connection.
pub(crate) type SessionEnd = mpsc::Receiver<FleetError>;

impl Session {
    /// Connects, checks the server, and opens the streams; an importer creates them.
    pub(crate) async fn open(state: &FleetState) -> Result<(Self, SessionEnd), FleetError> {
        let (client, end) = connect(&state.options).await?;
        let server = client.server_info();
        if !server.jetstream {
            return Err(FleetError::NoJetStream);
        }
        if server.max_payload < MAX_BLOCK_BYTES {
            return Err(FleetError::SmallPayload { found: server.max_payload });
        }
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER_TIME);
        let blocks = stream(&context, state, block_stream(state)).await?;
        let transactions = stream(&context, state, transaction_stream(state)).await?;
        Ok((Self { client, context, blocks, transactions }, end))
    }

    /// Returns the identity of the block log: the time of its creation, in nanoseconds since 1970. A log that was deleted and
    /// created again has a different identity.
    pub(crate) fn log_identity(&self) -> u64 {
        u64::try_from(self.blocks.cached_info().created.unix_timestamp_nanos()).unwrap_or_default()
    }
}

async fn connect(options: &FleetOptions) -> Result<(Client, SessionEnd), FleetError> {
    let (ended, end) = mpsc::channel(1);
    let mut connection = ConnectOptions::new()
        .name(format!("rhizome {}", options.name))
        .connection_timeout(ANSWER_TIME)
        .request_timeout(Some(ANSWER_TIME))
        .ping_interval(PING_TIME)
        // Each connection is checked, streams included.
        .max_reconnects(Some(1))
        .require_tls(options.tls.is_required)
        .event_callback(move |event| {
            let ended = ended.clone();
            async move {
                let error = match event {
                    Event::Disconnected | Event::Closed | Event::LameDuckMode => FleetError::Lost,
                    Event::ServerError(ServerError::Other(text)) => FleetError::Refused(text),
                    _ => return,
                };
                // The first one counts.
                drop(ended.try_send(error));
            }
        });
    if let Some(path) = &options.tls.authorities {
        connection = connection.add_root_certificates(path.clone());
    }
    if let Some((certificate, key)) = &options.tls.client {
        connection = connection.add_client_certificate(certificate.clone(), key.clone());
    }
    connection = match &options.credentials {
        Credentials::Url => connection,
        Credentials::User { name, password } => connection.user_and_password(name.clone(), password.clone()),
        Credentials::Token(token) => connection.token(token.clone()),
    };
    let servers: Vec<&str> = options.url.split(',').collect();
    let url = || options.shown_url().to_string();
    match connection.connect(servers).await {
        Ok(client) => Ok((client, end)),
        Err(error) => Err(FleetError::connecting(url(), &error)),
    }
}

fn block_stream(state: &FleetState) -> Config {
    Config {
        name: state.names.blocks(),
        subjects: vec![state.names.all_blocks()],
        max_age: state.options.block_retention,
        storage: StorageType::File,
        discard: DiscardPolicy::Old,
        num_replicas: state.options.stream_copies,
        ..Config::default()
    }
}

fn transaction_stream(state: &FleetState) -> Config {
    Config {
        name: state.names.transactions(),
        subjects: vec![state.names.all_transactions()],
        max_age: TRANSACTION_TIME,
        max_bytes: TRANSACTION_BYTES,
        storage: StorageType::Memory,
        discard: DiscardPolicy::Old,
        num_replicas: state.options.stream_copies,
        ..Config::default()
    }
}

/// Opens a stream as the operator or an importer made it. Only importers create one.
pub(crate) async fn stream(context: &Context, state: &FleetState, config: Config) -> Result<Stream, FleetError> {
    use jetstream::context::GetStreamErrorKind::JetStream;
    match context.get_stream(&config.name).await.map_err(|error| (error.kind(), error.to_string())) {
        Ok(stream) => Ok(stream),
        Err((JetStream(error), _)) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => match state.options.role {
            FleetRole::Importer => create(context, config).await,
            FleetRole::Replica => Err(missing(context, config.name).await),
        },
        Err((JetStream(error), _)) if is_without_jetstream(error.error_code()) => Err(FleetError::NoJetStream),
        Err((_, text)) => Err(FleetError::Refused(format!("open a stream: {text}"))),
    }
}

async fn create(context: &Context, config: Config) -> Result<Stream, FleetError> {
    use jetstream::context::CreateStreamErrorKind::TimedOut;
    // Another importer may have been faster: the same settings are no error.
    context.create_stream(config).await.map_err(|error| match error.kind() {
        TimedOut => slow("create a stream"),
        _ => FleetError::Refused(error.to_string()),
    })
}

fn is_without_jetstream(code: ErrorCode) -> bool {
    [ErrorCode::JETSTREAM_NOT_ENABLED, ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT].contains(&code)
}

pub(crate) fn slow(request: &'static str) -> FleetError {
    FleetError::Slow { seconds: ANSWER_TIME.as_secs(), request }
}

/// Returns the error for a stream that does not exist, with those of other chains.
async fn missing(context: &Context, stream: String) -> FleetError {
    let names = context.stream_names().try_collect::<Vec<String>>().await.unwrap_or_default();
    let is_other = |name: &String| name.starts_with(STREAM_PREFIX) && name.ends_with("_blocks") && *name != stream;
    let mut others: Vec<String> = names.into_iter().filter(is_other).collect();
    others.truncate(4);
    FleetError::NoStream { stream, others: OtherStreams(others) }
}
