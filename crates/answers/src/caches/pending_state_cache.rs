//! The state after the transactions of the pending block, before its fees are distributed.

use crate::error::RpcError;
use parking_lot::Mutex;
use rhizome_chain::{Chain, PendingBlock};
use rhizome_evm::BlockExecutor;
use rhizome_primitives::Bytes;
use rhizome_trie::{StateDelta, StateError, StateReader};
use std::ops::ControlFlow;
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
    Ok(Arc::new(ChangedState { base, delta }))
}

/// A state with changes on top.
struct ChangedState {
    base: Arc<dyn StateReader>,
    delta: StateDelta,
}

impl StateReader for ChangedState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if let Some(written) = self.delta.writes.get(key) {
            return Ok(written.clone().filter(|value| !value.is_empty()));
        }
        if self.delta.wiped.iter().any(|account| key.starts_with(account)) {
            return Ok(None);
        }
        self.base.get(key)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let is_changed = |key: &[u8]| {
            self.delta.writes.contains_key(key) || self.delta.wiped.iter().any(|account| key.starts_with(account))
        };
        let mut is_stopped = false;
        self.base.visit_keys(prefix, &mut |key| {
            if is_changed(key) {
                return ControlFlow::Continue(());
            }
            let next = visit(key);
            is_stopped = next.is_break();
            next
        })?;
        let written = self.delta.writes.range(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix));
        for (key, value) in written {
            let is_there = value.as_ref().is_some_and(|value| !value.is_empty());
            if is_stopped || is_there && visit(key).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Everywhere;

    impl StateReader for Everywhere {
        fn get(&self, _key: &[u8]) -> Result<Option<Bytes>, StateError> {
            Ok(Some(Bytes::from_static(b"old")))
        }

        fn visit_keys(
            &self,
            _prefix: &[u8],
            visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
        ) -> Result<(), StateError> {
            let keys: [&[u8]; 4] = [&[1, 4], &[1, 6], &[2], &[3]];
            let _is_stopped = keys.into_iter().try_for_each(visit);
            Ok(())
        }
    }

    #[test]
    fn changes_hide_values_of_the_base_state() {
        let mut delta = StateDelta::default();
        delta.wiped.insert(vec![1]);
        delta.writes.insert(vec![1, 5], Some(Bytes::from_static(b"new")));
        delta.writes.insert(vec![2], None);
        let state = ChangedState { base: Arc::new(Everywhere), delta };
        let text = |key: &[u8]| state.get(key).unwrap().map(|value| value.to_vec());
        assert_eq!(text(&[1, 5]).unwrap(), b"new");
        assert_eq!(text(&[1, 6]), None);
        assert_eq!(text(&[2]), None);
        assert_eq!(text(&[3]).unwrap(), b"old");
        let mut keys = Vec::new();
        let mut collect = |key: &[u8]| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        };
        state.visit_keys(&[], &mut collect).unwrap();
        assert_eq!(keys, [vec![3], vec![1, 5]]);
    }
}
