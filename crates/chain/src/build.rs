//! Blocks on top of the best one: which transactions go in, what the header says. Finding the proof of work is the
//! business of `mining`.

mod layout;
mod sublists;
mod targets;
mod uncles;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use layout::{Layout, Placement};
use parking_lot::Mutex;
use rhizome_evm::{BlockEnv, BlockExecutor, ExecError, TransactionRefusal};
use rhizome_pow::{LookUpError, difficulty, header_rules};
use rhizome_primitives::{Address, B256, Block, Bytes, Header, Receipt, Rule, Transaction, rlp, uncles_hash};
use rhizome_trie::{StateReader, Trie, list_root, orchid_state_root};

use crate::prepare::is_orchid;
use crate::txpool::{ByPrice, Pooled};
use crate::{BlockRecord, Chain, ChainError, Head};

/// No transaction costs less gas.
const LEAST_GAS: u64 = 21_000;

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
    /// Transactions of the pool that no block can hold.
    pub(crate) unfit: Vec<B256>,
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
pub(crate) struct Drafts {
    last: Mutex<Option<Draft>>,
    side_blocks: AtomicU64,
}

impl Drafts {
    /// Another block beside the best chain: a possible uncle. Never waits for a draft that is being made.
    pub(crate) fn outdate(&self) {
        self.side_blocks.fetch_add(1, Ordering::AcqRel);
    }
}

struct Draft {
    parent: B256,
    side_blocks: u64,
    pool_version: u64,
    timestamp: u64,
    block: Arc<PendingBlock>,
}

/// What goes into a block.
struct Content {
    transactions: Vec<Transaction>,
    senders: Vec<Address>,
    unfit: Vec<B256>,
}

impl Chain {
    /// The block that would be mined now: on the best block, from the pool. Kept until the best block, the pool or its
    /// time changes. `now` is in seconds.
    pub fn pending_block(&self, now: u64) -> Result<Arc<PendingBlock>, BuildError> {
        let head = self.head();
        let timestamp = self.next_timestamp(&head, now);
        // Held while building: who asks meanwhile wants the same block.
        let mut kept = self.drafts.last.lock();
        let side_blocks = self.drafts.side_blocks.load(Ordering::Acquire);
        if let Some(draft) = kept.as_ref().filter(|draft| {
            draft.parent == head.hash()
                && draft.side_blocks == side_blocks
                && draft.timestamp == timestamp
                && draft.pool_version == self.pool().version()
        }) {
            return Ok(Arc::clone(&draft.block));
        }
        let (block, pool_version) = self.build(&head, timestamp)?;
        let block = Arc::new(block);
        *kept = Some(Draft { parent: head.hash(), side_blocks, pool_version, timestamp, block: Arc::clone(&block) });
        Ok(block)
    }

    /// Time of the next block: what was set for it, or the clock with the development offset, but after the parent. A fixed
    /// clock stands at the time of the parent.
    pub(crate) fn next_timestamp(&self, head: &Head, now: u64) -> u64 {
        let parent = head.record.block.header.timestamp;
        if let Some(timestamp) = self.development.next_timestamp() {
            return timestamp.max(parent.saturating_add(1));
        }
        if self.config().has_fixed_clock {
            return parent.saturating_add(self.time_offset());
        }
        self.development.clock(now).max(parent.saturating_add(1))
    }

    /// Builds a block on `head` from the pool. Also says which version of the pool it is of.
    pub(crate) fn build(&self, head: &Head, timestamp: u64) -> Result<(PendingBlock, u64), BuildError> {
        let (order, pool_version) = self.pool().by_price();
        let (mut header, uncles) = self.template(&head.record, timestamp)?;
        let env = BlockEnv::from_header(&header);
        let ancestry = self.ancestry(&head.record);
        let mut executor = BlockExecutor::new(self.spec(), env.clone(), head.state(), &ancestry)?;
        let mut layout = Layout::of(self.spec(), &header);
        let mut content = self.fill(&mut executor, &mut layout, order, &header)?;
        layout.execute_remasc(&mut executor, &Transaction::remasc(header.number))?;
        content.transactions.push(Transaction::remasc(header.number));
        content.senders.push(Address::ZERO);
        let mut outcome = executor.finish()?;
        header.edges = header.edges.map(|_none_yet| layout.edges());
        layout.arrange(&mut content.transactions, &mut content.senders, &mut outcome.receipts);
        let trie = self.state_with(head, &outcome.delta)?;
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
            unfit: content.unfit,
        };
        Ok((built, pool_version))
    }

    /// The header before execution, and the uncles that it names.
    fn template(&self, parent: &BlockRecord, timestamp: u64) -> Result<(Header, Vec<Header>), BuildError> {
        let (spec, config) = (self.spec(), self.config());
        let before = &parent.block.header;
        let mut header = Header::new(before.number.saturating_add(1), spec);
        header.parent_hash = parent.hash.into();
        header.coinbase = Some(config.coinbase);
        header.timestamp = timestamp;
        header.gas_limit = targets::gas_limit(before.gas_limit_value(), config.target_gas_limit, spec);
        header.minimum_gas_price = Some(targets::minimum_gas_price(before, config.minimum_gas_price));
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
        layout: &mut Layout,
        mut order: ByPrice,
        header: &Header,
    ) -> Result<Content, ExecError> {
        let mut content = Content { transactions: Vec::new(), senders: Vec::new(), unfit: Vec::new() };
        while layout.gas_left() >= LEAST_GAS {
            let Some(candidate) = order.take() else { break };
            if !candidate.transaction.fields_valid() || !self.has_fitting_price(&candidate, header) {
                order.pass_over();
                content.unfit.push(candidate.hash);
                continue;
            }
            let outcome = layout.execute(executor, &candidate);
            if !matches!(outcome, Ok(Placement::Placed)) {
                order.pass_over();
            }
            match outcome {
                Ok(Placement::Placed) => {
                    content.transactions.push(candidate.transaction.clone());
                    content.senders.push(candidate.sender);
                }
                Ok(Placement::NoRoom) | Err(ExecError::Refused { reason: TransactionRefusal::BlockGas { .. }, .. }) => {
                }
                // A nonce or balance may be right again in a later block.
                Err(ExecError::Refused {
                    reason: TransactionRefusal::Nonce { .. } | TransactionRefusal::Balance,
                    ..
                }) => {}
                // What needs a part of the Bridge that is missing waits, and so do those behind it.
                Err(ExecError::BridgePart { .. }) => {}
                Err(ExecError::Refused { .. } | ExecError::Unexecutable { .. }) => {
                    content.unfit.push(candidate.hash);
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(content)
    }

    fn has_fitting_price(&self, candidate: &Pooled, header: &Header) -> bool {
        let (price, minimum) = (candidate.transaction.gas_price(), header.min_gas_price());
        let is_capped = self.spec().rules(header.number).is_active(Rule::Rskip252);
        price >= minimum && (!is_capped || header_rules::gas_price_is_below_cap(minimum, price))
    }

    /// The state of the head with changes. Uses the nodes that the writer has loaded, unless it is busy.
    fn state_with(&self, head: &Head, delta: &rhizome_trie::StateDelta) -> Result<Trie, ChainError> {
        let loaded =
            self.writer.try_lock().filter(|_| self.head().hash() == head.hash()).map(|writer| writer.trie().clone());
        let mut trie = match loaded {
            Some(trie) => trie,
            None => self.state_trie(&head.record)?,
        };
        trie.apply(delta)?;
        Ok(trie)
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
