//! A live reference node on loopback, in both directions. Runs if `RSKJ` names its start script.

use crate::support::{NETWORK, key, options, start, wait};
use rhizome_net::{Enode, HostPort, MessageKind, NetworkOptions, PeerDirection, PeerEvent};
use rhizome_primitives::B256;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Reference {
    child: Child,
    _directory: tempfile::TempDir,
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn reference(script: &str, port: u16, peer: Option<&Enode>) -> Reference {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display();
    let peer = peer.map_or(String::new(), |enode| format!("-Dpeer.active.0.url={enode}"));
    let java = format!(
        "-Xmx1500m -Ddatabase.dir={path}/db -Drpc.providers.web.http.port={} -Drpc.providers.web.ws.enabled=false \
         -Dpeer.port={port} -Dpeer.privateKey={} -Dbind_address=127.0.0.1 -Dpublic.ip=127.0.0.1 \
         -Dminer.client.enabled=false -Dpeer.discovery.enabled=false {peer}",
        port + 1,
        hex::encode(key(77).to_bytes()),
    );
    let mut command = Command::new(script);
    command.arg("--regtest").env("JAVA_OPTS", java).env("RSKJ_LOGS", directory.path().join("logs"));
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    Reference { child, _directory: directory }
}

fn settings() -> NetworkOptions {
    let genesis: B256 = "0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe".parse().unwrap();
    NetworkOptions { genesis, network_id: NETWORK, ..options(1) }
}

#[test]
fn the_reference_dials_and_is_dialled() {
    let Ok(script) = std::env::var("RSKJ") else {
        eprintln!("skipped: RSKJ does not name the start script of a reference node");
        return;
    };
    let port = 30_511;
    let id = key(77).id();
    let enode = Enode { id, address: HostPort { host: "127.0.0.1".to_owned(), port } };
    for direction in [PeerDirection::Outbound, PeerDirection::Inbound] {
        let static_peers = if direction == PeerDirection::Outbound { vec![enode.clone()] } else { Vec::new() };
        let mut node = start(NetworkOptions { static_peers, ..settings() });
        let own = node.enode();
        let begun = Instant::now();
        let _reference = reference(&script, port, (direction == PeerDirection::Inbound).then_some(&own));
        let mut seen = Vec::new();
        let limit = Instant::now() + Duration::from_secs(120);
        while node.network.peers().is_empty() {
            assert!(Instant::now() < limit, "no connection: {:?}", node.network.closed());
            std::thread::sleep(Duration::from_millis(50));
        }
        eprintln!("{direction:?} after {:?}", begun.elapsed());
        std::thread::sleep(Duration::from_secs(40));
        while let Ok(event) = node.events.try_recv() {
            match event {
                PeerEvent::Message(_, message) if message.kind == MessageKind::Rsk => {
                    seen.push(hex::encode(message.payload()));
                }
                other => eprintln!("{other:?}"),
            }
        }
        let peers = node.network.peers();
        wait("the peer", || peers.len() == 1);
        eprintln!("{:?} {} {:?} {:?}", peers[0], peers[0].client, peers[0].shared, peers[0].claimed_best());
        let figures = node.network.figures();
        eprintln!("received {:?} sent {:?}", figures.received, figures.sent);
        eprintln!("messages: {seen:?}");
        eprintln!("closed: {:?}", node.network.closed());
        assert_eq!(peers[0].direction, direction);
        assert!(peers[0].connected.elapsed() > Duration::from_secs(39));
    }
}
