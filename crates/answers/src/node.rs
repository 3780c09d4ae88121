//! The context of all answers: chain, options, accounts and caches.

use crate::accounts::Accounts;
use crate::caches::{Caches, TransactionPosition};
use crate::error::{ErrorCode, RpcError};
use crate::feed::deleted::DeletedBlocks;
use crate::feed::pending_hashes::PendingFeed;
use crate::feed::waiting::WaitingFeed;
use crate::mining_schedule::MiningSchedule;
use crate::options::{AnswerOptions, LatestBlock};
use parking_lot::Mutex;
use rhizome_chain::{BlockRecord, Chain, ChainEvent, Fork, ForkOrigin, LocalOrigin};
use rhizome_evm::Deadline;
use rhizome_fleet::{Fleet, FleetRole};
use rhizome_fork::RemoteChain;
use rhizome_net::{BanStore, PeerNetwork, PeerStanding};
use rhizome_primitives::{B256, ChainSpec, U256, keccak256};
use rhizome_trie::{StateReader, Trie};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Attempts to read a state trie while the head moves.
const STATE_TRIE_ATTEMPTS: usize = 4;

/// A node that can be asked.
pub struct Node {
    chain: Arc<Chain>,
    standing: Arc<PeerStanding>,
    network: OnceLock<PeerNetwork>,
    fleet: OnceLock<Fleet>,
    fork: Option<ForkedChain>,
    options: AnswerOptions,
    accounts: Accounts,
    caches: Caches,
    pending_feed: Arc<PendingFeed>,
    waiting_feed: Arc<WaitingFeed>,
    deleted: Arc<DeletedBlocks>,
    mining: Arc<MiningSchedule>,
    instance: Mutex<B256>,
    prints_chain: AtomicBool,
    archive_import: Mutex<Option<(u64, u64)>>,
}

impl Node {
    /// A node over an open chain that signs for the development accounts, if at all.
    pub fn new(chain: Arc<Chain>, options: AnswerOptions) -> Result<Self, RpcError> {
        let accounts = if options.has_wallet { Accounts::development() } else { Accounts::none() };
        Self::with_accounts(chain, options, accounts)
    }

    /// A node over an open chain.
    pub fn with_accounts(chain: Arc<Chain>, options: AnswerOptions, accounts: Accounts) -> Result<Self, RpcError> {
        let standing = Arc::new(PeerStanding::open(Arc::clone(&chain) as Arc<dyn BanStore>)?);
        let pending_feed = Arc::new(PendingFeed::default());
        let deleted = Arc::new(DeletedBlocks::default());
        let waiting_feed = Arc::new(WaitingFeed::default());
        let (feed, lost, waiting) = (Arc::clone(&pending_feed), Arc::clone(&deleted), Arc::clone(&waiting_feed));
        chain.on_event(Box::new(move |event| match event {
            ChainEvent::PendingTransaction { hash, .. } => feed.push(*hash),
            // The chain was rewound: the deleted blocks are no longer stored.
            ChainEvent::NewHead { number, enacted, retracted, .. } if enacted.is_empty() => {
                retracted.iter().for_each(|hash| lost.push(*hash, *number));
            }
            ChainEvent::TransactionSkipped(left) => waiting.push(left),
            ChainEvent::NewHead { .. } | ChainEvent::TransactionAdmitted { .. } => {}
        }));
        let mining = Arc::new(MiningSchedule::new(options.mining));
        Ok(Self {
            standing,
            network: OnceLock::new(),
            fleet: OnceLock::new(),
            fork: None,
            caches: Caches::new(options.cache_bytes, options.replay_bytes),
            chain,
            options,
            accounts,
            pending_feed,
            waiting_feed,
            deleted,
            mining,
            instance: Mutex::new(random_id()),
            prints_chain: AtomicBool::new(true),
            archive_import: Mutex::default(),
        })
    }

    /// The chain.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// Scores and bans of peers.
    pub fn standing(&self) -> &Arc<PeerStanding> {
        &self.standing
    }

    /// The connections to other nodes, `None` without a network.
    pub fn network(&self) -> Option<&PeerNetwork> {
        self.network.get()
    }

    /// Takes the network that was started for this node. A second one is stopped at once.
    pub fn attach_network(&self, network: PeerNetwork) {
        drop(self.network.set(network));
    }

    /// The block at which the import from archives began, and their last one; `None` unless there is more than the head.
    pub(crate) fn archive_import(&self) -> Option<(u64, u64)> {
        let head = self.chain.head().number();
        self.archive_import.lock().filter(|(_, last)| *last > head)
    }

    pub(crate) fn set_archive_import(&self, blocks: Option<(u64, u64)>) {
        *self.archive_import.lock() = blocks;
    }

    /// The part of this node in a fleet, `None` without one.
    pub fn fleet(&self) -> Option<&Fleet> {
        self.fleet.get()
    }

    /// Takes the part in a fleet that was started for this node. A second one is stopped at once.
    pub fn attach_fleet(&self, fleet: Fleet) {
        drop(self.fleet.set(fleet));
    }

    /// Returns the number of the block of the tag `latest`: that of the head, or in a fleet, by its setting, that of the highest block
    /// that all ready nodes have.
    pub(crate) fn latest_number(&self) -> u64 {
        self.latest_until(self.chain.head().number())
    }

    /// Returns the same for a head.
    fn latest_until(&self, head: u64) -> u64 {
        match (self.options.latest, self.fleet()) {
            (LatestBlock::Agreed, Some(fleet)) => fleet.agreed_number().min(head),
            _ => head,
        }
    }

    /// Returns the block of the tag `latest`.
    pub(crate) fn latest(&self) -> Result<Arc<BlockRecord>, RpcError> {
        let head = self.chain.head();
        let record = match self.latest_until(head.number()) {
            number if number >= head.number() => None,
            number => self.chain.main_block(number)?,
        };
        Ok(record.unwrap_or_else(|| Arc::clone(&head.record)))
    }

    /// Fails with -32000 in a fleet, for methods that change the chain other than by blocks.
    pub fn require_no_fleet(&self, method: &str) -> Result<(), RpcError> {
        match self.options.fleet_role {
            None => Ok(()),
            Some(_) => {
                let message =
                    format!("{method} is not served in a fleet: other nodes get blocks, and the change is in none");
                Err(RpcError::new(ErrorCode::ServerError, message))
            }
        }
    }

    /// Fails with -32000 on a replica, for methods that mine.
    pub(crate) fn require_miner(&self, method: &str) -> Result<(), RpcError> {
        match self.options.fleet_role {
            Some(FleetRole::Replica) => {
                let message = format!("{method} is not served by a replica: the importers of the fleet mine");
                Err(RpcError::new(ErrorCode::ServerError, message))
            }
            _ => Ok(()),
        }
    }

    /// Makes the node that of a fork. The chain must continue the other one.
    #[must_use]
    pub fn with_fork(mut self, fork: ForkedChain) -> Self {
        self.fork = Some(fork);
        self
    }

    /// Shares the mining schedule of an earlier node, which a thread follows.
    #[must_use]
    pub fn with_mining(mut self, mining: Arc<MiningSchedule>) -> Self {
        self.mining = mining;
        self
    }

    /// The chain that this one is a fork of, `None` without a fork.
    pub fn fork(&self) -> Option<&ForkedChain> {
        self.fork.as_ref()
    }

    /// The settings.
    pub fn options(&self) -> &AnswerOptions {
        &self.options
    }

    /// The accounts that the node signs for.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// When this node mines by itself.
    pub fn mining(&self) -> &Arc<MiningSchedule> {
        &self.mining
    }

    /// Returns the chain for methods that change it. Fails with -32601 unless the network is a development network.
    pub(crate) fn require_development(&self) -> Result<&Arc<Chain>, RpcError> {
        match self.chain.spec().is_development() {
            true => Ok(&self.chain),
            false => Err(RpcError::new(ErrorCode::MethodNotFound, "the method is for development networks only")),
        }
    }

    /// Returns `true` if chain events are printed.
    pub fn prints_chain(&self) -> bool {
        self.prints_chain.load(Ordering::Acquire)
    }

    /// Turns the printing of chain events on or off.
    pub(crate) fn print_chain(&self, is_on: bool) {
        self.prints_chain.store(is_on, Ordering::Release);
    }

    /// The name of this run of the node, until its chain is reset.
    pub(crate) fn instance_id(&self) -> B256 {
        *self.instance.lock()
    }

    /// The chain begins again.
    pub(crate) fn renew_instance(&self) {
        *self.instance.lock() = random_id();
    }

    /// Seconds since 1970 by the chain's clock.
    pub(crate) fn now(&self) -> u64 {
        self.chain.config().clock.now()
    }

    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }

    /// Returns the state after a block; at the head through the head cache.
    pub(crate) fn state_at(&self, record: &BlockRecord) -> Result<Arc<dyn StateReader>, RpcError> {
        let head = self.chain.head();
        // A change by hand leaves the hash as it is.
        match head.record.hash == record.hash && head.record.state_root == record.state_root {
            true => Ok(self.caches.head.of(&head).state()),
            false => Ok(self.chain.state_at(record)?),
        }
    }

    /// Runs `read` with the trie of the state after a block. Nodes of the trie may be replaced while it is read, if the database
    /// holds current nodes only and the head moves: then `read` runs again.
    pub(crate) fn with_state_trie<T>(
        &self,
        record: &Arc<BlockRecord>,
        deadline: &Deadline,
        read: impl Fn(Trie) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let mut attempts = STATE_TRIE_ATTEMPTS;
        loop {
            let head = self.chain.head().hash();
            let result = self.chain.state_trie_until(record, deadline).map_err(RpcError::from).and_then(&read);
            attempts -= 1;
            if result.is_ok() || attempts == 0 || deadline.has_passed() || self.chain.head().hash() == head {
                return result;
            }
        }
    }

    /// Returns the position of a transaction on the best chain.
    pub(crate) fn transaction_position(&self, hash: &B256) -> Result<Option<TransactionPosition>, RpcError> {
        self.caches.head.of(&self.chain.head()).transaction(&self.chain, hash)
    }

    pub(crate) fn pending_feed(&self) -> &PendingFeed {
        &self.pending_feed
    }

    pub(crate) fn waiting_feed(&self) -> &WaitingFeed {
        &self.waiting_feed
    }

    pub(crate) fn deleted(&self) -> &DeletedBlocks {
        &self.deleted
    }

    /// Whether a submission mines its block before it is answered.
    pub(crate) fn mines_on_submission(&self) -> bool {
        self.mining.is_instant() && self.chain.is_automining()
    }
}

/// The chain that a fork continues, up to the block that it begins at.
#[derive(Clone)]
pub enum ForkedChain {
    /// That of a remote node, which reads of older blocks are passed on to.
    Remote(Arc<RemoteChain>),
    /// That of a data directory. Reads of older blocks are answered by a node over it.
    Local {
        /// The chain up to the block.
        origin: Arc<LocalOrigin>,
        /// Node over the whole chain. Nothing writes through it.
        node: Arc<Node>,
        /// The directory, for messages.
        dir: String,
    },
}

impl ForkedChain {
    /// Returns the chain as part of the configuration of the fork.
    pub fn origin(&self) -> Fork {
        match self {
            Self::Remote(remote) => Fork(Arc::clone(remote) as _),
            Self::Local { origin, .. } => Fork(Arc::clone(origin) as _),
        }
    }

    /// Returns the specification of the fork: that of the other chain, without proof of work above the block.
    pub fn spec(&self) -> ChainSpec {
        match self {
            Self::Remote(remote) => remote.spec(),
            Self::Local { node, .. } => node.chain().spec().as_ref().clone().forked_at(self.number()),
        }
    }

    /// Returns the number of the block.
    pub fn number(&self) -> u64 {
        self.origin().number()
    }

    /// Returns the hash of the block.
    pub fn hash(&self) -> B256 {
        self.origin().0.block().block.hash()
    }

    /// Returns host and port of the remote node, or the directory.
    pub fn name(&self) -> String {
        match self {
            Self::Remote(remote) => remote.host(),
            Self::Local { dir, .. } => dir.clone(),
        }
    }

    /// Returns the remote chain; `None` for a directory.
    pub fn remote(&self) -> Option<&Arc<RemoteChain>> {
        match self {
            Self::Remote(remote) => Some(remote),
            Self::Local { .. } => None,
        }
    }

    /// Returns the node over the directory; `None` for a remote node.
    pub fn local(&self) -> Option<&Arc<Node>> {
        match self {
            Self::Remote(_) => None,
            Self::Local { node, .. } => Some(node),
        }
    }

    /// Whether read-only methods of the Bridge are answered by the remote node, because it does not serve the storage.
    pub(crate) fn has_bridge_answers(&self) -> bool {
        self.remote().is_some_and(|remote| remote.bridge_answers().is_some())
    }

    /// Returns the result of `eth_getStorageAt` of the Bridge as JSON, if only the remote node can show it.
    pub(crate) fn shown_bridge_slot(&self, slot: &U256) -> Result<Option<String>, RpcError> {
        Ok(self.remote().map(|remote| remote.shown_bridge_slot(slot)).transpose()?.flatten())
    }
}

/// An id that no other run has. Not a secret.
fn random_id() -> B256 {
    let random = [0, 1, 2, 3].map(|part: u64| RandomState::new().hash_one(part).to_be_bytes());
    keccak256(random.as_flattened())
}
