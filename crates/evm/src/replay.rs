//! A block that is known to be valid, executed once more, one transaction at a time.

use std::sync::Arc;

use rhizome_primitives::{Address, Block, ChainSpec};
use rhizome_trie::StateReader;

use crate::block::{BlockExecutor, Carried};
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::maps::HashSet;
use crate::observe::{Inspected, Inspection};
use crate::state::{Checkpoint, State};
use crate::sublists::{Sublist, sublists};
use crate::transaction::{Container, TransactionOutcome};

/// What is executed once more.
#[derive(Clone, Copy)]
pub struct ReplayedBlock<'e> {
    /// The rules.
    pub spec: &'e ChainSpec,
    /// The block.
    pub block: &'e Block,
    /// One for every transaction, zero for REMASC.
    pub senders: &'e [Address],
    /// The blocks below it.
    pub ancestry: &'e dyn Ancestry,
}

/// A block in execution.
pub struct BlockReplay<'e> {
    executor: BlockExecutor<'e>,
    block: &'e Block,
    senders: &'e [Address],
    sublists: Vec<Sublist>,
    position: Position,
}

/// Where the next transaction finds the block, beside what the executor knows.
#[derive(Debug, Clone, Default)]
struct Position {
    /// Its index.
    next: usize,
    /// Logs of those before.
    logs: usize,
    /// Sublists that have begun: it is in the last of them or begins another one.
    sublists: usize,
    container: Container,
    /// Accounts deleted by the sublists before; the parallel ones do not know of each other's.
    deleted: HashSet<Address>,
}

impl<'e> BlockReplay<'e> {
    /// Stands before the first transaction. `reader` shows the state of the parent block.
    pub fn new(
        replayed: ReplayedBlock<'e>,
        reader: Arc<dyn StateReader>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, ancestry, .. } = replayed;
        let executor = BlockExecutor::new(spec, BlockEnv::from_header(&block.header), reader, ancestry)?;
        BlockReplay::standing(replayed, executor, Position::default(), deadline)
    }

    fn resume(
        replayed: ReplayedBlock<'e>,
        state: State,
        carried: Carried,
        position: Position,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, ancestry, .. } = replayed;
        let executor = BlockExecutor::resume(spec, BlockEnv::from_header(&block.header), state, ancestry, carried);
        BlockReplay::standing(replayed, executor, position, deadline)
    }

    fn standing(
        replayed: ReplayedBlock<'e>,
        executor: BlockExecutor<'e>,
        position: Position,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, senders, .. } = replayed;
        if senders.len() != block.transactions.len() {
            return Err(ExecError::Senders { senders: senders.len(), transactions: block.transactions.len() });
        }
        let executor = executor.with_deadline(deadline.clone());
        Ok(BlockReplay { executor, block, senders, sublists: sublists(spec, block)?, position })
    }

    /// Executes the next transaction. None after the last one.
    pub fn step(&mut self, inspection: Inspection<'_>) -> Result<Option<Inspected<TransactionOutcome>>, ExecError> {
        let index = self.position.next;
        let (Some(transaction), Some(sender)) = (self.block.transactions.get(index), self.senders.get(index)) else {
            return Ok(None);
        };
        if !self.position.enter_sublist(&self.sublists) {
            return Ok(None);
        }
        let (container, is_remasc) = (&mut self.position.container, self.block.is_remasc(index));
        let inspected = self.executor.inspect_in(transaction, *sender, is_remasc, container, inspection)?;
        self.position.next += 1;
        self.position.logs += inspected.outcome.logs.len();
        Ok(Some(inspected))
    }

    /// Executes the transactions before the one at `index`.
    pub fn advance_to(&mut self, index: usize) -> Result<(), ExecError> {
        while self.position.next < index && self.step(Inspection::default())?.is_some() {}
        Ok(())
    }

    /// How many logs the transactions so far left.
    pub fn logs(&self) -> usize {
        self.position.logs
    }
}

impl Position {
    /// Begins sublists until the next transaction is in one. False if it is in none.
    fn enter_sublist(&mut self, sublists: &[Sublist]) -> bool {
        let is_inside = |begun: usize| {
            let current = begun.checked_sub(1).and_then(|last| sublists.get(last));
            current.is_some_and(|sublist| sublist.range.contains(&self.next))
        };
        while !is_inside(self.sublists) {
            let Some(sublist) = sublists.get(self.sublists) else { return false };
            self.deleted.extend(std::mem::take(&mut self.container.deleted));
            let deleted = if sublist.is_parallel { HashSet::default() } else { std::mem::take(&mut self.deleted) };
            self.container = Container { gas_used: 0, gas_limit: sublist.gas_limit, deleted };
            self.sublists += 1;
        }
        true
    }
}

/// A block that was replayed up to some transaction, with the way back to every one before: what is executed here once
/// need not be again, whichever transaction is wanted next.
///
/// Whoever calls always passes the same block and readers of the same state.
pub struct ReplayLog {
    state: State,
    past: Vec<Station>,
    /// After the last of the past.
    end: Station,
}

/// What [`BlockReplay`] needs to stand before a transaction, beside the records of the state.
#[derive(Clone)]
struct Station {
    checkpoint: Checkpoint,
    carried: Carried,
    position: Position,
}

impl ReplayLog {
    /// Stands before the first transaction. `reader` shows the state of the parent block. It is held as long as the log.
    pub fn new(replayed: ReplayedBlock<'_>, reader: Arc<dyn StateReader>) -> Result<ReplayLog, ExecError> {
        let mut replay = BlockReplay::new(replayed, reader, &Deadline::none())?;
        replay.executor.state().start_recording();
        let end = replay.station();
        Ok(ReplayLog { state: replay.executor.into_state(), past: Vec::new(), end })
    }

    /// How many transactions have been executed.
    pub fn reached(&self) -> usize {
        self.past.len()
    }

    /// Executes the transactions before the one at `index`, if they were not yet. What was executed before an error stays.
    /// `reader` is let go.
    pub fn advance_to(
        &mut self,
        index: usize,
        replayed: ReplayedBlock<'_>,
        reader: Arc<dyn StateReader>,
        deadline: &Deadline,
    ) -> Result<(), ExecError> {
        if self.reached() >= index {
            return Ok(());
        }
        let own_reader = self.state.replace_reader(reader);
        let state = std::mem::replace(&mut self.state, State::new(Arc::clone(&own_reader)));
        let Station { carried, position, .. } = self.end.clone();
        let mut replay = BlockReplay::resume(replayed, state, carried, position, deadline)?;
        let mut result = Ok(());
        while self.reached() < index {
            match replay.step(Inspection::default()) {
                Ok(Some(_)) => self.past.push(std::mem::replace(&mut self.end, replay.station())),
                Ok(None) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.state = replay.executor.into_state();
        self.state.replace_reader(own_reader);
        result
    }

    /// A replay that stands before the transaction at `index`, or where this one is if that comes earlier.
    pub fn branch<'e>(
        &self,
        index: usize,
        replayed: ReplayedBlock<'e>,
        reader: Arc<dyn StateReader>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let Station { checkpoint, carried, position } = self.past.get(index).unwrap_or(&self.end);
        let state = self.state.at(*checkpoint, reader);
        BlockReplay::resume(replayed, state, *carried, position.clone(), deadline)
    }

    /// About how many bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        let deleted = |station: &Station| station.position.deleted.capacity() + station.position.container.deleted.capacity();
        let addresses: usize = self.past.iter().map(deleted).sum();
        self.state.bytes() + self.past.capacity() * size_of::<Station>() + addresses * size_of::<Address>()
    }
}

impl BlockReplay<'_> {
    fn station(&mut self) -> Station {
        let checkpoint = self.executor.state().checkpoint();
        Station { checkpoint, carried: self.executor.carried(), position: self.position.clone() }
    }
}
