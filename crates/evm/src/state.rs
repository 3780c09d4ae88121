//! The state during execution: a flat map of accounts and cells over a reader, with an undo log.
//!
//! Nothing is written anywhere: [`State::into_delta`] says what changed in terms of trie keys.

mod access;
mod account;
mod account_id;
mod code;
mod delta;
mod journal;
mod operations;
mod queries;
mod transient;
mod weight;

use std::sync::Arc;

use crate::hash_maps::HashMap;
use rhizome_primitives::Address;
use rhizome_trie::{StateError, StateReader};

pub use access::{AccessKey, AccessKeys, AccessSet};
pub use account_id::AccountId;
pub use journal::Checkpoint;

pub(crate) use account::AccountIndex;
use account::{Account, Cell};
use journal::Undo;
use transient::Transient;

/// Accounts, code and storage as the executing block sees them.
///
/// Reads load lazily from the reader. Every change is in the undo log until [`State::settle`], so that a
/// [`Checkpoint`] taken before it can be reverted to.
pub struct State {
    reader: Arc<dyn StateReader>,
    accounts: Vec<Account>,
    cells: Vec<Cell>,
    index: HashMap<Address, AccountIndex>,
    remasc_sender: Option<AccountIndex>,
    transient: Transient,
    journal: Vec<Undo>,
    access: Option<Box<AccessSet>>,
    /// [`State::settle`] keeps the undo log.
    is_recording: bool,
}

impl State {
    /// The unchanged state behind a reader.
    pub fn new(reader: Arc<dyn StateReader>) -> State {
        State {
            reader,
            accounts: Vec::new(),
            cells: Vec::new(),
            index: HashMap::default(),
            remasc_sender: None,
            transient: Transient::default(),
            journal: Vec::new(),
            access: None,
            is_recording: false,
        }
    }

    /// The record of an account, made without reading anything.
    pub(crate) fn locate(&mut self, id: AccountId) -> AccountIndex {
        let next = AccountIndex::after(&self.accounts);
        let found = match id {
            AccountId::Address(address) => *self.index.entry(address).or_insert(next),
            AccountId::RemascSender => *self.remasc_sender.get_or_insert(next),
        };
        if found == next {
            self.accounts.push(Account::new(id));
        }
        found
    }
}

/// Shorthand of this module: the only thing that can fail is the reader.
type Read<T> = Result<T, StateError>;
