//! The task of a connection: handshake, Hello, Status, then messages in both directions until one of them ends.

use super::byte_source::ByteSource;
use super::events::{MessageKind, PeerEvent, PeerMessage};
use super::frame_writer::FrameWriter;
use super::handshake::{initiate, limited, respond};
use super::keep_alive::keep_alive;
use super::reader::FrameReader;
use super::{Peer, PeerDirection};
use crate::admission::PendingSlot;
use crate::close_reason::{CloseReason, Phase};
use crate::local_chain::{RemoteStatus, encode_rsk_status, encode_status};
use crate::network_state::NetworkState;
use crate::standing::ScoreEvent;
use rhizome_wire::session::{Dialogue, EMPTY_LIST, Hello, Incoming, NodeId, SharedCapabilities, codes};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// Time for the last message of a connection.
const FAREWELL_TIME: Duration = Duration::from_millis(300);

/// Side that opened the connection, with the state of that side.
pub(crate) enum ConnectionOrigin {
    /// The listener accepted it.
    Accepted(PendingSlot),
    /// This node dialled the node.
    Dialled(NodeId),
}

/// A connection after Hello.
struct Established {
    peer: Arc<Peer>,
    reader: FrameReader,
    writer: FrameWriter,
}

/// Runs a connection to its end. Returns the reason.
pub(crate) async fn run(
    shared: &Arc<NetworkState>,
    socket: TcpStream,
    address: SocketAddr,
    origin: ConnectionOrigin,
) -> CloseReason {
    let reason = match establish(shared, socket, address, origin).await {
        Ok(established) => converse(shared, established).await,
        Err(reason) => reason,
    };
    shared.closed.count(&reason);
    reason
}

/// Records a failed introduction.
fn record_failure(shared: &NetworkState, id: Option<&NodeId>, address: IpAddr, reason: &CloseReason) {
    let event = match reason {
        CloseReason::Handshake(_) | CloseReason::Frame(_) | CloseReason::Protocol(_) => ScoreEvent::FailedHandshake,
        _ => return,
    };
    shared.standing.record(id, address, event, false);
}

async fn establish(
    shared: &Arc<NetworkState>,
    socket: TcpStream,
    address: SocketAddr,
    origin: ConnectionOrigin,
) -> Result<Established, CloseReason> {
    let limits = &shared.options.limits;
    socket.set_nodelay(true)?;
    let (input, mut output) = socket.into_split();
    let mut source = ByteSource::new(input);
    let key = &shared.options.key;
    let session = limited(Phase::Handshake, limits.handshake_time, async {
        match &origin {
            ConnectionOrigin::Accepted(_) => respond(key, &mut source, &mut output).await,
            ConnectionOrigin::Dialled(remote) => initiate(key, *remote, &mut source, &mut output).await,
        }
    })
    .await
    .inspect_err(|reason| record_failure(shared, None, address.ip(), reason))?;
    let remote = session.remote;
    let own_hello = shared.hello();
    let dialogue = Dialogue::new(&own_hello, session.remote);
    let mut reader = FrameReader::new(source, session.decoder, dialogue, Arc::clone(&shared.traffic));
    let mut writer = FrameWriter::new(output, session.encoder, Arc::clone(&shared.traffic));
    let introduced = limited(Phase::Hello, limits.hello_time, async {
        if matches!(origin, ConnectionOrigin::Dialled(_)) {
            writer.put(codes::HELLO, &own_hello.encode())?;
            writer.flush().await?;
        }
        match reader.first(limits).await? {
            Incoming::Hello(hello, common) => admit(shared, &hello, common, address, &origin),
            Incoming::Disconnect(reason) => Err(CloseReason::Remote(reason)),
            _ => Err(CloseReason::OutOfOrder),
        }
    })
    .await;
    match introduced {
        Ok(peer) => {
            // The slot for connections before Hello becomes free.
            if let ConnectionOrigin::Accepted(slot) = origin {
                drop(slot);
                writer.put(codes::HELLO, &own_hello.encode())?;
            }
            Ok(Established { peer, reader, writer })
        }
        Err(reason) => {
            // A node id is proven by the first frame.
            let proven = (!matches!(reason, CloseReason::Frame(_))).then_some(&remote);
            record_failure(shared, proven, address.ip(), &reason);
            writer.close(&reason, FAREWELL_TIME).await;
            Err(reason)
        }
    }
}

fn admit(
    shared: &Arc<NetworkState>,
    hello: &Hello,
    common: SharedCapabilities,
    address: SocketAddr,
    origin: &ConnectionOrigin,
) -> Result<Arc<Peer>, CloseReason> {
    let direction = match origin {
        ConnectionOrigin::Accepted(_) => PeerDirection::Inbound,
        ConnectionOrigin::Dialled(_) => PeerDirection::Outbound,
    };
    if shared.standing.refuses_node(&hello.id) {
        return Err(CloseReason::Banned);
    }
    let is_static = shared.is_static(&hello.id);
    let peer = Arc::new(Peer::new(hello, common, address, direction, is_static, &shared.options.limits));
    shared.registry.admit(&peer)?;
    shared.report(&peer, ScoreEvent::SuccessfulHandshake);
    Ok(peer)
}

async fn converse(shared: &Arc<NetworkState>, established: Established) -> CloseReason {
    let Established { peer, mut reader, mut writer } = established;
    let reason = tokio::select! {
        reason = read(shared, &peer, &mut reader) => reason,
        reason = write(shared, &peer, &mut writer) => reason,
        reason = keep_alive(&shared.options.limits, &peer) => reason,
        reason = peer.closed() => reason,
    };
    peer.outbox.close();
    shared.registry.remove(&peer);
    drop(reader);
    writer.close(&reason, FAREWELL_TIME).await;
    if peer.is_active() {
        // Fails only if nothing takes events any more.
        let _ = shared.events.send(PeerEvent::Disconnected(peer, reason.clone())).await;
    }
    reason
}

async fn read(shared: &NetworkState, peer: &Arc<Peer>, reader: &mut FrameReader) -> CloseReason {
    let limits = &shared.options.limits;
    let messages = async {
        let status = limited(Phase::Status, limits.status_time, read_status(shared, peer, reader)).await?;
        peer.accept_status(status);
        reader.allow_large_frames();
        emit(shared, PeerEvent::Connected(Arc::clone(peer))).await?;
        loop {
            let (incoming, length) = reader.next(peer, limits).await?;
            let (kind, frame) = match incoming {
                Incoming::Rsk(frame) => (MessageKind::Rsk, frame),
                Incoming::Rhizome(number, frame) => (MessageKind::Rhizome(number), frame),
                Incoming::Hello(..) | Incoming::Status(_) => return Err(CloseReason::OutOfOrder),
                other => {
                    base_message(peer, other).await?;
                    continue;
                }
            };
            let message = PeerMessage::new(kind, frame, peer.inbox.admit(length));
            emit(shared, PeerEvent::Message(Arc::clone(peer), message)).await?;
        }
    };
    let result: Result<std::convert::Infallible, CloseReason> = messages.await;
    match result {
        Err(reason) => reason,
    }
}

/// Reads up to the Status of the other side and checks it.
async fn read_status(
    shared: &NetworkState,
    peer: &Peer,
    reader: &mut FrameReader,
) -> Result<RemoteStatus, CloseReason> {
    loop {
        match reader.next(peer, &shared.options.limits).await?.0 {
            Incoming::Status(frame) => {
                let status =
                    RemoteStatus::decode(frame.payload()).map_err(|_malformed| CloseReason::MalformedStatus)?;
                let checked = status.check(shared.options.network_id, &shared.options.genesis);
                match &checked {
                    Err(CloseReason::OtherVersion(_)) => shared.report(peer, ScoreEvent::IncompatibleProtocol),
                    Err(CloseReason::OtherNetwork(_)) => shared.report(peer, ScoreEvent::InvalidNetwork),
                    Err(CloseReason::OtherGenesis) => shared.report(peer, ScoreEvent::UnexpectedGenesis),
                    _ => {}
                }
                checked?;
                return Ok(status);
            }
            Incoming::Hello(..) | Incoming::Rsk(_) | Incoming::Rhizome(..) => return Err(CloseReason::OutOfOrder),
            other => base_message(peer, other).await?,
        }
    }
}

async fn base_message(peer: &Peer, message: Incoming) -> Result<(), CloseReason> {
    match message {
        Incoming::Disconnect(reason) => Err(CloseReason::Remote(reason)),
        // Waits while the queue is full: a peer that sends Pings and does not read stops itself.
        Incoming::Ping => peer.send(codes::PONG, EMPTY_LIST.to_vec()).await.map_err(|_ends| CloseReason::Stopping),
        _ => Ok(()),
    }
}

async fn emit(shared: &NetworkState, event: PeerEvent) -> Result<(), CloseReason> {
    shared.events.send(event).await.map_err(|_nothing_receives| CloseReason::Stopping)
}

async fn write(shared: &NetworkState, peer: &Peer, writer: &mut FrameWriter) -> CloseReason {
    let options = &shared.options;
    let chain = (shared.status)();
    peer.note_told(chain.hash);
    let first = [
        (codes::STATUS, encode_status(&chain, options.network_id, &options.genesis)),
        (codes::RSK, encode_rsk_status(&chain)),
    ];
    let result: Result<std::convert::Infallible, CloseReason> = async {
        for (code, payload) in &first {
            put(peer, writer, *code, payload)?;
        }
        flush(writer, tokio::time::Instant::now() + options.limits.send_time).await?;
        loop {
            let message = peer.outbox.pop().await;
            let deadline = message.queued + options.limits.send_time;
            put(peer, writer, message.code, &message.payload)?;
            drop(message);
            // Short messages that wait travel in the same write.
            while writer.unwritten() < 16_384 {
                let Some(message) = peer.outbox.try_pop() else { break };
                put(peer, writer, message.code, &message.payload)?;
            }
            flush(writer, deadline.into()).await?;
        }
    }
    .await;
    match result {
        Err(reason) => reason,
    }
}

fn put(peer: &Peer, writer: &mut FrameWriter, code: u8, payload: &[u8]) -> Result<(), CloseReason> {
    let before = writer.unwritten();
    writer.put(code, payload)?;
    peer.traffic.sent_bytes(writer.unwritten() - before);
    Ok(())
}

async fn flush(writer: &mut FrameWriter, deadline: tokio::time::Instant) -> Result<(), CloseReason> {
    Ok(tokio::time::timeout_at(deadline, writer.flush()).await.map_err(|_elapsed| CloseReason::NotReading)??)
}
