//! Accepts connections.

use crate::close_reason::CloseReason;
use crate::error::NetworkError;
use crate::network_state::NetworkState;
use crate::peer::connection::{self, ConnectionOrigin};
use crate::tasks;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Pause after a failed accept: most likely all file descriptors are in use.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Opens the port of the settings, if there is one.
pub(crate) async fn bind(shared: &NetworkState) -> Result<Option<TcpListener>, NetworkError> {
    let Some(port) = shared.options.port else { return Ok(None) };
    let address = SocketAddr::new(shared.options.host, port);
    let failed = |source| NetworkError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let _first = shared.listening.set(listener.local_addr().map_err(failed)?);
    Ok(Some(listener))
}

/// Accepts connections without end.
pub(crate) async fn listen(shared: Arc<NetworkState>, listener: TcpListener) {
    loop {
        let Ok((socket, address)) = listener.accept().await else {
            tokio::time::sleep(RETRY_PAUSE).await;
            continue;
        };
        if shared.standing.refuses_address(address.ip()) {
            shared.closed.count(&CloseReason::Banned);
            continue;
        }
        // Above a limit the connection is closed before any byte.
        let Some(slot) = shared.pending.admit(address.ip(), Instant::now()) else {
            shared.closed.count(&CloseReason::TooManyConnections);
            continue;
        };
        let shared = Arc::clone(&shared);
        tasks::start(async move {
            connection::run(&shared, socket, address, ConnectionOrigin::Accepted(slot)).await;
        });
    }
}
