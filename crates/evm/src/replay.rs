//! A block that is known to be valid, executed once more, one transaction at a time.

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
    position: ReplayPosition,
}

/// Where the next transaction finds the block, beside what the executor knows.
#[derive(Debug, Clone, Default)]
struct ReplayPosition {
    /// Its index.
    next: usize,
    /// Logs of those before.
    logs: usize,
    /// Sublists that have begun: it is in the last of them or begins another one.
    sublists: usize,
    container: SublistState,
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
        BlockReplay::standing(replayed, executor, ReplayPosition::default(), deadline)
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
        BlockReplay::standing(replayed, executor, position, deadline)
    }

    fn standing(
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

impl ReplayPosition {
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
            self.container = SublistState { gas_used: 0, gas_limit: sublist.gas_limit, deleted };
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
    past: Vec<ReplayPoint>,
    /// After the last of the past.
    end: ReplayPoint,
}

/// What [`BlockReplay`] needs to stand before a transaction, beside the records of the state.
#[derive(Clone)]
struct ReplayPoint {
    checkpoint: Checkpoint,
    carried: CarriedTotals,
    position: ReplayPosition,
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
        let ReplayPoint { carried, position, .. } = self.end.clone();
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
        let ReplayPoint { checkpoint, carried, position } = self.past.get(index).unwrap_or(&self.end);
        let state = self.state.at(*checkpoint, reader);
        BlockReplay::resume(replayed, state, *carried, position.clone(), deadline)
    }

    /// About how many bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        let deleted =
            |station: &ReplayPoint| station.position.deleted.capacity() + station.position.container.deleted.capacity();
        let addresses: usize = self.past.iter().map(deleted).sum();
        self.state.memory_size() + self.past.capacity() * size_of::<ReplayPoint>() + addresses * size_of::<Address>()
    }
}

impl BlockReplay<'_> {
    fn station(&mut self) -> ReplayPoint {
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

    /// Adds one to cell 0 and logs.
    const COUNT: [u8; 14] = hex!("60016000540160005560006000a0");
    /// Sets or clears cell 0.
    const TOGGLE: [u8; 7] = hex!("60005415600055");
    /// Counts in transient storage and keeps the count in cell 0.
    const TRANSIENT: [u8; 13] = hex!("60005c60010180 60005d 600055");
    /// Writes a cell and halts.
    const FAIL: [u8; 6] = hex!("6001600055fe");
    /// Makes a contract that destroys itself when called, always at the same address, and keeps the address in cell 0.
    const FACTORY: [u8; 27] = hex!("6a6133ff6000526002601ef3 600052 6000600b60156000f5 600055");
    /// Calls the contract in cell 0 of the factory: here its own, as it is reached by DELEGATECALL.
    const KILL: [u8; 17] = hex!("600060006000600060006000545af1 50 00");
    /// Burns gas without end.
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
                (contract(5), &both()),
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

        /// What can be seen of a transaction that is executed by itself.
        fn by_itself(&self, index: usize) -> Seen {
            let mut replay = BlockReplay::new(self.replayed(), Arc::clone(&self.reader), &Deadline::none()).unwrap();
            replay.advance_to(index).unwrap();
            see(replay)
        }

        fn branched(&self, log: &ReplayLog, index: usize) -> Seen {
            see(log.branch(index, self.replayed(), Arc::clone(&self.reader), &Deadline::none()).unwrap())
        }
    }

    /// The factory if there is call data, else what kills its contract.
    fn both() -> Vec<u8> {
        let jump = [&hex!("36601757")[..], &KILL, &hex!("0000"), &hex!("5b"), &FACTORY].concat();
        assert_eq!(jump[0x17], 0x5b);
        jump
    }

    type Seen = (usize, String, StateDelta);

    fn see(mut replay: BlockReplay<'_>) -> Seen {
        let logs = replay.logs();
        let inspection = Inspection { inspector: None, changes_limit: Some(1 << 20) };
        let inspected = replay.step(inspection).unwrap();
        (logs, format!("{inspected:?}"), replay.executor.into_state().into_delta())
    }

    /// Everything that leaves more than values behind: creations, deletions, what lives for one transaction, failures.
    fn busy() -> World {
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
    fn a_branch_is_what_a_replay_from_the_start_is() {
        let world = busy();
        let last = world.block.transactions.len() - 1;
        let expected: Vec<Seen> = (0..=last).map(|index| world.by_itself(index)).collect();
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
        // Beyond the last transaction there is nothing.
        let mut log = world.log();
        world.advance(&mut log, last + 5).unwrap();
        assert_eq!(log.reached(), last + 1);
        let (logs, text, _) = world.branched(&log, last + 5);
        assert_eq!((logs, text.as_str()), (3, "None"));
    }

    #[test]
    fn what_was_executed_before_an_error_stays() {
        let calls = [
            signed(0, Some(contract(1)), &[], 100_000, 0),
            signed(1, Some(contract(6)), &[], 5_000_000, 0),
            signed(2, Some(contract(1)), &[], 100_000, 0),
        ];
        let world = World::new(&[], &calls);
        let mut log = world.log();
        let flag = Arc::new(AtomicBool::new(true));
        let hurried = Deadline::none().or_when(flag);
        let result = log.advance_to(3, world.replayed(), Arc::clone(&world.reader), &hurried);
        assert!(matches!(result, Err(ExecError::DeadlineExceeded)));
        assert_eq!(log.reached(), 1);
        assert_eq!(world.branched(&log, 1), world.by_itself(1));
        world.advance(&mut log, 3).unwrap();
        for index in [0, 2, 1, 3] {
            assert_eq!(world.branched(&log, index), world.by_itself(index), "transaction {index}");
        }
    }

    #[test]
    fn a_log_weighs_more_the_more_was_executed() {
        let world = busy();
        let mut log = world.log();
        let mut before = log.bytes();
        for index in [5, 15, 28] {
            world.advance(&mut log, index).unwrap();
            let bytes = log.bytes();
            assert!(bytes > before + 1000 && bytes < 1 << 20, "{bytes} after {before}");
            before = bytes;
        }
    }

    #[test]
    fn a_transaction_finds_those_before_it() {
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
