//! Builds blocks on the best block: selects transactions of the pool, executes them and fills in the header. The proof of work is
//! found elsewhere (`mining`).

mod layout;
pub(crate) mod skipped;
mod sublists;
pub(crate) mod targets;
mod uncles;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use layout::{BlockLayout, Placement};
use parking_lot::Mutex;
use rhizome_evm::{BlockEnv, BlockExecutor, ExecError};
use rhizome_pow::{LookUpError, difficulty, header_rules};
use rhizome_primitives::{
    Address, B256, Block, Bytes, ChainSpec, Header, Receipt, Rule, Transaction, largest_transaction_gas, rlp,
    uncles_hash,
};
use rhizome_trie::{ChangedState, StateReader, Trie, list_root, orchid_state_root};
use skipped::ReportedReasons;

use crate::archive::Archive;
use crate::archive::ancestry::ChainAncestry;
use crate::archive::record::BlockRecord;
use crate::config::ChainConfig;
use crate::error::ChainError;
use crate::head::Head;
use crate::head::publisher::HeadPublisher;
use crate::import::import_state::ImportState;
use crate::import::prepared_block::is_orchid;
use crate::mining::block_settings::BlockSettings;
use crate::mining::skipped_transaction::{SkippedTransaction, WaitReason};
use crate::txpool::{ByPrice, PooledTransaction};

/// No transaction costs less gas.
const LEAST_GAS: u64 = 21_000;

/// Attempts at a pending block while the chain goes back, a millisecond apart.
const MAX_ATTEMPTS: usize = 2_000;

/// A block without proof of work, and the result of its execution.
pub struct PendingBlock {
    /// The block. It has no mining elements yet, so its hash is not final.
    pub block: Block,
    /// One for each transaction.
    pub receipts: Vec<Receipt>,
    /// Sender of each transaction, zero for REMASC.
    pub senders: Vec<Address>,
    /// Its parent.
    pub parent: Arc<BlockRecord>,
    /// The state after the block.
    pub state: Arc<dyn StateReader>,
    /// Environment of its transactions.
    pub env: BlockEnv,
    /// Pending transactions that the block skips, each with its reason.
    pub skipped: Vec<SkippedTransaction>,
}

impl PendingBlock {
    /// Returns the transactions of the pool that no block can contain.
    pub(crate) fn unfit(&self) -> Vec<B256> {
        self.skipped.iter().filter(|left| left.reason.is_final()).map(|left| left.hash).collect()
    }
}

/// Failure to build a block.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The node failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The execution failed, but not because of a transaction.
    #[error("the block cannot be executed: {0}")]
    Execution(#[from] ExecError),
    /// The ancestors against which uncles are judged could not be read.
    #[error("the ancestors cannot be read: {0}")]
    Ancestors(#[source] LookUpError),
}

/// Builds blocks, and keeps the last pending block for its readers.
pub(crate) struct BlockBuilder {
    pub(crate) config: Arc<ChainConfig>,
    pub(crate) archive: Arc<Archive>,
    pub(crate) publisher: Arc<HeadPublisher>,
    pub(crate) settings: Arc<BlockSettings>,
    /// State of the importer: its trie has the nodes of the head loaded.
    pub(crate) state: Arc<Mutex<ImportState>>,
    /// Locked while a block is built: other readers wait for the same block.
    pub(crate) last: Mutex<Option<CachedPendingBlock>>,
    pub(crate) reported: ReportedReasons,
}

/// A pending block, valid while everything else here is the same.
pub(crate) struct CachedPendingBlock {
    basis: PendingBasis,
    block: Arc<PendingBlock>,
}

/// Versions of everything that a pending block depends on.
#[derive(PartialEq, Eq)]
struct PendingBasis {
    /// Changes with each head and with each replacement of its state.
    generation: u64,
    side_version: u64,
    settings_version: u64,
    pool_version: u64,
    timestamp: u64,
}

/// Body of a block under construction.
struct BlockContent {
    transactions: Vec<Transaction>,
    senders: Vec<Address>,
    skipped: Vec<SkippedTransaction>,
}

impl BlockBuilder {
    /// Returns the block that would be mined now: on the best block, from the pool. `now` is in seconds. Cached until the best
    /// block, the pool, the settings or the time of the block change.
    pub(crate) fn pending_block(&self, now: u64) -> Result<Arc<PendingBlock>, BuildError> {
        let mut last = self.last.lock();
        let mut attempts = 0;
        loop {
            let head = self.publisher.head();
            let mut basis = PendingBasis {
                generation: head.generation,
                side_version: self.publisher.side_version(),
                settings_version: self.settings.version(),
                pool_version: self.publisher.pool().version(),
                timestamp: self.settings.timestamp_after(&head, now),
            };
            if let Some(cached) = last.as_ref().filter(|cached| cached.basis == basis) {
                return Ok(Arc::clone(&cached.block));
            }
            match self.build(&head, basis.timestamp, false) {
                Ok((block, pool_version)) => {
                    let block = Arc::new(block);
                    let shared = Arc::clone(&block);
                    basis.pool_version = pool_version;
                    *last = Some(CachedPendingBlock { basis, block });
                    return Ok(shared);
                }
                // The blocks below are being deleted, and the remaining head is published next. The importer is not waited for:
                // it may wait for block templates, whose lock the caller may hold.
                Err(_deleted) if !head.is_current() && attempts < MAX_ATTEMPTS => {
                    attempts += 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Builds a block on `head` from the pool. Returns the version of the pool with it. `is_importer`: the importer calls, so the
    /// head cannot move meanwhile.
    pub(crate) fn build(
        &self,
        head: &Head,
        timestamp: u64,
        is_importer: bool,
    ) -> Result<(PendingBlock, u64), BuildError> {
        let (order, pool_version) = self.publisher.pool().by_price();
        let (mut header, uncles) = self.template(&head.record, timestamp)?;
        let env = BlockEnv::from_header(&header);
        let ancestry = ChainAncestry::new(Arc::clone(&self.archive), head.number(), head.hash());
        let mut executor = BlockExecutor::new(self.spec(), env.clone(), head.state(), &ancestry)?;
        let mut layout = BlockLayout::of(self.spec(), &header);
        let mut content = self.fill(&mut executor, &mut layout, order, &header)?;
        layout.execute_remasc(&mut executor, &Transaction::remasc(header.number))?;
        content.transactions.push(Transaction::remasc(header.number));
        content.senders.push(Address::ZERO);
        let mut outcome = executor.finish()?;
        header.edges = header.edges.map(|_none_yet| layout.edges());
        layout.arrange(&mut content.transactions, &mut content.senders, &mut outcome.receipts);
        self.archive.store.base().hide_deleted(&mut outcome.delta, &*head.state()).map_err(ChainError::from)?;
        let mut trie = self.loaded_trie(head, is_importer)?;
        trie.apply(&outcome.delta).map_err(ChainError::from)?;
        let orchid = is_orchid(self.spec(), header.number);
        let receipts: Vec<Vec<u8>> = outcome.receipts.iter().map(Receipt::encode).collect();
        let root = |items: &mut dyn Iterator<Item = &[u8]>| list_root(items, orchid).map_err(ChainError::from);
        let has_old_root = self.config.old_state_roots.covers(self.spec(), header.number);
        let state_root = if has_old_root { orchid_state_root(&trie) } else { Ok(trie.root_hash()) };
        header.state_root = state_root.map_err(ChainError::from)?.into();
        header.receipts_root = root(&mut receipts.iter().map(Vec::as_slice))?.into();
        let transactions = &content.transactions;
        header.transactions_root =
            root(&mut transactions.iter().map(|transaction| transaction.encoded().as_ref()))?.into();
        header.logs_bloom = Bytes::copy_from_slice(outcome.logs_bloom.as_bytes());
        header.gas_used = outcome.gas_used;
        header.paid_fees = outcome.paid_fees;
        let built = PendingBlock {
            block: Block { header, transactions: content.transactions, uncles },
            receipts: outcome.receipts,
            senders: content.senders,
            parent: Arc::clone(&head.record),
            state: Arc::new(ChangedState::new(head.state(), outcome.delta)),
            env,
            skipped: content.skipped,
        };
        Ok((built, pool_version))
    }

    /// Returns the header before execution, and the uncles that it names.
    fn template(&self, parent: &BlockRecord, timestamp: u64) -> Result<(Header, Vec<Header>), BuildError> {
        let (spec, config) = (self.spec(), &self.config);
        let before = &parent.block.header;
        let mut header = Header::new(before.number.saturating_add(1), spec);
        header.parent_hash = parent.hash.into();
        header.coinbase = Some(self.settings.coinbase());
        header.timestamp = timestamp;
        header.gas_limit = targets::gas_limit(before.gas_limit_value(), self.settings.target_gas_limit(), spec);
        header.minimum_gas_price = Some(targets::minimum_gas_price(before, self.settings.minimum_gas_price()));
        header.extra_data = if config.extra_data.is_empty() { extra_data() } else { config.extra_data.clone() };
        let uncles = uncles::find(&self.archive, &header, config.clock.now())?;
        header.uncles_hash = uncles_hash(&uncles).into();
        // At most ten.
        header.uncle_count = uncles.len() as u32;
        let (number, count) = (header.number, header.uncle_count);
        header.difficulty =
            Some(difficulty(spec, number, timestamp, count, before.timestamp, before.difficulty_value()));
        Ok((header, uncles))
    }

    /// Executes transactions of the pool while another transaction may fit.
    fn fill(
        &self,
        executor: &mut BlockExecutor<'_>,
        layout: &mut BlockLayout,
        mut order: ByPrice,
        header: &Header,
    ) -> Result<BlockContent, ExecError> {
        let mut content = BlockContent { transactions: Vec::new(), senders: Vec::new(), skipped: Vec::new() };
        while layout.gas_left() >= LEAST_GAS {
            let Some(candidate) = order.take() else { break };
            let reason = match self.price_fault(&candidate, header) {
                Some(fault) => fault,
                None => match layout.execute(executor, &candidate) {
                    Ok(Placement::Placed) => {
                        content.transactions.push(candidate.transaction.clone());
                        content.senders.push(candidate.sender);
                        continue;
                    }
                    Ok(Placement::NoRoom) => self.room_fault(&candidate, header),
                    Err(error) => WaitReason::of_refusal(error)?,
                },
            };
            order.pass_over();
            let PooledTransaction { hash, sender, nonce, .. } = *candidate;
            content.skipped.push(SkippedTransaction { hash, sender, nonce, reason });
        }
        Ok(content)
    }

    fn price_fault(&self, candidate: &PooledTransaction, header: &Header) -> Option<WaitReason> {
        if !candidate.transaction.fields_valid() {
            return Some(WaitReason::Fields);
        }
        let (price, minimum) = (candidate.transaction.gas_price(), header.min_gas_price());
        let is_capped = self.spec().rules(header.number).is_active(Rule::Rskip252);
        let is_fitting = price >= minimum && (!is_capped || header_rules::gas_price_is_below_cap(minimum, price));
        (!is_fitting).then_some(WaitReason::Price { price, minimum })
    }

    /// Returns why a transaction has no room: the block has too little gas for it, or other transactions came first.
    fn room_fault(&self, candidate: &PooledTransaction, header: &Header) -> WaitReason {
        let block_limit = header.gas_limit_value();
        let limit = largest_transaction_gas(self.spec(), header.number, block_limit);
        let gas = candidate.transaction.gas_limit();
        if gas > limit { WaitReason::BlockGas { gas, limit, block_limit } } else { WaitReason::NoRoom }
    }

    fn spec(&self) -> &ChainSpec {
        &self.config.spec
    }

    /// Returns the trie of the head, with loaded nodes if the importer is not busy.
    fn loaded_trie(&self, head: &Head, is_importer: bool) -> Result<Trie, ChainError> {
        let root = head.record.state_root;
        let state = if is_importer { Some(self.state.lock()) } else { self.state.try_lock() };
        match state.filter(|state| !state.is_lent() && state.trie().root_hash() == root) {
            Some(state) => Ok(state.trie().clone()),
            None => head.snapshot().trie_after(&self.archive, &head.record),
        }
    }
}

/// Returns the extra data of blocks without configured ones: a list of 1 and the name of this program.
fn extra_data() -> Bytes {
    let mut elements = Vec::new();
    rlp::put_u64(&mut elements, 1);
    rlp::put_bytes(&mut elements, concat!("RHIZOME-", env!("CARGO_PKG_VERSION")).as_bytes());
    rlp::list(&elements).into()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use rhizome_primitives::{ChainSpec, hex};

    use super::*;
    use crate::{Chain, ChainConfig, Clock, DataDir, ImportOutcome, PoolOptions};

    const BLOCKS: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/rpc/chain-a.blocks.gz"));

    fn blocks(spec: &ChainSpec) -> Vec<Block> {
        let mut text = String::new();
        GzDecoder::new(BLOCKS).read_to_string(&mut text).unwrap();
        let encoded = text.lines().filter_map(|line| line.split(',').nth(3));
        encoded.map(|raw| Block::decode(&hex::decode(raw).unwrap(), spec).unwrap()).collect()
    }

    /// The reference built these blocks from its pool. The same transactions give the same headers.
    #[test]
    fn builds_the_same_blocks_as_the_reference() {
        let spec = Arc::new(ChainSpec::regtest());
        let blocks = blocks(&spec);
        // In block 5 senders of equal price have another order, which no rule prescribes.
        for number in [1, 2, 3, 4, 6, 7, 8, 9] {
            let block = &blocks[number];
            let mut config = ChainConfig::new(Arc::clone(&spec), DataDir::Temporary);
            config.clock = Clock::new(|| 0);
            config.coinbase = block.header.coinbase_address();
            config.extra_data = block.header.extra_data.clone();
            config.pool = PoolOptions { has_rate_limiter: false, ..PoolOptions::default() };
            let chain = Chain::open(config).unwrap();
            for earlier in &blocks[1..number] {
                assert!(matches!(chain.import_block(earlier.clone()).unwrap(), ImportOutcome::ImportedBest));
            }
            for transaction in &block.transactions[..block.transactions.len() - 1] {
                chain.submit(transaction.clone()).unwrap();
            }
            let pending = chain.pending_block(block.header.timestamp).unwrap();
            assert_eq!(pending.block.header.mining_base_hash(), block.header.mining_base_hash(), "block {number}");
        }
    }
}
