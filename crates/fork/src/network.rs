//! The network of a remote node, by its chain id and its genesis block.

use rhizome_primitives::{B256, ChainSpec};
use rhizome_trie::{MemoryNodes, genesis};

use crate::error::ForkError;

/// Returns the specification of the remote chain. `custom`: that of a chain file.
pub(crate) fn spec_of(chain_id: u64, found: B256, custom: Option<ChainSpec>) -> Result<ChainSpec, ForkError> {
    if let Some(spec) = custom {
        let expected = spec.chain_id;
        return if u64::from(expected) == chain_id {
            Ok(spec)
        } else {
            Err(ForkError::ChainId { expected, found: chain_id })
        };
    }
    let spec = ChainSpec::by_chain_id(chain_id).ok_or(ForkError::NotRootstock { chain_id })?;
    // Development networks may have other accounts in their genesis block.
    if spec.is_development() || genesis_hash(&spec) == Some(found) {
        return Ok(spec);
    }
    Err(ForkError::Genesis { chain_id, network: spec.name, genesis: found })
}

fn genesis_hash(spec: &ChainSpec) -> Option<B256> {
    genesis(spec, std::sync::Arc::new(MemoryNodes::default())).ok().map(|(block, _)| block.hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_id_and_genesis_tell_the_network() {
        for spec in [ChainSpec::mainnet(), ChainSpec::testnet()] {
            let (id, hash) = (spec.chain_id.into(), genesis_hash(&spec).unwrap());
            assert_eq!(spec_of(id, hash, None).unwrap().network, spec.network);
            assert!(matches!(spec_of(id, B256::ZERO, None), Err(ForkError::Genesis { .. })));
        }
        assert_eq!(spec_of(33, B256::ZERO, None).unwrap(), ChainSpec::regtest());
        for id in [1, 31_337, 286] {
            assert!(
                matches!(spec_of(id, B256::ZERO, None), Err(ForkError::NotRootstock { chain_id }) if chain_id == id)
            );
        }
        let mut custom = ChainSpec::regtest();
        custom.chain_id = 77;
        assert!(spec_of(77, B256::ZERO, Some(custom.clone())).is_ok());
        assert!(matches!(spec_of(33, B256::ZERO, Some(custom)), Err(ForkError::ChainId { expected: 77, found: 33 })));
    }
}
