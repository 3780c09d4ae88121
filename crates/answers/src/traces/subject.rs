//! What is executed for a trace: the transactions of a block.

use super::traced::Traced;
use super::transaction_trace::TracePlace;
use crate::error::{ErrorCode, RpcError};
use crate::execution::to_rpc_error;
use crate::node::Node;
use crate::objects::block::draft_hash;
use crate::replay_cache::Base;
use crate::selector::Place;
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
}

impl BlockSubject {
    /// The block of a place; none for the genesis block, which executes nothing.
    pub(crate) fn at(node: &Node, place: &Place) -> Result<Option<Self>, RpcError> {
        match place {
            Place::Mined(record) => Self::of_block(node, record),
            Place::Pending(draft) => {
                let parent = Arc::clone(&draft.parent);
                let ancestry = node.chain().ancestry(&parent);
                Ok(Some(Self { content: Content::Pending(Arc::clone(draft)), parent, ancestry }))
            }
        }
    }

    /// A stored block; none for the genesis block.
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

    pub(crate) fn block(&self) -> &Block {
        match &self.content {
            Content::Mined(record) => &record.block,
            Content::Pending(draft) => &draft.block,
        }
    }

    /// One for each transaction, zero for REMASC.
    pub(crate) fn senders(&self) -> &[Address] {
        match &self.content {
            Content::Mined(record) => record.senders(),
            Content::Pending(draft) => &draft.senders,
        }
    }

    /// The transaction at an index with its sender.
    pub(crate) fn transaction(&self, index: usize) -> Option<(&Transaction, Address)> {
        Some((self.block().transactions.get(index)?, *self.senders().get(index)?))
    }

    /// The hash; of a draft the one that it has as it is shown.
    fn hash(&self) -> B256 {
        match &self.content {
            Content::Mined(record) => record.hash,
            Content::Pending(draft) => draft_hash(draft),
        }
    }

    /// Where the transaction at an index stands.
    pub(crate) fn place(&self, index: usize, transaction: &Transaction) -> TracePlace {
        TracePlace {
            block_hash: self.hash(),
            block_number: self.block().header.number,
            transaction_hash: transaction.hash(),
            position: index,
        }
    }

    /// The transaction at an index with what came of it.
    pub(crate) fn traced(&self, index: usize, outcome: TransactionOutcome) -> Option<Traced> {
        let (transaction, sender) = self.transaction(index)?;
        let is_draft = matches!(self.content, Content::Pending(_));
        Some(Traced { is_draft, ..Traced::of_transaction(transaction, sender, outcome) })
    }

    /// Ready for the first transaction.
    pub(crate) fn replay<'s>(&'s self, node: &'s Node, deadline: &Deadline) -> Result<BlockReplay<'s>, RpcError> {
        let state = node.chain().state_at(&self.parent)?;
        BlockReplay::new(self.replayed(node), state, deadline).map_err(to_rpc_error)
    }

    /// Ready for the transaction at `index`. Those before it are executed once for all who ask about a stored block.
    pub(crate) fn replay_from<'s>(
        &'s self,
        node: &'s Node,
        index: usize,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'s>, RpcError> {
        match &self.content {
            Content::Mined(record) => {
                let base = Base { block: record.hash, parent_state: self.parent.state_root };
                // The trie of exactly that root, whatever becomes of the head meanwhile.
                let open = || Ok(Arc::new(node.chain().state_trie(&self.parent)?) as _);
                node.replay_cache().branch(base, self.replayed(node), index, &open, deadline)
            }
            Content::Pending(_) => {
                let mut replay = self.replay(node, deadline)?;
                replay.advance_to(index).map_err(to_rpc_error)?;
                Ok(replay)
            }
        }
    }

    fn replayed<'s>(&'s self, node: &'s Node) -> ReplayedBlock<'s> {
        let (spec, ancestry) = (node.chain().spec(), &self.ancestry);
        ReplayedBlock { spec, block: self.block(), senders: self.senders(), ancestry }
    }
}
