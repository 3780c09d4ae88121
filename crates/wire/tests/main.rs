//! Golden data of the reference and properties of the decoders.

#![allow(clippy::unwrap_used)]

mod rsk;
mod session;
