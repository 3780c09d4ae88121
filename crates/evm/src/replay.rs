//! Replays of valid blocks, one transaction at a time.

use std::sync::Arc;

use rhizome_primitives::{Address, Block, ChainSpec};
use rhizome_trie::StateReader;

use crate::block::{BlockExecutor, CarriedTotals};
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::hash_maps::HashSet;
use crate::state::{Checkpoint, State};
use crate::sublists::{Sublist, sublists};
use crate::tracing::{Inspected, Inspection};
use crate::transaction::{SublistState, TransactionOutcome};

/// The inputs of a replay.
#[derive(Clone, Copy)]
pub struct ReplayedBlock<'e> {
    /// The chain.
    pub spec: &'e ChainSpec,
    /// The block.
    pub block: &'e Block,
    /// One sender for each transaction, zero for REMASC.
    pub senders: &'e [Address],
    /// The ancestors of the block.
    pub ancestry: &'e dyn Ancestry,
}

/// A replay of a block, positioned before one of its transactions.
pub struct BlockReplay<'e> {
    executor: BlockExecutor<'e>,
    block: &'e Block,
    senders: &'e [Address],
    sublists: Vec<Sublist>,
    position: ReplayPosition,
}

/// The position of the next transaction, beside the totals of the executor.
#[derive(Debug, Clone, Default)]
struct ReplayPosition {
    /// Index of the next transaction.
    next: usize,
    /// Number of logs of earlier transactions.
    logs: usize,
    /// Number of sublists that have started. The next transaction is in the last of them or starts the next.
    sublists: usize,
    sublist_state: SublistState,
    /// Accounts deleted by earlier sublists. Only the sequential sublist receives them.
    deleted: HashSet<Address>,
}

impl<'e> BlockReplay<'e> {
    /// Creates a replay before the first transaction. `reader` has the state of the parent block.
    pub fn new(
        replayed: ReplayedBlock<'e>,
        reader: Arc<dyn StateReader>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, ancestry, .. } = replayed;
        let executor = BlockExecutor::new(spec, BlockEnv::from_header(&block.header), reader, ancestry)?;
        BlockReplay::at_position(replayed, executor, ReplayPosition::default(), deadline)
    }

    fn resume(
        replayed: ReplayedBlock<'e>,
        state: State,
        carried: CarriedTotals,
        position: ReplayPosition,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, ancestry, .. } = replayed;
        let executor = BlockExecutor::resume(spec, BlockEnv::from_header(&block.header), state, ancestry, carried);
        BlockReplay::at_position(replayed, executor, position, deadline)
    }

    fn at_position(
        replayed: ReplayedBlock<'e>,
        executor: BlockExecutor<'e>,
        position: ReplayPosition,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayedBlock { spec, block, senders, .. } = replayed;
        if senders.len() != block.transactions.len() {
            return Err(ExecError::Senders { senders: senders.len(), transactions: block.transactions.len() });
        }
        let executor = executor.with_deadline(deadline.clone());
        Ok(BlockReplay { executor, block, senders, sublists: sublists(spec, block)?, position })
    }

    /// Executes the next transaction. Returns `None` after the last transaction.
    pub fn step(&mut self, inspection: Inspection<'_>) -> Result<Option<Inspected<TransactionOutcome>>, ExecError> {
        let index = self.position.next;
        let (Some(transaction), Some(sender)) = (self.block.transactions.get(index), self.senders.get(index)) else {
            return Ok(None);
        };
        if !self.position.enter_sublist(&self.sublists) {
            return Ok(None);
        }
        let (sublist_state, is_remasc) = (&mut self.position.sublist_state, self.block.is_remasc(index));
        let inspected = self.executor.inspect_in(transaction, *sender, is_remasc, sublist_state, inspection)?;
        self.position.next += 1;
        self.position.logs += inspected.outcome.logs.len();
        Ok(Some(inspected))
    }

    /// Executes the transactions before `index`.
    pub fn advance_to(&mut self, index: usize) -> Result<(), ExecError> {
        while self.position.next < index && self.step(Inspection::default())?.is_some() {}
        Ok(())
    }

    /// Returns the state after the executed transactions, without the replay.
    pub fn into_state(self) -> State {
        let mut state = self.executor.into_state();
        state.settle();
        state
    }

    /// Returns the state after the executed transactions.
    pub fn state(&mut self) -> &mut State {
        self.executor.state()
    }

    /// Returns the number of logs of the executed transactions.
    pub fn log_count(&self) -> usize {
        self.position.logs
    }
}

impl ReplayPosition {
    /// Enters the sublist of the next transaction. Returns false if it is in no sublist.
    fn enter_sublist(&mut self, sublists: &[Sublist]) -> bool {
        let is_inside = |begun: usize| {
            let current = begun.checked_sub(1).and_then(|last| sublists.get(last));
            current.is_some_and(|sublist| sublist.range.contains(&self.next))
        };
        while !is_inside(self.sublists) {
            let Some(sublist) = sublists.get(self.sublists) else { return false };
            self.deleted.extend(std::mem::take(&mut self.sublist_state.deleted));
            let deleted = if sublist.is_parallel { HashSet::default() } else { std::mem::take(&mut self.deleted) };
            self.sublist_state = SublistState { gas_used: 0, gas_limit: sublist.gas_limit, deleted };
            self.sublists += 1;
        }
        true
    }
}

/// A replayed part of a block with the undo log of its transactions, so that a replay can branch off before each of them
/// without a second execution.
///
/// All calls must pass the same block, and readers of the same state.
pub struct ReplayLog {
    state: State,
    past: Vec<ReplayPoint>,
    /// The point after the last transaction of `past`.
    end: ReplayPoint,
}

/// The data of a [`BlockReplay`] before a transaction, beside the records of the state.
#[derive(Clone)]
struct ReplayPoint {
    checkpoint: Checkpoint,
    carried: CarriedTotals,
    position: ReplayPosition,
}

impl ReplayLog {
    /// Creates a log before the first transaction. `reader` has the state of the parent block; the log holds it.
    pub fn new(replayed: ReplayedBlock<'_>, reader: Arc<dyn StateReader>) -> Result<ReplayLog, ExecError> {
        let mut replay = BlockReplay::new(replayed, reader, &Deadline::none())?;
        replay.executor.state().start_recording();
        let end = replay.point();
        Ok(ReplayLog { state: replay.executor.into_state(), past: Vec::new(), end })
    }

    /// Returns the number of executed transactions.
    pub fn reached(&self) -> usize {
        self.past.len()
    }

    /// Executes the transactions before `index` that were not executed yet. An error keeps the transactions executed
    /// before it. `reader` is released at the end.
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
        let ReplayPoint { carried, position, .. } = self.end.clone();
        let mut replay = BlockReplay::resume(replayed, state, carried, position, deadline)?;
        let mut result = Ok(());
        while self.reached() < index {
            match replay.step(Inspection::default()) {
                Ok(Some(_)) => self.past.push(std::mem::replace(&mut self.end, replay.point())),
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

    /// Returns a replay positioned before the transaction at `index`, or at the end of this log if that is earlier.
    pub fn branch<'e>(
        &self,
        index: usize,
        replayed: ReplayedBlock<'e>,
        reader: Arc<dyn StateReader>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, ExecError> {
        let ReplayPoint { checkpoint, carried, position } = self.past.get(index).unwrap_or(&self.end);
        let state = self.state.at(*checkpoint, reader);
        BlockReplay::resume(replayed, state, *carried, position.clone(), deadline)
    }

    /// Returns the approximate memory in bytes.
    pub fn memory_size(&self) -> usize {
        let deleted =
            |point: &ReplayPoint| point.position.deleted.capacity() + point.position.sublist_state.deleted.capacity();
        let addresses: usize = self.past.iter().map(deleted).sum();
        self.state.memory_size() + self.past.capacity() * size_of::<ReplayPoint>() + addresses * size_of::<Address>()
    }
}

impl BlockReplay<'_> {
    fn point(&mut self) -> ReplayPoint {
        let checkpoint = self.executor.state().checkpoint();
        ReplayPoint { checkpoint, carried: self.executor.carried(), position: self.position.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rhizome_primitives::{Header, Transaction, hex};
    use rhizome_trie::StateDelta;

    use super::*;
    use crate::fixtures::{NoAncestors, contract, rich, signed, world};

    /// Adds one to slot 0 and emits a log.
    const COUNT: [u8; 14] = hex!("60016000540160005560006000a0");
    /// Sets or clears slot 0.
    const TOGGLE: [u8; 7] = hex!("60005415600055");
    /// Counts in transient storage and stores the count in slot 0.
    const TRANSIENT: [u8; 13] = hex!("60005c60010180 60005d 600055");
    /// Writes a slot and halts.
    const FAIL: [u8; 6] = hex!("6001600055fe");
    /// Creates a contract that destroys itself when called, always at the same address, and stores the address in slot 0.
    const FACTORY: [u8; 27] = hex!("6a6133ff6000526002601ef3 600052 6000600b60156000f5 600055");
    /// Calls the contract in slot 0 of the factory, whose code this is a part of.
    const KILL: [u8; 17] = hex!("600060006000600060006000545af1 50 00");
    /// Loops until out of gas.
    const SPIN: [u8; 4] = hex!("5b600056");

    struct World {
        spec: ChainSpec,
        block: Block,
        senders: Vec<Address>,
        reader: Arc<dyn StateReader>,
    }

    impl World {
        fn new(edges: &[i16], calls: &[Transaction]) -> World {
            let spec = ChainSpec::regtest();
            let mut header = Header::new(1, &spec);
            header.gas_limit = hex!("989680").to_vec().into();
            header.edges = Some(edges.to_vec());
            let mut senders = vec![rich(); calls.len()];
            senders.push(Address::ZERO);
            let transactions = calls.iter().cloned().chain([Transaction::remasc(1)]).collect();
            let code: [(Address, &[u8]); 6] = [
                (contract(1), &COUNT),
                (contract(2), &TOGGLE),
                (contract(3), &TRANSIENT),
                (contract(4), &FAIL),
                (contract(5), &factory_and_kill()),
                (contract(6), &SPIN),
            ];
            World { spec, block: Block { header, transactions, uncles: Vec::new() }, senders, reader: world(&code) }
        }

        fn replayed(&self) -> ReplayedBlock<'_> {
            ReplayedBlock { spec: &self.spec, block: &self.block, senders: &self.senders, ancestry: &NoAncestors }
        }

        fn log(&self) -> ReplayLog {
            ReplayLog::new(self.replayed(), Arc::clone(&self.reader)).unwrap()
        }

        fn advance(&self, log: &mut ReplayLog, index: usize) -> Result<(), ExecError> {
            log.advance_to(index, self.replayed(), Arc::clone(&self.reader), &Deadline::none())
        }

        /// Replays from the start of the block.
        fn replayed_from_start(&self, index: usize) -> Replayed {
            let mut replay = BlockReplay::new(self.replayed(), Arc::clone(&self.reader), &Deadline::none()).unwrap();
            replay.advance_to(index).unwrap();
            replay_next(replay)
        }

        fn branched(&self, log: &ReplayLog, index: usize) -> Replayed {
            replay_next(log.branch(index, self.replayed(), Arc::clone(&self.reader), &Deadline::none()).unwrap())
        }
    }

    /// Code that runs the factory if there is call data, and otherwise calls the contract that it created.
    fn factory_and_kill() -> Vec<u8> {
        let jump = [&hex!("36601757")[..], &KILL, &hex!("0000"), &hex!("5b"), &FACTORY].concat();
        assert_eq!(jump[0x17], 0x5b);
        jump
    }

    type Replayed = (usize, String, StateDelta);

    fn replay_next(mut replay: BlockReplay<'_>) -> Replayed {
        let logs = replay.log_count();
        let inspection = Inspection { inspector: None, changes_limit: Some(1 << 20) };
        let inspected = replay.step(inspection).unwrap();
        (logs, format!("{inspected:?}"), replay.executor.into_state().into_delta())
    }

    /// Returns a block with creations, deletions, transient storage and failures.
    fn busy_world() -> World {
        let mut calls = Vec::new();
        for round in 0..3_u8 {
            for (byte, data) in [(5, &[1][..]), (1, &[]), (5, &[]), (2, &[]), (3, &[]), (4, &[]), (5, &[1]), (5, &[])] {
                calls.push(signed(calls.len() as u64, Some(contract(byte)), data, 150_000, u64::from(round)));
            }
            let init = hex!("6001600155 6000600160006001f0 6002601ef3");
            calls.push(signed(calls.len() as u64, None, &init, 200_000, 0));
        }
        World::new(&[4, 9, 11], &calls)
    }

    #[test]
    fn a_branch_equals_a_replay_from_the_start() {
        let world = busy_world();
        let last = world.block.transactions.len() - 1;
        let expected: Vec<Replayed> = (0..=last).map(|index| world.replayed_from_start(index)).collect();
        let killed = expected.iter().filter(|(_, text, _)| !text.contains("deleted: []")).count();
        assert!(killed == 3 && expected[last].0 == 3, "{killed} transactions delete, {} logs", expected[last].0);
        for step in [1, 5, 11, 27] {
            let mut log = world.log();
            for turn in 0..=last {
                let index = (turn * step + step / 2) % (last + 1);
                world.advance(&mut log, index).unwrap();
                assert!(log.reached() >= index);
                assert_eq!(world.branched(&log, index), expected[index], "transaction {index} in steps of {step}");
            }
        }
        // An index beyond the last transaction is cut to the end.
        let mut log = world.log();
        world.advance(&mut log, last + 5).unwrap();
        assert_eq!(log.reached(), last + 1);
        let (logs, text, _) = world.branched(&log, last + 5);
        assert_eq!((logs, text.as_str()), (3, "None"));
    }

    #[test]
    fn an_error_keeps_earlier_transactions() {
        let calls = [
            signed(0, Some(contract(1)), &[], 100_000, 0),
            signed(1, Some(contract(6)), &[], 5_000_000, 0),
            signed(2, Some(contract(1)), &[], 100_000, 0),
        ];
        let world = World::new(&[], &calls);
        let mut log = world.log();
        let flag = Arc::new(AtomicBool::new(true));
        let cancelled = Deadline::none().or_when(flag);
        let result = log.advance_to(3, world.replayed(), Arc::clone(&world.reader), &cancelled);
        assert!(matches!(result, Err(ExecError::DeadlineExceeded)));
        assert_eq!(log.reached(), 1);
        assert_eq!(world.branched(&log, 1), world.replayed_from_start(1));
        world.advance(&mut log, 3).unwrap();
        for index in [0, 2, 1, 3] {
            assert_eq!(world.branched(&log, index), world.replayed_from_start(index), "transaction {index}");
        }
    }

    #[test]
    fn the_memory_size_grows_with_executed_transactions() {
        let world = busy_world();
        let mut log = world.log();
        let mut before = log.memory_size();
        for index in [5, 15, 28] {
            world.advance(&mut log, index).unwrap();
            let bytes = log.memory_size();
            assert!(bytes > before + 1000 && bytes < 1 << 20, "{bytes} after {before}");
            before = bytes;
        }
    }

    #[test]
    fn a_transaction_sees_earlier_transactions() {
        let call = |nonce| signed(nonce, Some(contract(1)), &[], 100_000, 0);
        let world = World::new(&[1], &[call(0), call(1)]);
        let outcome = |index: usize| {
            let mut replay = BlockReplay::new(world.replayed(), Arc::clone(&world.reader), &Deadline::none()).unwrap();
            replay.advance_to(index).unwrap();
            replay.step(Inspection::default()).unwrap().map(|inspected| inspected.outcome)
        };
        assert!(outcome(0).unwrap().gas_used > outcome(1).unwrap().gas_used);
        assert_eq!(outcome(2).unwrap().gas_used, 0);
        assert!(outcome(3).is_none());
    }
}
