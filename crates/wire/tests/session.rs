//! Vectors of handshake, frames, base protocol and discovery.
