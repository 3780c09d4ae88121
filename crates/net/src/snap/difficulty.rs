//! Total difficulty of the pivot. Headers name no uncles, so the header chain gives a lower bound only; peers state the rest
//! (docs/spec/p2p-additions.md, E).

use rhizome_primitives::U256;
use rhizome_wire::session::NodeId;
use std::collections::HashMap;

/// Total difficulties that peers state, by node.
#[derive(Debug, Default)]
pub(super) struct DifficultyClaims(HashMap<NodeId, (U256, bool)>);

impl DifficultyClaims {
    /// Notes the claim of a peer. `is_trusted`: the operator named the peer.
    pub(super) fn add(&mut self, id: NodeId, difficulty: U256, is_trusted: bool) {
        self.0.insert(id, (difficulty, is_trusted));
    }

    /// Returns the highest difficulty that two peers state, or a peer that the operator named; the lower bound if none is above it.
    pub(super) fn agreed(&self, lower_bound: U256) -> U256 {
        let count = |stated: &U256| self.0.values().filter(|(other, _)| other == stated).count();
        let is_agreed = |(stated, is_trusted): &&(U256, bool)| *is_trusted || count(stated) >= 2;
        let agreed = self.0.values().filter(is_agreed).map(|(stated, _)| *stated);
        agreed.fold(lower_bound, U256::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_wire::session::NodeKey;

    fn id(fill: u8) -> NodeId {
        NodeKey::from_bytes([fill; 32]).unwrap().id()
    }

    #[test]
    fn one_stranger_is_not_believed() {
        let mut claims = DifficultyClaims::default();
        let (bound, more) = (U256::from(10), U256::from(12));
        claims.add(id(1), U256::from(1_000), false);
        assert_eq!(claims.agreed(bound), bound);
        claims.add(id(2), more, false);
        claims.add(id(3), more, false);
        assert_eq!(claims.agreed(bound), more);
        claims.add(id(4), U256::from(9), true);
        assert_eq!(claims.agreed(bound), more);
        claims.add(id(5), U256::from(13), true);
        assert_eq!(claims.agreed(bound), U256::from(13));
    }
}
