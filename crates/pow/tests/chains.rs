//! Chain specifications and headers for the cases.

use rhizome_pow::{BlockLookup, LookUpError};
use rhizome_primitives::{B256, ChainSpec, Header};
use std::collections::HashMap;
use std::sync::Arc;

/// The built-in network with the name that the golden files use.
pub(crate) fn spec(net: &str) -> ChainSpec {
    match net {
        "main" => ChainSpec::mainnet(),
        other => ChainSpec::by_name(other).unwrap(),
    }
}

/// Blocks in memory.
#[derive(Default)]
pub(crate) struct Blocks {
    headers: HashMap<B256, Arc<Header>>,
    uncles: HashMap<B256, Vec<B256>>,
}

impl Blocks {
    pub(crate) fn add(&mut self, header: &Arc<Header>, uncles: Vec<B256>) {
        self.headers.insert(header.hash(), Arc::clone(header));
        self.uncles.insert(header.hash(), uncles);
    }
}

impl BlockLookup for Blocks {
    fn header(&self, hash: &B256) -> Result<Option<Arc<Header>>, LookUpError> {
        Ok(self.headers.get(hash).cloned())
    }

    fn uncle_hashes(&self, hash: &B256) -> Result<Option<Vec<B256>>, LookUpError> {
        Ok(self.uncles.get(hash).cloned())
    }
}
