//! Typed storage slots: keys, formats, and access (docs/spec/bridge.md, 3).

pub(crate) mod access;
pub(crate) mod coins;
pub(crate) mod compound;
pub(crate) mod election;
pub(crate) mod federation;
pub(crate) mod keys;
pub(crate) mod pending_federation;
pub(crate) mod processed_transactions;
pub(crate) mod release_queue;
pub(crate) mod slot;
pub(crate) mod stored_header;
pub(crate) mod waiting_for_confirmations;
pub(crate) mod waiting_for_signatures;
pub(crate) mod whitelist;
