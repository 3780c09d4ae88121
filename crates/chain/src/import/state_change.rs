//! Changes of the state by hand, for development networks: balances, nonces, code and cells as a developer wants them.
//!
//! The state after the best block is replaced, its header is not. So the change is there at once, every reader and the next
//! block see it, it outlives a restart, and a way back to the block keeps it. The next block names the root that follows
//! from it: it can be verified here, where the change is stored, and is refused by every other node.

use std::sync::Arc;

use rhizome_evm::State;
use rhizome_primitives::B256;
use rhizome_storage::StateChange;
use rhizome_trie::{StateDelta, StateError, Trie, diff};

use crate::import::import_state::ImportState;
use crate::{Chain, ChainError, ChainEvent, HeadGuard};

impl Chain {
    /// Changes the state after the best block. Only for development networks; the caller has to look.
    pub fn change_state(&self, change: impl FnOnce(&mut State) -> Result<(), StateError>) -> Result<(), ChainError> {
        let HeadGuard { mut writer, .. } = self.lock_head();
        let mut state = State::new(self.head().state());
        change(&mut state)?;
        let delta = state.into_delta();
        if delta.is_empty() {
            return Ok(());
        }
        let mut trie = writer.trie().clone();
        trie.apply(&delta)?;
        self.replace_state(&mut writer, trie, &delta)
    }

    /// Puts a stored state in place of that of the best block, if that is the given one and has another state.
    pub(crate) fn restore_state(&self, writer: &mut ImportState, block: &B256, root: B256) -> Result<(), ChainError> {
        let head = self.head();
        if head.hash() != *block || head.record.state_root == root {
            return Ok(());
        }
        let trie = writer.trie_at(root);
        let flat = diff(writer.trie(), &trie)?;
        self.replace_state(writer, trie, &flat)
    }

    /// Root of the state that the transactions of a block led to, where it was changed by hand afterwards.
    pub fn original_state_root(&self, block: &B256) -> Result<Option<B256>, ChainError> {
        Ok(self.archive.store.original_state_root(block)?)
    }

    fn replace_state(&self, writer: &mut ImportState, mut trie: Trie, flat: &StateDelta) -> Result<(), ChainError> {
        let head = self.head();
        let state_root = trie.root_hash();
        let original = self.original_state_root(&head.hash())?.unwrap_or(head.record.state_root);
        let is_original = original == state_root;
        let nodes = trie.commit();
        let change = StateChange { head: head.hash(), state_root, is_original, nodes, flat };
        let generation = self.archive.store.write_state(change)?;
        writer.advance(trie, flat);
        let record = Arc::new(head.record.with_state_root(state_root));
        self.archive.replace_record(&record);
        let pool_head = self.publish_head(record, generation);
        for hash in self.pool().follow_state(pool_head) {
            self.emit(&ChainEvent::PendingTransaction { hash });
        }
        self.templates.lock().forget();
        Ok(())
    }
}
