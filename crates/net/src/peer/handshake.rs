//! Handshake over a socket.

use super::byte_source::ByteSource;
use crate::close_reason::{CloseReason, Phase};
use rhizome_wire::session::{
    EstablishedSession, HandshakeEntropy, HandshakeError, Initiator, NodeId, NodeKey, Responder,
};
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

/// Connects to the node `remote` over an open socket.
pub(crate) async fn initiate(
    key: &NodeKey,
    remote: NodeId,
    source: &mut ByteSource,
    socket: &mut OwnedWriteHalf,
) -> Result<EstablishedSession, CloseReason> {
    let mut initiator = Initiator::new(key.clone(), remote, entropy()?)?;
    socket.write_all(initiator.auth()).await?;
    read(source, |input| initiator.read(input)).await
}

/// Answers the handshake of another node.
pub(crate) async fn respond(
    key: &NodeKey,
    source: &mut ByteSource,
    socket: &mut OwnedWriteHalf,
) -> Result<EstablishedSession, CloseReason> {
    let mut responder = Responder::new(key.clone(), entropy()?);
    let accepted = read(source, |input| responder.read(input)).await?;
    socket.write_all(&accepted.ack).await?;
    Ok(accepted.session)
}

async fn read<T>(
    source: &mut ByteSource,
    mut step: impl FnMut(&mut &[u8]) -> Result<Option<T>, HandshakeError>,
) -> Result<T, CloseReason> {
    loop {
        source.fill().await?;
        if let Some(result) = source.take(&mut step)? {
            return Ok(result);
        }
    }
}

/// Limits a step of a connection.
pub(crate) async fn limited<T>(
    phase: Phase,
    time: std::time::Duration,
    step: impl Future<Output = Result<T, CloseReason>>,
) -> Result<T, CloseReason> {
    tokio::time::timeout(time, step).await.unwrap_or(Err(CloseReason::TimedOut(phase)))
}

fn entropy() -> Result<HandshakeEntropy, CloseReason> {
    let mut random = [0; HandshakeEntropy::LENGTH];
    getrandom::fill(&mut random).map_err(std::io::Error::from)?;
    Ok(HandshakeEntropy::from_random(&random).map_err(HandshakeError::from)?)
}
