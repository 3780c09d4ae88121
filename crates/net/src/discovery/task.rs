//! The UDP socket of discovery.

use super::protocol::{Discovery, DiscoveryOptions};
use crate::error::NetworkError;
use crate::network_state::NetworkState;
use crate::tasks;
use rhizome_wire::session::{HostPort, MAX_DISCOVERY_PACKET};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Interval of the clock.
const TICK: Duration = Duration::from_secs(1);
/// Resolved addresses that may wait.
const RESOLVED: usize = 16;

/// Opens the UDP port with the number of the TCP port, if there is a listener and discovery is on.
pub(crate) async fn bind(shared: &NetworkState) -> Result<Option<(UdpSocket, SocketAddr)>, NetworkError> {
    let Some(&address) = shared.listening.get().filter(|_| shared.options.has_discovery) else { return Ok(None) };
    let socket = UdpSocket::bind(address).await;
    Ok(Some((socket.map_err(|source| NetworkError::Listen { address, source })?, address)))
}

/// Runs discovery without end. Publishes the table to the dialler.
pub(crate) async fn discover(shared: Arc<NetworkState>, socket: UdpSocket, address: SocketAddr) {
    let options = DiscoveryOptions {
        key: shared.options.key.clone(),
        network_id: shared.options.network_id,
        host: shared.options.public_ip.unwrap_or(address.ip()),
        port: address.port(),
        exempts_local: shared.options.exempts_local,
    };
    let mut discovery = Discovery::new(options, Instant::now());
    let remembered: Vec<_> = shared.nodes.lock().iter().map(|node| node.address).collect();
    remembered.into_iter().for_each(|address| discovery.contact(address, Instant::now()));
    let mut tick = tokio::time::interval(TICK);
    let mut buffer = vec![0; MAX_DISCOVERY_PACKET + 1];
    let (addresses, mut resolved) = mpsc::channel(RESOLVED);
    let mut resolver: Option<JoinHandle<()>> = None;
    loop {
        tokio::select! {
            received = socket.recv_from(&mut buffer) => {
                // An error belongs to an earlier datagram: its target does not listen.
                let Ok((length, source)) = received else { continue };
                if !shared.standing.refuses_address(source.ip()) {
                    discovery.receive(&buffer[..length], source, Instant::now());
                }
            }
            Some(address) = resolved.recv() => discovery.contact(address, Instant::now()),
            _ = tick.tick() => {
                // A look-up of names may take minutes.
                if discovery.tick(Instant::now()) && resolver.as_ref().is_none_or(JoinHandle::is_finished) {
                    resolver = Some(tasks::start(resolve(Arc::clone(&shared), addresses.clone())));
                }
                publish(&shared, &discovery);
            }
        }
        for datagram in discovery.take_outgoing() {
            // Packets may be lost anyway.
            let _ = socket.send_to(&datagram.bytes, datagram.to).await;
        }
    }
}

/// Sends the addresses of the configured nodes.
async fn resolve(shared: Arc<NetworkState>, addresses: mpsc::Sender<SocketAddr>) {
    let mut hosts: Vec<HostPort> = shared.options.bootnodes.clone();
    hosts.extend(shared.static_peers.read().iter().map(|enode| enode.address.clone()));
    for host in hosts {
        let found = tokio::net::lookup_host((host.host.as_str(), host.port)).await;
        if let Some(address) = found.ok().and_then(|mut found| found.next()) {
            // Fails only while the network stops.
            let _ = addresses.send(address).await;
        }
    }
}

/// Lists the known nodes for the dialler. Nodes that leave the table stay in the list.
fn publish(shared: &NetworkState, discovery: &Discovery) {
    let mut nodes = shared.nodes.lock();
    for known in discovery.table.all() {
        nodes.insert(known.id, known.address);
    }
}
