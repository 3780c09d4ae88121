//! A fleet: several nodes of one chain that share blocks, transactions and heads over NATS JetStream. The only crate that names
//! async-nats.
//!
//! [`Fleet`] owns two threads for the connection and, in a replica, a thread that feeds the importer. An importer publishes every block that
//! it stores (`block_publisher`); a replica reads them (`block_reader`) and imports them like those of peers (`block_import`). All nodes
//! exchange the transactions of their pools (`transactions`) and announce their heads (`heads`, `heard_nodes`). On request, the node that holds a lease
//! publishes the change feed (`changes`).
//!
//! Must not: know JSON or Node; decide about consensus; trust a message.
//!
//! Start with `fleet`, then `session`.

mod block_import;
mod block_message;
mod block_publisher;
mod block_reader;
mod changes;
mod error;
mod fleet;
mod fleet_state;
mod head_table;
mod heads;
mod heard_nodes;
mod lease;
mod names;
mod options;
mod ordered_publish;
mod receipt_order;
mod session;
mod transactions;

pub use changes::{ChangeError, ChangeEvent, ChangePage, ChangeSource, ChangeStatus};
pub use error::FleetError;
pub use fleet::Fleet;
pub use fleet_state::{FleetStatus, LogCounts, RestoreStatus, TransactionCounts};
pub use head_table::FleetNode;
pub use heard_nodes::FleetHead;
pub use options::{Credentials, CredentialsError, FleetOptions, FleetRole, TlsFiles};
