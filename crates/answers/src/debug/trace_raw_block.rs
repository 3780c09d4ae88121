//! `debug_traceBlock`.

use super::trace_block::traces;
use crate::block_id::BlockId;
use crate::error::{Answer, RpcError};
use crate::node::Node;
use crate::tracing::options::TraceOptions;
use crate::tracing::subject::{BlockSubject, NamedBlock};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, Block, SignatureError, Transaction};

/// The traces of all transactions of an encoded block, whose parent must be known. The block itself need not be, and its rules
/// are not checked.
pub fn answer(node: &Node, raw: &[u8], options: &TraceOptions, deadline: &Deadline) -> Answer {
    let block = Block::decode(raw, node.chain().spec())
        .map_err(|error| RpcError::invalid_params(format!("could not decode block: {error}")))?;
    match BlockSubject::named(node, &BlockId::of_hash(block.hash()))? {
        NamedBlock::Unknown => {}
        NamedBlock::Genesis => return traces(node, None, options, deadline),
        NamedBlock::Executed(subject) => return traces(node, Some(&subject), options, deadline),
    }
    let senders = senders(&block)
        .map_err(|error| RpcError::invalid_params(format!("could not decode block: invalid signature, {error}")))?;
    let subject = BlockSubject::given(node, block, senders)?;
    traces(node, Some(&subject), options, deadline)
}

fn senders(block: &Block) -> Result<Vec<Address>, SignatureError> {
    Transaction::recover_senders(&block.transactions);
    let sender = |(index, transaction): (usize, &Transaction)| match block.is_remasc(index) {
        true => Ok(Address::ZERO),
        false => transaction.recover_sender(),
    };
    block.transactions.iter().enumerate().map(sender).collect()
}
