//! The block that is executed for a trace.

use super::traced::Traced;
use super::transaction_trace::TraceLocation;
use crate::block_id::BlockRef;
use crate::caches::ReplayKey;
use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use crate::objects::block::pending_hash;
use rhizome_chain::{BlockRecord, ChainAncestry, PendingBlock};
use rhizome_evm::{BlockReplay, Deadline, ReplayedBlock, TransactionOutcome};
use rhizome_primitives::{Address, B256, Block, Transaction};
use std::sync::Arc;

/// The chain went back while the question was answered: the block is not there any more.
fn deleted(record: &BlockRecord) -> RpcError {
    RpcError::new(ErrorCode::ServerError, format!("block {} has just been deleted", record.hash))
}

/// A block on the state of its parent.
pub(crate) struct BlockSubject {
    content: Content,
    parent: Arc<BlockRecord>,
    ancestry: ChainAncestry,
}

enum Content {
    Mined(Arc<BlockRecord>),
    Pending(Arc<PendingBlock>),
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
                let parent = Arc::clone(&pending.parent);
                let ancestry = node.chain().ancestry(&parent);
                Ok(Some(Self { content: Content::Pending(Arc::clone(pending)), parent, ancestry }))
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
        let ancestry = node.chain().ancestry(&parent);
        Ok(Some(Self { content: Content::Mined(Arc::clone(record)), parent, ancestry }))
    }

    /// Returns a block of a request. Fails with -32000 if its parent is unknown.
    pub(crate) fn given(node: &Node, block: Block, senders: Vec<Address>) -> Result<Self, RpcError> {
        let parent = block.header.parent().map(|parent| node.chain().block(&parent)).transpose()?.flatten();
        let parent = parent.ok_or_else(|| RpcError::new(ErrorCode::ServerError, "parent block not found"))?;
        if block.header.number != parent.number() + 1 {
            return Err(RpcError::invalid_params("the number of the block does not follow that of its parent"));
        }
        let ancestry = node.chain().ancestry(&parent);
        Ok(Self { content: Content::Given { block: Box::new(block), senders }, parent, ancestry })
    }

    pub(crate) fn block(&self) -> &Block {
        match &self.content {
            Content::Mined(record) => &record.block,
            Content::Pending(pending) => &pending.block,
            Content::Given { block, .. } => block,
        }
    }

    /// The blocks below it.
    pub(crate) fn ancestry(&self) -> &ChainAncestry {
        &self.ancestry
    }

    /// One for each transaction, zero for REMASC.
    pub(crate) fn senders(&self) -> &[Address] {
        match &self.content {
            Content::Mined(record) => record.senders(),
            Content::Pending(pending) => &pending.senders,
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
        let state = node.chain().state_at(&self.parent)?;
        BlockReplay::new(self.replayed(node), state, deadline).map_err(RpcError::from)
    }

    /// Prepares the execution of the transaction at `index`. For a stored block, the preceding transactions are executed once
    /// for all requests.
    pub(crate) fn replay_from<'s>(
        &'s self,
        node: &'s Node,
        index: usize,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'s>, RpcError> {
        match &self.content {
            Content::Mined(record) => {
                let key = self.replay_key(record);
                let open = || node.state_at(&self.parent);
                node.caches().replays.branch(key, self.replayed(node), index, &open, deadline)
            }
            Content::Pending(_) | Content::Given { .. } => {
                let mut replay = self.replay(node, deadline)?;
                replay.advance_to(index)?;
                Ok(replay)
            }
        }
    }

    /// Returns the identity of the executions of a stored block; `None` for other blocks.
    pub(crate) fn stored_key(&self) -> Option<ReplayKey> {
        match &self.content {
            Content::Mined(record) => Some(self.replay_key(record)),
            Content::Pending(_) | Content::Given { .. } => None,
        }
    }

    fn replay_key(&self, record: &BlockRecord) -> ReplayKey {
        ReplayKey { block: record.hash, parent_state: self.parent.state_root }
    }

    fn replayed<'s>(&'s self, node: &'s Node) -> ReplayedBlock<'s> {
        let (spec, ancestry) = (node.chain().spec(), &self.ancestry);
        ReplayedBlock { spec, block: self.block(), senders: self.senders(), ancestry }
    }
}
