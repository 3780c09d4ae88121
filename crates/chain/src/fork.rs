//! A fork: a chain that begins at a block of another chain, which is elsewhere.
//!
//! The block is the lowest stored one. State, headers and uncles below it come through a port, when they are needed.

use std::fmt;
use std::sync::Arc;

use rhizome_evm::{AncestorBlock, AncestryError, BridgeAnswers};
use rhizome_primitives::{B256, Block, EMPTY_ROOT, U256};
use rhizome_storage::{StateTakeover, Store, TakenBlock};
use rhizome_trie::StateReader;

use crate::error::ChainError;

/// The other chain, up to the block that a fork begins at. Reads may take as long as a request to another machine.
pub trait ForkOrigin: Send + Sync {
    /// Returns the block that the fork begins at.
    fn block(&self) -> &ForkBlock;

    /// Returns the state after that block.
    fn state(&self) -> Arc<dyn StateReader>;

    /// Returns the block of the other chain with a lower number, with its uncles; `None` if there is none.
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError>;

    /// Like [`ForkOrigin::ancestor`], by hash. `None` also for a block that is not below the fork.
    fn ancestor_by_hash(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, AncestryError>;

    /// Returns the source of what the Bridge answers, if its storage cannot be read.
    fn bridge_answers(&self) -> Option<&dyn BridgeAnswers> {
        None
    }
}

/// The block that a fork begins at.
#[derive(Debug, Clone)]
pub struct ForkBlock {
    /// Header and uncles. Its transactions are in the other chain only.
    pub block: Block,
    /// Total difficulty of the other chain up to and including it.
    pub total_difficulty: U256,
    /// Hash of block 0 of the other chain.
    pub genesis: B256,
}

/// The origin of a fork, as part of the configuration.
#[derive(Clone)]
pub struct Fork(pub Arc<dyn ForkOrigin>);

impl fmt::Debug for Fork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fork({})", self.number())
    }
}

impl Fork {
    /// Returns the number of the block that the fork begins at.
    pub fn number(&self) -> u64 {
        self.0.block().block.header.number
    }

    /// Returns the hash of a block of the other chain below the fork; `None` if there is none.
    pub(crate) fn hash_below(&self, number: u64) -> Result<Option<B256>, ChainError> {
        if number == 0 {
            return Ok(Some(self.0.block().genesis));
        }
        Ok(self.0.ancestor(number)?.map(|ancestor| ancestor.hash))
    }

    /// Writes the block into a new database as its head. Its state has no changes yet.
    pub(crate) fn write_block(&self, store: &Store) -> Result<(), ChainError> {
        let ForkBlock { block, total_difficulty, .. } = self.0.block();
        let taken = TakenBlock {
            hash: block.hash(),
            number: block.header.number,
            raw: block.encode(),
            counted_difficulty: *total_difficulty,
            state_root: EMPTY_ROOT,
            senders: Vec::new(),
            transaction_hashes: Vec::new(),
        };
        StateTakeover::new(store).finish(&[taken])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, ChainConfig, Clock, DataDir, LocalOrigin};
    use rhizome_primitives::transaction::created_address;
    use rhizome_primitives::{
        Address, Bytes, ChainSpec, I256, REMASC, Receipt, Transaction, UnsignedTransaction, hex, keccak256,
    };
    use rhizome_storage::StorageError;
    use rhizome_trie::{AccountState, keys};
    use std::collections::BTreeMap;

    const NOW: u64 = 1_700_000_000;
    const FUNDED: Address = Address::repeat_byte(0xfd);
    /// Stores 7 in slot 1; each call destroys the contract.
    const MORTAL: &str = "60076001556133ff6000526002601ef3";

    fn config(spec: ChainSpec) -> ChainConfig {
        let mut config = ChainConfig::new(Arc::new(spec), DataDir::Temporary);
        config.clock = Clock::new(|| NOW);
        config.coinbase = Address::repeat_byte(0xcb);
        config.minimum_gas_price = U256::from(1);
        config.pool.has_rate_limiter = false;
        config
    }

    fn fork_of(chain: &Arc<Chain>) -> Arc<Chain> {
        let head = chain.head();
        let mut config = config(ChainSpec::regtest().forked_at(head.number()));
        let funded = BTreeMap::from([(FUNDED, I256::try_from(77).unwrap())]);
        let origin = LocalOrigin::new(Arc::clone(chain), &head.record, funded).unwrap();
        config.fork = Some(Fork(Arc::new(origin)));
        Chain::open(config).unwrap()
    }

    fn signed(name: &str, unsigned: UnsignedTransaction) -> Transaction {
        Transaction::sign(unsigned, 33, &keccak256(name)).unwrap()
    }

    fn unsigned(to: Option<Address>, data: &str) -> UnsignedTransaction {
        UnsignedTransaction {
            nonce: U256::ZERO,
            gas_price: U256::from(20),
            gas_limit: 200_000,
            to,
            value: U256::from(u64::from(to.is_some())),
            data: Bytes::from(hex::decode(data).unwrap()),
        }
    }

    fn address_of(name: &str) -> Address {
        signed(name, unsigned(None, "")).recover_sender().unwrap()
    }

    fn send(chain: &Chain, name: &str, to: Option<Address>, data: &str) {
        let nonce = account(chain, &address_of(name)).unwrap().nonce;
        chain.submit(signed(name, UnsignedTransaction { nonce, ..unsigned(to, data) })).unwrap();
    }

    fn account(chain: &Chain, address: &Address) -> Option<AccountState> {
        let value = chain.head().state().get(&keys::account_key(address.as_slice())).unwrap();
        value.map(|value| AccountState::decode(&value).unwrap())
    }

    fn slot(state: &dyn StateReader, contract: &Address) -> Option<Bytes> {
        state.get(&keys::storage_key(contract.as_slice(), &B256::with_last_byte(1))).unwrap()
    }

    /// A chain with a contract at the returned address, and fees in each block.
    fn other() -> (Arc<Chain>, Address) {
        other_in(DataDir::Temporary)
    }

    fn other_in(data_dir: DataDir) -> (Arc<Chain>, Address) {
        let chain = Chain::open(ChainConfig { data_dir, ..config(ChainSpec::regtest()) }).unwrap();
        send(&chain, "cow", None, MORTAL);
        let created = chain.mine(NOW).unwrap();
        let contract = chain.receipts(&created.hash).unwrap().unwrap();
        assert!(contract[0].success);
        for number in 0..20 {
            send(&chain, ["cow1", "cow2"][number % 2], Some(Address::repeat_byte(1)), "");
            chain.mine(NOW).unwrap();
        }
        (chain, created_address(&address_of("cow"), &U256::ZERO))
    }

    #[test]
    fn blocks_of_a_fork_are_those_of_the_other_chain() {
        let (other, _) = other();
        let fork = fork_of(&other);
        assert_eq!((fork.head().hash(), fork.first_block()), (other.head().hash(), 21));
        assert_eq!(fork.main_hash(0).unwrap(), other.main_hash(0).unwrap());
        // REMASC pays the fees of blocks that the fork does not have.
        for number in 0..40 {
            for chain in [&other, &fork] {
                send(chain, ["cow1", "cow2"][number % 2], Some(Address::repeat_byte(2)), "");
            }
            let (expected, found) = (other.mine(NOW).unwrap(), fork.mine(NOW).unwrap());
            // The logs of REMASC name blocks, whose hashes differ.
            let results = |chain: &Chain, hash| {
                let receipts = chain.receipts(hash).unwrap().unwrap();
                let result = |one: &Receipt| {
                    let topics: Vec<_> = one.logs.iter().map(|log| (log.address, log.topics.clone())).collect();
                    (one.success, one.gas_used, one.cumulative_gas, topics)
                };
                receipts.iter().map(result).collect::<Vec<_>>()
            };
            assert_eq!(results(&fork, &found.hash), results(&other, &expected.hash));
            assert_eq!(found.block.header.paid_fees, expected.block.header.paid_fees);
            assert_eq!(fork.ancestry(&found).hash(3).unwrap(), other.main_hash(3).unwrap());
        }
        for address in [REMASC, Address::repeat_byte(0xcb), Address::repeat_byte(2)] {
            assert_eq!(account(&fork, &address), account(&other, &address));
            assert!(account(&fork, &address).is_some());
        }
        let sender = keys::account_key(keys::REMASC_SENDER);
        assert_eq!(fork.head().state().get(&sender).unwrap(), other.head().state().get(&sender).unwrap());
        // The best blocks go back to the first one, whose state is that of the other chain.
        let before = account(&fork, &Address::repeat_byte(2));
        fork.reset().unwrap();
        assert_eq!((fork.head().number(), account(&fork, &Address::repeat_byte(2))), (21, None));
        assert!(before.is_some());
        assert!(fork.rewind(20).is_err());
    }

    #[test]
    fn a_directory_is_forked_without_a_change_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let (other, contract) = other_in(DataDir::Path(dir.path().into()));
        let (middle, last) = (other.main_block(11).unwrap().unwrap(), other.head().number());
        let expected = account(&other, &address_of("cow1"));
        let open = || {
            let mut config = config(ChainSpec::regtest());
            config.data_dir = DataDir::ReadOnly(dir.path().into());
            Chain::open(config)
        };
        assert!(matches!(open(), Err(ChainError::Storage(StorageError::Locked { .. }))));
        drop(other);
        let chain = open().unwrap();
        let fork = fork_of(&chain);
        assert_eq!((fork.head().number(), account(&fork, &address_of("cow1"))), (last, expected));
        assert_eq!(account(&fork, &FUNDED).unwrap().balance, I256::try_from(77).unwrap());
        fork.mine(NOW).unwrap();
        // An earlier block has its own state.
        let record = chain.main_block(11).unwrap().unwrap();
        let origin = LocalOrigin::new(Arc::clone(&chain), &record, BTreeMap::new()).unwrap();
        assert_eq!((record.hash, slot(&*origin.state(), &contract).unwrap().to_vec()), (middle.hash, vec![7]));
        assert!(origin.ancestor(11).unwrap().is_none() && origin.ancestor(10).unwrap().is_some());
        drop((fork, origin, chain));
        assert_eq!(
            Chain::open(ChainConfig { data_dir: DataDir::Path(dir.path().into()), ..config(ChainSpec::regtest()) })
                .unwrap()
                .head()
                .number(),
            last
        );
    }

    #[test]
    fn changes_by_hand_are_undone_to_the_other_chain() {
        let (other, contract) = other();
        let fork = fork_of(&other);
        let root = fork.head().record.state_root;
        let rich = address_of("cow1");
        let before = account(&fork, &rich);
        let id = fork.snapshot().unwrap();
        fork.change_state(move |state| {
            state.set_balance(rich, I256::ONE)?;
            state.set_storage_word(contract, U256::ONE, U256::ZERO)
        })
        .unwrap();
        assert_ne!(account(&fork, &rich), before);
        assert_eq!(slot(&*fork.head().state(), &contract), None);
        fork.mine(NOW).unwrap();
        fork.revert(id).unwrap();
        assert_eq!((account(&fork, &rich), fork.head().record.state_root), (before, root));
        assert_eq!(slot(&*fork.head().state(), &contract).unwrap().to_vec(), [7]);
        fork.mine(NOW).unwrap();
        assert_eq!(slot(&*fork.head().state(), &contract).unwrap().to_vec(), [7]);
    }

    #[test]
    fn a_destroyed_contract_hides_its_slots_elsewhere() {
        let (other, contract) = other();
        let fork = fork_of(&other);
        let first = Arc::clone(&fork.head().record);
        assert_eq!(slot(&*fork.head().state(), &contract).unwrap().to_vec(), [7]);
        let id = fork.snapshot().unwrap();
        send(&fork, "cow1", Some(contract), "00");
        fork.mine(NOW).unwrap();
        let code = |state: &dyn StateReader| state.get(&keys::code_key(contract.as_slice())).unwrap();
        assert_eq!((account(&fork, &contract), slot(&*fork.head().state(), &contract)), (None, None));
        assert_eq!(code(&*fork.head().state()), None);
        // A contract at the same address begins without slots, and the earlier state keeps its own.
        fork.change_state(move |state| {
            assert_eq!(state.storage_word(contract, &U256::ONE)?, None);
            state.set_storage_word(contract, U256::ONE, U256::from(9))
        })
        .unwrap();
        fork.mine(NOW).unwrap();
        assert_eq!(slot(&*fork.head().state(), &contract).unwrap().to_vec(), [9]);
        let earlier = fork.state_at(&first).unwrap();
        assert_eq!((slot(&*earlier, &contract).unwrap().to_vec(), code(&*earlier).unwrap().len()), (vec![7], 2));
        fork.revert(id).unwrap();
        assert_eq!(slot(&*fork.head().state(), &contract).unwrap().to_vec(), [7]);
        send(&fork, "cow1", Some(contract), "00");
        fork.mine(NOW).unwrap();
        assert_eq!(slot(&*fork.head().state(), &contract), None);
    }
}
