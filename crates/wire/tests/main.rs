//! Golden data of the reference and properties of the decoders.

mod rsk;
mod session;
