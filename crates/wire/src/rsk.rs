//! Messages of the subprotocol rsk/62, snap synchronization included (docs/spec/p2p.md, 6 and 10).
