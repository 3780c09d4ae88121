//! The state after the transactions of the pending block, before its fees are distributed.

use crate::error::RpcError;
use parking_lot::Mutex;
use rhizome_chain::{Chain, PendingBlock};
use rhizome_evm::BlockExecutor;
use rhizome_trie::{ChangedState, StateReader};
use std::sync::Arc;

/// The state of the last requested pending block.
#[derive(Default)]
pub(crate) struct PendingStateCache(Mutex<Option<Known>>);

type Known = (Arc<PendingBlock>, Arc<dyn StateReader>);

impl PendingStateCache {
    /// Returns the state of a pending block without its last transaction, the REMASC transaction.
    pub(crate) fn state(&self, chain: &Chain, pending: &Arc<PendingBlock>) -> Result<Arc<dyn StateReader>, RpcError> {
        let mut kept = self.0.lock();
        if let Some((_, state)) = kept.as_ref().filter(|(known, _)| Arc::ptr_eq(known, pending)) {
            return Ok(Arc::clone(state));
        }
        let state = execute(chain, pending)?;
        *kept = Some((Arc::clone(pending), Arc::clone(&state)));
        Ok(state)
    }
}

fn execute(chain: &Chain, pending: &PendingBlock) -> Result<Arc<dyn StateReader>, RpcError> {
    let base = chain.state_at(&pending.parent)?;
    let waiting = pending.block.transactions.iter().zip(&pending.senders);
    let mut waiting = waiting.filter(|(transaction, _)| !transaction.has_remasc_form()).peekable();
    if waiting.peek().is_none() {
        return Ok(base);
    }
    let ancestry = chain.ancestry(&pending.parent);
    let mut executor = BlockExecutor::new(chain.spec(), pending.env.clone(), Arc::clone(&base), &ancestry)?;
    for (transaction, sender) in waiting {
        executor.execute(transaction, *sender)?;
    }
    let delta = executor.finish()?.delta;
    Ok(Arc::new(ChangedState::new(base, delta)))
}
