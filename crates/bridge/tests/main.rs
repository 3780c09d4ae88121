//! Tests of the Bridge through its public interface.

#![allow(clippy::unwrap_used)]

mod conservation;
mod federations;
mod memory_host;
mod peg_outs;
mod registrations;
mod whitelist;
