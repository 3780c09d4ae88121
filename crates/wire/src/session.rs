//! Handshake, frames, base protocol and discovery packets (docs/spec/p2p.md, 2 to 5).
