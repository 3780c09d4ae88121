//! Mines blocks on a chain whose proof of work a node can find by itself.

pub(crate) mod block_builder;
pub(crate) mod block_settings;
pub(crate) mod block_template_options;
pub(crate) mod block_templates;
pub(crate) mod replaced_branch;
pub(crate) mod skipped_transaction;
pub(crate) mod snapshots;
pub(crate) mod submission;

use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_pow::{LookUpError, SolveError, fork_detection_data, solve};
use rhizome_primitives::{Address, B256, Header};

use crate::archive::record::BlockRecord;
use crate::error::{ChainError, ImportError};
use crate::import::head_writer::HeadWriter;
use crate::import::importer::Importer;
use crate::import::invalid_block::InvalidBlock;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::mining::block_builder::{BlockBuilder, BuildError, PendingBlock};
use crate::mining::block_templates::BlockTemplates;
use crate::mining::skipped_transaction::SkippedTransaction;

/// Bitcoin headers tried for one block: enough for every difficulty up to some hundred thousands.
const MAX_ATTEMPTS: u32 = 1 << 22;

/// A transaction that the pool admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubmittedTransaction {
    /// Its hash.
    pub hash: B256,
    /// Its sender.
    pub sender: Address,
    /// Whether it can be mined now. Otherwise it waits for a lower nonce.
    pub is_pending: bool,
}

/// Why no block was mined.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// No block could be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// No proof of work was found.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The importer has stopped.
    #[error(transparent)]
    Importer(ChainError),
    /// The ancestors for the fork detection data could not be read.
    #[error("the ancestors cannot be read: {0}")]
    Ancestors(#[source] LookUpError),
    /// The block could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The block breaks a rule.
    #[error("the mined block is invalid: {0}")]
    Invalid(#[source] InvalidBlock),
    /// The requested time is not after the head's.
    #[error("Invalid timestamp {timestamp}: it must be after the head's, {head}")]
    Time {
        /// Seconds since 1970.
        timestamp: u64,
        /// Of the head.
        head: u64,
    },
    /// The block is stored, but another block is the best.
    #[error("the mined block {hash} did not become the best one")]
    NotBest {
        /// Of the mined block.
        hash: B256,
    },
}

/// Time of a mined block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockTime {
    /// The time set for the next block, or the clock with the development offset.
    Clock,
    /// This time, in seconds since 1970. It must be after the head's.
    At(u64),
    /// This number of seconds after the head; 0 is [`BlockTime::Clock`].
    After(u64),
    /// [`BlockTime::Clock`], but at least this time.
    NotBefore(u64),
}

/// A block that was just mined.
#[derive(Debug, Clone)]
pub struct MinedBlock {
    /// The block.
    pub record: Arc<BlockRecord>,
    /// Pending transactions that the block skips, each with its reason.
    pub skipped: Vec<SkippedTransaction>,
}

/// Mines on the best block, and hands block templates to other miners.
pub(crate) struct Miner {
    pub(crate) importer: Arc<Importer>,
    pub(crate) builder: BlockBuilder,
    pub(crate) templates: Mutex<BlockTemplates>,
}

impl Miner {
    /// Builds a block on the best one from the pool, finds its proof of work and imports it. `now` is in seconds; the development
    /// offset is added to it and then ends.
    pub(crate) fn mine(self: &Arc<Self>, now: u64, time: BlockTime) -> Result<MinedBlock, MineError> {
        let miner = Arc::clone(self);
        self.importer.run(move |writer| miner.mine_with(writer, now, time)).map_err(MineError::Importer)?
    }

    /// [`Miner::mine`] as part of a command of the importer.
    pub(crate) fn mine_with(
        &self,
        writer: &mut HeadWriter,
        now: u64,
        time: BlockTime,
    ) -> Result<MinedBlock, MineError> {
        let BlockBuilder { publisher, settings, config, .. } = &self.builder;
        let head = publisher.head();
        let before = head.record.block.header.timestamp;
        let (timestamp, is_chosen) = match time {
            BlockTime::At(timestamp) if timestamp <= before => {
                return Err(MineError::Time { timestamp, head: before });
            }
            BlockTime::At(timestamp) => (timestamp, true),
            BlockTime::After(seconds) if seconds > 0 => (before.saturating_add(seconds), true),
            BlockTime::NotBefore(least) => (settings.timestamp_after(&head, now).max(least), false),
            BlockTime::Clock | BlockTime::After(_) => (settings.timestamp_after(&head, now), false),
        };
        let (built, _pool_version) = self.builder.build(&head, timestamp, true)?;
        let unfit = built.unfit();
        let PendingBlock { mut block, parent, skipped, state, .. } = built;
        // The import changes nodes in place that the state of the built block would share.
        drop(state);
        let fork_data = fork_data(&self.builder, &block.header, &parent)?;
        solve(&mut block.header, fork_data, &config.spec, MAX_ATTEMPTS)?;
        let hash = block.hash();
        let outcome = writer.import(PreparedBlock::new(block), BlockOrigin::Mined)?;
        publisher.pool().remove(&unfit);
        match outcome {
            ImportOutcome::ImportedBest => {
                settings.end_time_setting(timestamp, now, is_chosen);
                self.builder.reported.report(&skipped, publisher.listeners());
                Ok(MinedBlock { record: Arc::clone(&publisher.head().record), skipped })
            }
            ImportOutcome::Invalid(invalid) => Err(MineError::Invalid(invalid)),
            ImportOutcome::ImportedNotBest | ImportOutcome::Exists | ImportOutcome::NoParent => {
                Err(MineError::NotBest { hash })
            }
        }
    }
}

/// Returns the fork detection data that miners put behind the hash of a block. `None` if its height needs none.
fn fork_data(builder: &BlockBuilder, header: &Header, parent: &BlockRecord) -> Result<Option<[u8; 12]>, MineError> {
    if !header.expects_fork_detection_data() {
        return Ok(None);
    }
    let parent = Arc::new(parent.block.header.clone());
    fork_detection_data(&parent, builder.archive.as_ref()).map_err(MineError::Ancestors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, ChainConfig, Clock, DataDir};
    use rhizome_primitives::{Bytes, ChainSpec, Transaction, U256, UnsignedTransaction, keccak256};

    const NOW: u64 = 1_700_000_000;

    fn open() -> Arc<Chain> {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.clock = Clock::new(|| NOW);
        config.minimum_gas_price = U256::from(1);
        Chain::open(config).unwrap()
    }

    fn transfer(name: &str, nonce: u64, to: Address) -> Transaction {
        priced_transfer(name, nonce, to, 20)
    }

    fn priced_transfer(name: &str, nonce: u64, to: Address, gas_price: u64) -> Transaction {
        let unsigned = UnsignedTransaction {
            nonce: U256::from(nonce),
            gas_price: U256::from(gas_price),
            gas_limit: 30_000,
            to: Some(to),
            value: U256::from(3),
            data: Bytes::new(),
        };
        Transaction::sign(unsigned, 33, &keccak256(name)).unwrap()
    }

    #[test]
    fn empty_blocks_follow_each_other() {
        let chain = open();
        let first = chain.mine(NOW).unwrap();
        let second = chain.mine(NOW).unwrap();
        assert_eq!((first.number(), second.number()), (1, 2));
        assert_eq!(second.block.header.timestamp, NOW + 1, "after the parent");
        assert_eq!(chain.head().hash(), second.hash);
        assert_eq!(first.block.header.version, 2);
        assert_eq!(first.block.header.edges, Some(Vec::new()));
        assert_eq!(first.block.header.gas_limit.to_vec(), [0x00, 0x98, 0x70, 0x5b]);
        assert_eq!(first.block.header.min_gas_price(), U256::from(1));
        assert_eq!(first.block.header.uncle_count, 0);
    }

    #[test]
    fn the_development_offset_lasts_for_one_block() {
        let chain = open();
        chain.increase_time(500);
        assert_eq!(chain.pending_block(NOW).unwrap().block.header.timestamp, NOW + 500);
        assert_eq!(chain.mine(NOW).unwrap().block.header.timestamp, NOW + 500);
        assert_eq!(chain.mine(NOW + 501).unwrap().block.header.timestamp, NOW + 501);
    }

    #[test]
    fn independent_transfers_run_in_parallel_sublists() {
        let chain = open();
        let (left, right) = (Address::repeat_byte(1), Address::repeat_byte(2));
        // By price, so that they are placed in this order. The last one depends on both sides.
        let transfers = [
            ("cow", 0, left, 24),
            ("cow1", 0, right, 23),
            ("cow", 1, left, 22),
            ("cow2", 0, left, 21),
            ("cow1", 1, left, 20),
        ];
        for (name, nonce, to, price) in transfers {
            chain.submit(priced_transfer(name, nonce, to, price)).unwrap();
        }
        let record = chain.mine(NOW).unwrap();
        assert_eq!(record.block.header.edges, Some(vec![3, 4]));
        let receipts = chain.receipts(&record.hash).unwrap().unwrap();
        let cumulative: Vec<u64> = receipts.iter().map(|receipt| receipt.cumulative_gas).collect();
        assert_eq!(cumulative, [21_000, 42_000, 63_000, 21_000, 21_000, 21_000]);
        assert_eq!(record.block.header.gas_used, 105_000);
        assert_eq!(record.block.header.paid_fees, U256::from(21_000 * (24 + 23 + 22 + 21 + 20)));
    }

    #[test]
    fn the_pending_block_is_mined() {
        let chain = open();
        chain.submit(transfer("cow", 0, Address::repeat_byte(1))).unwrap();
        let pending = chain.pending_block(NOW).unwrap();
        assert!(Arc::ptr_eq(&pending, &chain.pending_block(NOW).unwrap()), "kept");
        let mined = chain.mine(NOW).unwrap();
        assert_eq!(pending.block.header.state_root, mined.block.header.state_root);
        assert_eq!(pending.block.transactions, mined.block.transactions);
        assert_eq!(pending.senders, mined.senders());
        assert_eq!(chain.pending_block(NOW).unwrap().block.transactions.len(), 1);
    }

    #[test]
    fn blocks_with_fork_detection_data_are_mined() {
        let chain = open();
        for number in 1..=460 {
            assert_eq!(chain.mine(NOW).unwrap().number(), number);
        }
    }

    #[test]
    fn a_block_takes_only_what_fits() {
        let chain = open();
        for name in ["cow", "cow1", "cow2"] {
            for nonce in 0..8 {
                let mut heavy = UnsignedTransaction {
                    nonce: U256::from(nonce),
                    gas_price: U256::from(20),
                    gas_limit: 3_000_000,
                    to: None,
                    value: U256::ZERO,
                    // An endless loop.
                    data: Bytes::from_static(&[0x5b, 0x60, 0x00, 0x56]),
                };
                heavy.gas_price += U256::from(nonce);
                drop(chain.submit(Transaction::sign(heavy, 33, &keccak256(name)).unwrap()));
            }
        }
        let record = chain.mine(NOW).unwrap();
        assert_eq!(record.block.transactions.len(), 3, "two in the sequential list, and REMASC");
        assert!(record.block.header.gas_used <= 6_800_001);
    }
}
