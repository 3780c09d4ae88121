//! Connections to other nodes: listener, dialler, one task for each peer, admission and reputation of peers
//! (docs/spec/p2p.md, 3, 5, 11 and 12; limits: p2p-additions.md, F).
//!
//! [`PeerNetwork`] owns two threads. Bytes become messages in `rhizome-wire`; this crate moves the bytes, keeps time and
//! limits, and hands over messages as [`PeerEvent`]s. A receiver that is slow stops the reading of sockets; no message is
//! dropped.
//!
//! `dispatch` passes messages on to `sync`, which keeps the chain of the node up to date, to
//! `server`, which answers requests, and to `relay`, which exchanges new blocks and transactions.
//!
//! Must not: know JSON or Node; decode blocks or transactions on its threads; decide about consensus.
//!
//! Start with `network`, then `peer/connection` and `sync/task`.

mod address_group;
mod admission;
mod bans;
mod close_reason;
mod dialler;
mod discovery;
mod dispatch;
mod error;
mod figures;
mod head_watch;
mod listener;
mod local_chain;
mod network;
mod network_state;
mod node_key;
mod node_list;
mod older_blocks;
mod options;
mod peer;
mod peer_tasks;
mod registry;
mod relay;
mod requests;
mod rotation;
mod server;
mod snap;
mod standing;
mod sync;
mod tasks;
mod token_bucket;
mod traffic;
mod verified_blocks;

pub use bans::{AddressBlock, AddressBlockError, BanStore, BanTarget, Bans};
pub use close_reason::{CloseReason, Phase};
pub use discovery::{bucket, distance};
pub use error::NetworkError;
pub use figures::{NetworkFigures, QueueLength};
pub use local_chain::{ChainStatus, StatusSource};
pub use network::PeerNetwork;
pub use node_key::{NodeKeyError, node_key_in, random_node_key};
pub use options::{Limits, NetworkOptions, PeerSlots};
pub use peer::events::{MessageKind, PeerEvent, PeerMessage};
pub use peer::outbox::SendError;
pub use peer::{Peer, PeerDirection};
pub use rhizome_wire::session::{Enode, EnodeError, HostPort, NodeId, NodeKey};
pub use standing::{PeerScore, PeerStanding, PunishmentRule, ScoreEvent, ScoredPeer};
pub use sync::{NEAR_BLOCKS, OlderStage, StateStage, SyncLoad, SyncStatus, WindowLengths};
pub use traffic::{MessageCount, PeerTraffic};
