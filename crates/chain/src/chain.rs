use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rhizome_primitives::{Block, ChainSpec, EMPTY_ROOT};
use rhizome_storage::{BlockWrite, ChainIdentity, Durability, HeadChange, Store, StoreOptions};
use rhizome_trie::{MemoryNodes, Trie, diff};

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::bans::Bans;
use crate::config::{ChainConfig, DataDir};
use crate::events::{ChainEvent, ChainListeners};
use crate::head::Head;
use crate::head::branch_change::BranchChange;
use crate::import::import_state::ImportState;
use crate::import::recovery::Recovery;
use crate::mining::block_builder::PendingBlockCache;
use crate::mining::block_builder::skipped::ReportedReasons;
use crate::mining::block_templates::BlockTemplates;
use crate::mining::development::Development;
use crate::txpool::{PoolHead, TransactionPool};
use crate::{ChainError, head::branch_change};

/// Blocks that the pool looks at when it starts.
const FEE_MARKET_BLOCKS: u64 = 50;

/// One chain on disk, its best block, and the transactions that wait for the next one.
///
/// Everything that moves the head holds one mutex ([`Chain::lock_head`]) from its first look at the head until the new one
/// is published; everything that reads takes the published head and no lock.
pub struct Chain {
    config: ChainConfig,
    pub(crate) archive: Arc<Archive>,
    head: ArcSwap<Head>,
    pub(crate) writer: Mutex<ImportState>,
    pub(crate) development: Development,
    pub(crate) drafts: PendingBlockCache,
    pub(crate) templates: Mutex<BlockTemplates>,
    pool: TransactionPool,
    bans: Bans,
    pub(crate) told: ReportedReasons,
    listeners: ChainListeners,
    pub(crate) recovery: Recovery,
}

impl Chain {
    /// Opens a chain. An empty directory gets the genesis of the network; one that holds another chain is refused.
    pub fn open(config: ChainConfig) -> Result<Arc<Self>, ChainError> {
        let memory = Arc::new(MemoryNodes::default());
        let (genesis, mut trie) = rhizome_trie::genesis(&config.spec, memory)?;
        let identity = ChainIdentity { chain_id: config.spec.chain_id, genesis: genesis.hash() };
        let options = StoreOptions {
            cache_bytes: config.cache_bytes / 2,
            write_buffer_bytes: config.write_buffer_bytes,
            max_open_files: config.max_open_files,
            durability: if config.is_power_safe { Durability::Power } else { Durability::Process },
        };
        let store = Arc::new(match &config.data_dir {
            DataDir::Path(dir) => Store::open(dir, &identity, &options)?,
            DataDir::Temporary => Store::open_temporary(&identity, &options)?,
        });
        let archive = Arc::new(Archive::new(Arc::clone(&config.spec), store, config.cache_bytes / 2));
        if archive.store.head()?.is_none() {
            write_genesis(&archive.store, &genesis, &mut trie)?;
        }
        let record = head_record(&archive)?;
        let head = Head::new(Arc::clone(&record), archive.store.generation(), &archive.store);
        let writer = ImportState::open(record.state_root, &archive.store, config.cache_bytes);
        let pool_head = PoolHead { record, state: head.state() };
        let recent = recent_blocks(&archive, head.number())?;
        let (spec, clock) = (Arc::clone(&config.spec), config.clock.clone());
        let pool = TransactionPool::new(spec, config.pool.clone(), clock, pool_head, &recent, config.target_gas_limit);
        let bans = Bans::open(Arc::clone(&archive.store))?;
        let chain = Arc::new(Self {
            config,
            archive,
            head: ArcSwap::from_pointee(head),
            writer: Mutex::new(writer),
            development: Development::default(),
            drafts: PendingBlockCache::default(),
            templates: Mutex::default(),
            pool,
            bans,
            told: ReportedReasons::default(),
            listeners: ChainListeners::default(),
            recovery: Recovery::default(),
        });
        Self::watch_disk(&chain);
        Ok(chain)
    }

    /// The network.
    pub fn spec(&self) -> &Arc<ChainSpec> {
        &self.config.spec
    }

    /// The settings.
    pub fn config(&self) -> &ChainConfig {
        &self.config
    }

    /// The best block now. Never blocks.
    pub fn head(&self) -> Arc<Head> {
        self.head.load_full()
    }

    /// The transactions that wait.
    pub fn pool(&self) -> &TransactionPool {
        &self.pool
    }

    /// The addresses that peers may not come from.
    pub fn bans(&self) -> &Bans {
        &self.bans
    }

    /// Adds a listener. It is called on the thread of the event after the new head is visible, in the order of the events;
    /// it must neither block nor write to the chain.
    pub fn on_event(&self, listener: Box<dyn Fn(&ChainEvent) + Send + Sync>) {
        self.listeners.add(listener);
    }

    pub(crate) fn emit(&self, event: &ChainEvent) {
        self.listeners.emit(event);
    }

    /// Makes another best block visible: first the head, then the pool, then the listeners. `returned` are the blocks whose
    /// transactions the pool gets back.
    pub(crate) fn publish(
        &self,
        record: Arc<BlockRecord>,
        generation: u64,
        change: &BranchChange,
        returned: &[Arc<BlockRecord>],
    ) {
        let (number, hash) = (record.number(), record.hash);
        let pool_head = self.publish_head(record, generation);
        let now_pending = self.pool.follow(pool_head, &change.enacted, returned);
        self.emit(&ChainEvent::NewHead {
            number,
            hash,
            enacted: branch_change::hashes(&change.enacted),
            retracted: branch_change::hashes(&change.retracted),
        });
        for hash in now_pending {
            self.emit(&ChainEvent::PendingTransaction { hash });
        }
    }

    /// Makes the best block and its state visible to readers; what the pool has to be told.
    pub(crate) fn publish_head(&self, record: Arc<BlockRecord>, generation: u64) -> PoolHead {
        let head = Arc::new(Head::new(Arc::clone(&record), generation, &self.archive.store));
        let pool_head = PoolHead { record, state: head.state() };
        self.head.store(head);
        pool_head
    }
}

/// The last blocks of the best chain up to a height, oldest first: what the pool learns the fee market from.
fn recent_blocks(archive: &Archive, top: u64) -> Result<Vec<Arc<BlockRecord>>, ChainError> {
    let numbers = top.saturating_sub(FEE_MARKET_BLOCKS - 1)..=top;
    numbers.filter_map(|number| archive.main_record(number).transpose()).collect()
}

pub(crate) fn head_record(archive: &Archive) -> Result<Arc<BlockRecord>, ChainError> {
    let hash = archive.store.head()?.ok_or(ChainError::MissingHeight { number: 0 })?;
    let record = archive.known_record(&hash)?;
    let root = record.state_root;
    if root != EMPTY_ROOT && archive.store.node(&root)?.is_none() {
        return Err(ChainError::MissingState { number: record.number(), hash, root });
    }
    Ok(record)
}

fn write_genesis(store: &Store, genesis: &Block, trie: &mut Trie) -> Result<(), ChainError> {
    let empty = Trie::open(EMPTY_ROOT, Arc::clone(trie.source()));
    let flat = diff(&empty, trie)?;
    let nodes = trie.commit();
    let hash = genesis.hash();
    store.write_block(BlockWrite {
        hash,
        number: genesis.header.number,
        raw: &genesis.encode(),
        total_difficulty: genesis.header.difficulty_value(),
        state_root: trie.root_hash(),
        senders: &[],
        transaction_hashes: &[],
        receipts: &[],
        encoded_receipts: &[],
        nodes,
        head_change: Some(HeadChange { enacted: &[(genesis.header.number, hash)], retracted: &[], flat: &flat }),
    })?;
    Ok(())
}
