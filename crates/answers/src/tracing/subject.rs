//! The block that is executed for a trace.

use super::traced::Traced;
use super::transaction_trace::TraceLocation;
use crate::block_id::{BlockId, BlockRef};
use crate::caches::ReplayKey;
use crate::error::{ErrorCode, RpcError};
use crate::node::{ForkedChain, Node};
use crate::objects::block::pending_hash;
use rhizome_chain::{BlockRecord, PendingBlock};
use rhizome_evm::{Ancestry, BlockReplay, Deadline, ReplayedBlock, TransactionOutcome};
use rhizome_fork::{OlderAncestry, OlderBlock, RemoteChain};
use rhizome_primitives::{Address, B256, Block, Transaction};
use rhizome_trie::StateReader;
use std::sync::Arc;

/// The chain went back while the question was answered: the block is not there any more.
fn deleted(record: &BlockRecord) -> RpcError {
    RpcError::new(ErrorCode::ServerError, format!("block {} has just been deleted", record.hash))
}

/// A block on the state of its parent.
pub(crate) struct BlockSubject {
    content: Content,
    parent: Parent,
    ancestry: Box<dyn Ancestry>,
}

/// The block that an id names.
pub(crate) enum NamedBlock {
    /// There is none.
    Unknown,
    /// The genesis block, which executes nothing.
    Genesis,
    /// Any other block.
    Executed(Box<BlockSubject>),
}

/// Where the state after the parent is.
enum Parent {
    Stored(Arc<BlockRecord>),
    /// In the chain that a fork continues, where no method changes it.
    Remote(Arc<OlderBlock>),
}

enum Content {
    Mined(Arc<BlockRecord>),
    Pending(Arc<PendingBlock>),
    /// A block of the chain that a fork continues.
    Older(Arc<OlderBlock>),
    /// A block of a request, which is not stored.
    Given {
        block: Box<Block>,
        senders: Vec<Address>,
    },
}

impl BlockSubject {
    /// Returns a mined or pending block; `None` for the genesis block, which executes nothing.
    pub(crate) fn at(node: &Node, block: &BlockRef) -> Result<Option<Self>, RpcError> {
        match block {
            BlockRef::Mined(record) => Self::of_block(node, record),
            BlockRef::Pending(pending) => {
                Ok(Some(Self::on(node, Content::Pending(Arc::clone(pending)), Arc::clone(&pending.parent))))
            }
        }
    }

    /// Returns a stored block; `None` for the genesis block.
    pub(crate) fn of_block(node: &Node, record: &Arc<BlockRecord>) -> Result<Option<Self>, RpcError> {
        let Some(parent_hash) = record.parent() else { return Ok(None) };
        if record.number() == 0 {
            return Ok(None);
        }
        let parent = node.chain().block(&parent_hash)?;
        let parent = parent.ok_or_else(|| deleted(record))?;
        // The state of a parent is changed by hand only after the block is deleted.
        if node.chain().block(&record.hash)?.is_none() {
            return Err(deleted(record));
        }
        Ok(Some(Self::on(node, Content::Mined(Arc::clone(record)), parent)))
    }

    fn on(node: &Node, content: Content, parent: Arc<BlockRecord>) -> Self {
        let ancestry = Box::new(node.chain().ancestry(&parent));
        Self { content, parent: Parent::Stored(parent), ancestry }
    }

    /// Returns a block of the chain that a fork continues.
    fn older(chain: &Arc<RemoteChain>, block: Arc<OlderBlock>) -> Self {
        let ancestry = Box::new(OlderAncestry::new(Arc::clone(chain), Arc::clone(&block)));
        Self { content: Content::Older(Arc::clone(&block)), parent: Parent::Remote(block), ancestry }
    }

    /// Returns the block that an id names, in a fork also one of the chain of the remote node.
    pub(crate) fn named(node: &Node, at: &BlockId<'_>) -> Result<NamedBlock, RpcError> {
        let executed = |subject: Option<Self>| {
            subject.map_or(NamedBlock::Genesis, |subject| NamedBlock::Executed(Box::new(subject)))
        };
        let fork = node.fork();
        let remote = fork.and_then(ForkedChain::remote);
        if let (Some(fork), Some(remote)) = (fork, remote)
            && let Some(number) = at.fork_height(node, fork)?.filter(|number| *number <= remote.number())
        {
            let block = remote.older_block_at(number)?;
            return Ok(executed(block.map(|block| Self::older(remote, block))));
        }
        if let Some(block) = at.find_stored(node)? {
            return Ok(executed(Self::at(node, &block)?));
        }
        let (Some(remote), Some(hash)) = (remote, at.hash()) else { return Ok(NamedBlock::Unknown) };
        if hash == remote.genesis_hash() {
            return Ok(NamedBlock::Genesis);
        }
        let block = remote.older_block(&hash)?;
        Ok(block.map_or(NamedBlock::Unknown, |block| executed(Some(Self::older(remote, block)))))
    }

    /// Returns the block of a transaction on the main chain, and its index, in a fork also of one on the chain of the remote node.
    pub(crate) fn of_transaction(node: &Node, hash: &B256) -> Result<Option<(Self, usize)>, RpcError> {
        if let Some(mined) = node.chain().transaction(hash)? {
            return Ok(Self::of_block(node, &mined.record)?.map(|subject| (subject, mined.index)));
        }
        let Some(remote) = node.fork().and_then(ForkedChain::remote) else { return Ok(None) };
        let found = remote.older_transaction(hash)?;
        Ok(found.map(|(block, index)| (Self::older(remote, block), index)))
    }

    /// Returns a block of a request. Fails with -32000 if its parent is unknown.
    pub(crate) fn given(node: &Node, block: Block, senders: Vec<Address>) -> Result<Self, RpcError> {
        let parent = block.header.parent().map(|parent| node.chain().block(&parent)).transpose()?.flatten();
        let parent = parent.ok_or_else(|| RpcError::new(ErrorCode::ServerError, "parent block not found"))?;
        if block.header.number != parent.number() + 1 {
            return Err(RpcError::invalid_params("the number of the block does not follow that of its parent"));
        }
        Ok(Self::on(node, Content::Given { block: Box::new(block), senders }, parent))
    }

    pub(crate) fn block(&self) -> &Block {
        match &self.content {
            Content::Mined(record) => &record.block,
            Content::Pending(pending) => &pending.block,
            Content::Older(older) => older.block(),
            Content::Given { block, .. } => block,
        }
    }

    /// The blocks below it.
    pub(crate) fn ancestry(&self) -> &dyn Ancestry {
        &*self.ancestry
    }

    /// One for each transaction, zero for REMASC.
    pub(crate) fn senders(&self) -> &[Address] {
        match &self.content {
            Content::Mined(record) => record.senders(),
            Content::Pending(pending) => &pending.senders,
            Content::Older(older) => older.senders(),
            Content::Given { senders, .. } => senders,
        }
    }

    /// The transaction at an index with its sender.
    pub(crate) fn transaction(&self, index: usize) -> Option<(&Transaction, Address)> {
        Some((self.block().transactions.get(index)?, *self.senders().get(index)?))
    }

    /// Returns the hash; for a pending block the hash in its block object.
    fn hash(&self) -> B256 {
        match &self.content {
            Content::Mined(record) => record.hash,
            Content::Pending(pending) => pending_hash(pending),
            Content::Older(older) => older.hash(),
            Content::Given { block, .. } => block.hash(),
        }
    }

    /// Where the transaction at an index stands.
    pub(crate) fn location(&self, index: usize, transaction: &Transaction) -> TraceLocation {
        TraceLocation {
            block_hash: self.hash(),
            block_number: self.block().header.number,
            transaction_hash: transaction.hash(),
            position: index,
        }
    }

    /// Returns the transaction at an index with its outcome.
    pub(crate) fn traced(&self, index: usize, outcome: TransactionOutcome) -> Option<Traced> {
        let (transaction, sender) = self.transaction(index)?;
        let is_pending = matches!(self.content, Content::Pending(_));
        Some(Traced { is_pending, ..Traced::of_transaction(transaction, sender, outcome) })
    }

    /// Ready for the first transaction.
    pub(crate) fn replay<'s>(&'s self, node: &'s Node, deadline: &Deadline) -> Result<BlockReplay<'s>, RpcError> {
        BlockReplay::new(self.replayed(node), self.state_before(node)?, deadline).map_err(RpcError::from)
    }

    /// Prepares the execution of the transaction at `index`. For a stored block, the preceding transactions are executed once
    /// for all requests.
    pub(crate) fn replay_from<'s>(
        &'s self,
        node: &'s Node,
        index: usize,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'s>, RpcError> {
        match self.stored_key() {
            Some(key) => {
                let open = || self.state_before(node);
                node.caches().replays.branch(key, self.replayed(node), index, &open, deadline)
            }
            None => {
                let mut replay = self.replay(node, deadline)?;
                replay.advance_to(index)?;
                Ok(replay)
            }
        }
    }

    /// Returns the identity of the executions of a stored block; `None` for other blocks.
    pub(crate) fn stored_key(&self) -> Option<ReplayKey> {
        let parent_state = match &self.parent {
            Parent::Stored(parent) => parent.state_root,
            Parent::Remote(_) => B256::ZERO,
        };
        match &self.content {
            Content::Mined(record) => Some(ReplayKey { block: record.hash, parent_state }),
            Content::Older(older) => Some(ReplayKey { block: older.hash(), parent_state }),
            Content::Pending(_) | Content::Given { .. } => None,
        }
    }

    /// Whether the block is on the chain that a fork continues.
    pub(crate) fn is_older(&self) -> bool {
        matches!(self.content, Content::Older(_))
    }

    fn state_before(&self, node: &Node) -> Result<Arc<dyn StateReader>, RpcError> {
        match &self.parent {
            Parent::Stored(parent) => node.state_at(parent),
            Parent::Remote(older) => Ok(older.state()),
        }
    }

    fn replayed<'s>(&'s self, node: &'s Node) -> ReplayedBlock<'s> {
        let (spec, ancestry) = (node.chain().spec(), self.ancestry());
        ReplayedBlock { spec, block: self.block(), senders: self.senders(), ancestry }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::AnswerOptions;
    use rhizome_chain::{Chain, ChainConfig, DataDir};
    use rhizome_primitives::{ChainSpec, I256};

    #[test]
    fn a_deleted_block_is_not_executed_on_a_state_changed_by_hand() {
        let config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        let node = Node::new(Chain::open(config).unwrap(), AnswerOptions::document()).unwrap();
        (0..2).for_each(|_| drop(node.chain().mine(node.now()).unwrap()));
        let record = Arc::clone(&node.chain().head().record);
        assert!(BlockSubject::of_block(&node, &record).unwrap().is_some());
        node.chain().rewind(1).unwrap();
        node.chain().change_state(|state| state.set_balance(Address::ZERO, I256::ONE)).unwrap();
        let error = BlockSubject::of_block(&node, &record).err().unwrap();
        assert_eq!(error.message, format!("block {} has just been deleted", record.hash));
    }
}
