//! Blocks on top of the best one: which transactions go in, what the header says. Finding the proof of work is the
//! business of `mining`.

mod layout;
pub(crate) mod skipped;
mod sublists;
pub(crate) mod targets;
mod uncles;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use skipped::{SkippedTransaction, WaitReason};

use layout::{BlockLayout, Placement};
use parking_lot::Mutex;
use rhizome_evm::{BlockEnv, BlockExecutor, ExecError};
use rhizome_pow::{LookUpError, difficulty, header_rules};
use rhizome_primitives::{
    Address, B256, Block, Bytes, Header, Receipt, Rule, Transaction, largest_transaction_gas, rlp, uncles_hash,
};
use rhizome_trie::{StateReader, Trie, list_root, orchid_state_root};

use crate::import::import_state::ImportState;
use crate::import::prepared_block::is_orchid;
use crate::txpool::{ByPrice, PooledTransaction};
use crate::{BlockRecord, Chain, ChainError, Head};

/// No transaction costs less gas.
const LEAST_GAS: u64 = 21_000;

/// Attempts at a draft while the chain goes back, a millisecond apart.
const MOST_ATTEMPTS: usize = 2_000;

/// A block without proof of work, and what its execution gave.
pub struct PendingBlock {
    /// The block. It has no mining elements, so its hash is not the one that it will have.
    pub block: Block,
    /// One for each transaction.
    pub receipts: Vec<Receipt>,
    /// Sender of each transaction, zero for REMASC.
    pub senders: Vec<Address>,
    /// The block on which it stands.
    pub parent: Arc<BlockRecord>,
    /// The state after it.
    pub state: Arc<dyn StateReader>,
    /// What its transactions see of it.
    pub env: BlockEnv,
    /// Pending transactions that were looked at and do not go in, each with its reason.
    pub skipped: Vec<SkippedTransaction>,
}

impl PendingBlock {
    /// Transactions of the pool that no block can hold.
    pub(crate) fn unfit(&self) -> Vec<B256> {
        self.skipped.iter().filter(|left| left.reason.is_final()).map(|left| left.hash).collect()
    }
}

/// Why no block could be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The node itself failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Execution failed for a reason that no transaction is to blame for.
    #[error("the block cannot be executed: {0}")]
    Execution(#[from] ExecError),
    /// The ancestors against which uncles are judged could not be read.
    #[error("the ancestors cannot be read: {0}")]
    Ancestors(#[source] LookUpError),
}

/// The draft made last, so that readers of the pending block share it.
#[derive(Default)]
pub(crate) struct PendingBlockCache {
    last: Mutex<Option<CachedPendingBlock>>,
    /// Counts what outdates drafts besides the head, the pool and the time.
    version: AtomicU64,
}

impl PendingBlockCache {
    /// The last draft no longer says what would be mined: there is another possible uncle, or a developer has chosen
    /// something for the next block. Never waits for a draft that is being made.
    pub(crate) fn outdate(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }
}

struct CachedPendingBlock {
    /// Generation of the head: another one with each block and with each change of the state by hand.
    generation: u64,
    version: u64,
    pool_version: u64,
    timestamp: u64,
    block: Arc<PendingBlock>,
}

/// What goes into a block.
struct BlockContent {
    transactions: Vec<Transaction>,
    senders: Vec<Address>,
    skipped: Vec<SkippedTransaction>,
}

impl Chain {
    /// The block that would be mined now: on the best block, from the pool. Kept until the best block, the pool or its
    /// time changes. `now` is in seconds.
    pub fn pending_block(&self, now: u64) -> Result<Arc<PendingBlock>, BuildError> {
        // Held while building: other readers wait for the same block.
        let mut kept = self.drafts.last.lock();
        let mut attempts = 0;
        loop {
            let head = self.head();
            let generation = head.generation;
            let timestamp = self.next_timestamp(&head, now);
            let version = self.drafts.version.load(Ordering::Acquire);
            if let Some(draft) = kept.as_ref().filter(|draft| {
                draft.generation == generation
                    && draft.version == version
                    && draft.timestamp == timestamp
                    && draft.pool_version == self.pool().version()
            }) {
                return Ok(Arc::clone(&draft.block));
            }
            match self.build(&head, timestamp, None) {
                Ok((block, pool_version)) => {
                    let block = Arc::new(block);
                    let shared = Arc::clone(&block);
                    *kept = Some(CachedPendingBlock { generation, version, pool_version, timestamp, block });
                    return Ok(shared);
                }
                // Blocks below are just being deleted; the head that is left is published next. The writer is not waited
                // for: it may wait for works, whose lock the caller may hold.
                Err(_gone) if !head.is_current() && attempts < MOST_ATTEMPTS => {
                    attempts += 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Time of the next block: what was set for it, what follows from a fixed interval, or the clock with the development
    /// offset, but after the parent. A fixed clock stands at the time of the parent.
    pub(crate) fn next_timestamp(&self, head: &Head, now: u64) -> u64 {
        let parent = head.record.block.header.timestamp;
        if let Some(timestamp) = self.development.next_timestamp() {
            return timestamp.max(parent.saturating_add(1));
        }
        if let Some(interval) = self.block_interval() {
            return parent.saturating_add(interval);
        }
        if self.config().has_fixed_clock {
            return parent.saturating_add(self.time_offset());
        }
        self.development.clock(now).max(parent.saturating_add(1))
    }

    /// Builds a block on `head` from the pool. Also says which version of the pool it is of. `writer` is given where the head
    /// cannot move meanwhile.
    pub(crate) fn build(
        &self,
        head: &Head,
        timestamp: u64,
        writer: Option<&ImportState>,
    ) -> Result<(PendingBlock, u64), BuildError> {
        let (order, pool_version) = self.pool().by_price();
        let (mut header, uncles) = self.template(&head.record, timestamp)?;
        let env = BlockEnv::from_header(&header);
        let ancestry = self.ancestry(&head.record);
        let mut executor = BlockExecutor::new(self.spec(), env.clone(), head.state(), &ancestry)?;
        let mut layout = BlockLayout::of(self.spec(), &header);
        let mut content = self.fill(&mut executor, &mut layout, order, &header)?;
        layout.execute_remasc(&mut executor, &Transaction::remasc(header.number))?;
        content.transactions.push(Transaction::remasc(header.number));
        content.senders.push(Address::ZERO);
        let mut outcome = executor.finish()?;
        header.edges = header.edges.map(|_none_yet| layout.edges());
        layout.arrange(&mut content.transactions, &mut content.senders, &mut outcome.receipts);
        let mut trie = match writer {
            Some(writer) => writer.trie().clone(),
            None => self.loaded_trie(head)?,
        };
        trie.apply(&outcome.delta).map_err(ChainError::from)?;
        let orchid = is_orchid(self.spec(), header.number);
        let receipts: Vec<Vec<u8>> = outcome.receipts.iter().map(Receipt::encode).collect();
        let root = |items: &mut dyn Iterator<Item = &[u8]>| list_root(items, orchid).map_err(ChainError::from);
        let has_old_root = self.config().old_state_roots.covers(self.spec(), header.number);
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
            state: Arc::new(trie),
            env,
            skipped: content.skipped,
        };
        Ok((built, pool_version))
    }

    /// The header before execution, and the uncles that it names.
    fn template(&self, parent: &BlockRecord, timestamp: u64) -> Result<(Header, Vec<Header>), BuildError> {
        let (spec, config) = (self.spec(), self.config());
        let before = &parent.block.header;
        let mut header = Header::new(before.number.saturating_add(1), spec);
        header.parent_hash = parent.hash.into();
        header.coinbase = Some(self.coinbase());
        header.timestamp = timestamp;
        header.gas_limit = targets::gas_limit(before.gas_limit_value(), self.target_gas_limit(), spec);
        header.minimum_gas_price = Some(targets::minimum_gas_price(before, self.minimum_gas_price()));
        header.extra_data = if config.extra_data.is_empty() { extra_data() } else { config.extra_data.clone() };
        let uncles = uncles::find(self, &header)?;
        header.uncles_hash = uncles_hash(&uncles).into();
        // At most ten.
        header.uncle_count = uncles.len() as u32;
        let (number, count) = (header.number, header.uncle_count);
        header.difficulty =
            Some(difficulty(spec, number, timestamp, count, before.timestamp, before.difficulty_value()));
        Ok((header, uncles))
    }

    /// Executes transactions of the pool as long as one may fit.
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
            content.skipped.push(SkippedTransaction::new(&candidate, reason));
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

    /// Why a transaction finds no room: the block has too little gas for it, or others were there before.
    fn room_fault(&self, candidate: &PooledTransaction, header: &Header) -> WaitReason {
        let block_limit = header.gas_limit_value();
        let limit = largest_transaction_gas(self.spec(), header.number, block_limit);
        let gas = candidate.transaction.gas_limit();
        if gas > limit { WaitReason::BlockGas { gas, limit, block_limit } } else { WaitReason::NoRoom }
    }

    /// The trie of the head, with the nodes that the writer has loaded, unless it is busy.
    fn loaded_trie(&self, head: &Head) -> Result<Trie, ChainError> {
        let writer = self.writer.try_lock().filter(|_writer| self.head().generation == head.generation);
        match writer {
            Some(writer) => Ok(writer.trie().clone()),
            None => self.state_trie(&head.record),
        }
    }
}

/// What blocks of this program say about who made them: a list of 1 and a name.
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
    use crate::{ChainConfig, Clock, DataDir, ImportOutcome, PoolOptions};

    const BLOCKS: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/rpc/chain-a.blocks.gz"));

    fn blocks(spec: &ChainSpec) -> Vec<Block> {
        let mut text = String::new();
        GzDecoder::new(BLOCKS).read_to_string(&mut text).unwrap();
        let encoded = text.lines().filter_map(|line| line.split(',').nth(3));
        encoded.map(|raw| Block::decode(&hex::decode(raw).unwrap(), spec).unwrap()).collect()
    }

    /// The reference built these blocks from its pool; from the same transactions the same headers come out.
    #[test]
    fn blocks_are_those_that_the_reference_builds() {
        let spec = Arc::new(ChainSpec::regtest());
        let blocks = blocks(&spec);
        // In block 5 senders of equal price stand in another order, which nothing prescribes.
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
            let draft = chain.pending_block(block.header.timestamp).unwrap();
            assert_eq!(draft.block.header.mining_base_hash(), block.header.mining_base_hash(), "block {number}");
        }
    }
}
