//! The chain of a data directory on this machine as the other side of a fork.

use std::collections::BTreeMap;
use std::sync::Arc;

use rhizome_evm::{AncestorBlock, AncestryError};
use rhizome_primitives::{Address, B256, Block, Bytes, I256, keccak256};
use rhizome_trie::keys::{KeyPart, StateKey};
use rhizome_trie::{AccountState, StateError, StateReader};

use crate::archive::record::BlockRecord;
use crate::chain::Chain;
use crate::error::ChainError;
use crate::fork::{ForkBlock, ForkOrigin};

/// A chain of this process, up to one of its blocks. State, headers and the Bridge are exact.
pub struct LocalOrigin {
    chain: Arc<Chain>,
    block: ForkBlock,
    state: Arc<dyn StateReader>,
}

/// A state in which some accounts have another balance.
struct FundedState {
    state: Arc<dyn StateReader>,
    balances: BTreeMap<Address, I256>,
}

impl LocalOrigin {
    /// Begins at a block of the best chain. `funded`: balances of accounts instead of those of the chain, in wei. Fails if the state after
    /// the block is not kept.
    pub fn new(chain: Arc<Chain>, record: &BlockRecord, funded: BTreeMap<Address, I256>) -> Result<Self, ChainError> {
        let genesis = chain.main_hash(0)?.ok_or(ChainError::MissingHeight { number: 0 })?;
        let Block { header, uncles, .. } = &record.block;
        let block = ForkBlock {
            block: Block { header: header.clone(), transactions: Vec::new(), uncles: uncles.clone() },
            total_difficulty: record.total_difficulty,
            genesis,
        };
        let state = Arc::new(FundedState { state: chain.state_at(record)?, balances: funded });
        Ok(Self { chain, block, state })
    }

    fn below(&self, record: Option<Arc<BlockRecord>>) -> Option<Arc<AncestorBlock>> {
        let below = record.filter(|record| record.number() < self.block.block.header.number)?;
        Some(Arc::new(AncestorBlock::new(&below.block, below.hash, below.total_difficulty)))
    }
}

impl ForkOrigin for LocalOrigin {
    fn block(&self) -> &ForkBlock {
        &self.block
    }

    fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state)
    }

    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        let read = self.chain.main_block(number);
        Ok(self.below(read.map_err(|error| AncestryError { number, reason: Box::new(error) })?))
    }

    fn ancestor_by_hash(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        let number = self.block.block.header.number;
        let read = self.chain.block(hash);
        Ok(self.below(read.map_err(|error| AncestryError { number, reason: Box::new(error) })?))
    }
}

impl StateReader for FundedState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        let value = self.state.get(key)?;
        let Some(balance) = self.balance(key) else { return Ok(value) };
        let account = value.map(|value| AccountState::decode(&value)).transpose();
        let account = account.map_err(|reason| StateError::Account { key: key.to_vec(), reason })?.unwrap_or_default();
        Ok(Some(AccountState { balance, ..account }.encode()))
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        match self.balance(key) {
            None => self.state.length_and_hash(key),
            Some(_) => Ok(self.get(key)?.map(|value| (value.len(), keccak256(&value)))),
        }
    }
}

impl FundedState {
    /// Returns the balance that replaces that of the account of a key.
    fn balance(&self, key: &[u8]) -> Option<I256> {
        let StateKey { address, part: KeyPart::Account } = StateKey::parse(key)? else { return None };
        self.balances.get(&Address::try_from(address).ok()?).copied()
    }
}
