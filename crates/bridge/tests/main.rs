//! Tests of the Bridge through its public interface.

#![allow(clippy::unwrap_used)]

mod peg_outs;
