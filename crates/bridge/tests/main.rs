//! Tests of the Bridge through its public interface.

#![allow(clippy::unwrap_used)]

mod federations;
mod peg_outs;
mod random_calls;
mod registrations;
