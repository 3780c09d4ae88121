//! The execution of a whole block, with its parallel sublists (RSKIP-144).
//!
//! The sublists run one after another on the same state. The result equals a parallel execution: if one sublist touches a
//! trie key that another sublist has written, the block is invalid.

use std::ops::Range;
use std::sync::Arc;

use rhizome_primitives::{Address, B256, Block, ChainSpec, Header, SublistGasLimits, Transaction, U256};
use rhizome_trie::StateReader;

use crate::block::{BlockExecutor, BlockOutcome};
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::{ExecError, Unexecutable};
use crate::hash_maps::HashSet;
use crate::state::AccessSet;
use crate::transaction::{GAS_LIMIT_LIMIT, SublistState};

/// Executes a block on the state of its parent. `senders` has one address for each transaction, zero for REMASC.
pub fn execute_block(
    spec: &ChainSpec,
    block: &Block,
    senders: &[Address],
    reader: Arc<dyn StateReader>,
    ancestry: &dyn Ancestry,
    deadline: &Deadline,
) -> Result<BlockOutcome, ExecError> {
    execute_all(BlockRun::new(spec, block, senders, reader, ancestry, deadline)?)
}

/// Like [`execute_block`], with [`BlockOutcome::inner_accounts`].
pub fn execute_block_with_inner_accounts(
    spec: &ChainSpec,
    block: &Block,
    senders: &[Address],
    reader: Arc<dyn StateReader>,
    ancestry: &dyn Ancestry,
    deadline: &Deadline,
) -> Result<BlockOutcome, ExecError> {
    let mut run = BlockRun::new(spec, block, senders, reader, ancestry, deadline)?;
    run.executor.collect_inner_accounts();
    run.inner_accounts = Some(vec![Vec::new(); block.transactions.len()]);
    execute_all(run)
}

fn execute_all(mut run: BlockRun<'_>) -> Result<BlockOutcome, ExecError> {
    let (spec, block) = (run.spec, run.block);
    let mut accesses: Vec<AccessSet> = Vec::new();
    for sublist in sublists(spec, block)? {
        if !sublist.is_parallel {
            run.sublist(&sublist)?;
            continue;
        }
        run.executor.state().start_tracking();
        let result = run.sublist(&sublist);
        let access = run.executor.state().stop_tracking();
        result?;
        if accesses.iter().any(|earlier| earlier.conflicts_with(&access)) {
            return Err(ExecError::Conflict);
        }
        accesses.push(access);
    }
    let outcome = run.executor.finish()?;
    Ok(BlockOutcome { inner_accounts: run.inner_accounts, ..outcome })
}

/// Transactions that share a gas limit.
pub(crate) struct Sublist {
    pub(crate) range: Range<usize>,
    pub(crate) gas_limit: u64,
    pub(crate) is_parallel: bool,
}

/// Returns the sublists of a block in order, the sequential sublist last. Before RSKIP-144 it is the only one.
pub(crate) fn sublists(spec: &ChainSpec, block: &Block) -> Result<Vec<Sublist>, ExecError> {
    let transactions = block.transactions.len();
    let gas_limit = limit_of_transactions(&block.header);
    if !spec.rules(block.header.number).has_sublists() {
        return Ok(vec![Sublist { range: 0..transactions, gas_limit, is_parallel: false }]);
    }
    let limits = SublistGasLimits::of(spec, U256::from(gas_limit));
    let (parallel, sequential) = (limits.parallel.saturating_to(), limits.sequential.saturating_to());
    let mut sublists = Vec::new();
    let mut start = 0;
    for edge in block.header.edges.as_deref().unwrap_or_default() {
        let end = usize::try_from(*edge).ok().filter(|end| (start..=transactions).contains(end));
        let end = end.ok_or(ExecError::Edges { transactions })?;
        sublists.push(Sublist { range: start..end, gas_limit: parallel, is_parallel: true });
        start = end;
    }
    sublists.push(Sublist { range: start..transactions, gas_limit: sequential, is_parallel: false });
    Ok(sublists)
}

/// Returns the gas limit that transactions have to fit in. More than eight bytes are no limit to the reference, even if they are
/// leading zeros.
fn limit_of_transactions(header: &Header) -> u64 {
    if header.gas_limit.len() > size_of::<u64>() { GAS_LIMIT_LIMIT } else { header.gas_limit_value().saturating_to() }
}

/// A block in execution.
struct BlockRun<'e> {
    executor: BlockExecutor<'e>,
    spec: &'e ChainSpec,
    block: &'e Block,
    senders: &'e [Address],
    /// Accounts of inner calls of each transaction; `None` unless they are collected.
    inner_accounts: Option<Vec<Vec<Address>>>,
    /// Accounts deleted by earlier sublists. Only the sequential sublist receives them.
    deleted: HashSet<Address>,
}

impl<'e> BlockRun<'e> {
    fn new(
        spec: &'e ChainSpec,
        block: &'e Block,
        senders: &'e [Address],
        reader: Arc<dyn StateReader>,
        ancestry: &'e dyn Ancestry,
        deadline: &Deadline,
    ) -> Result<BlockRun<'e>, ExecError> {
        if senders.len() != block.transactions.len() {
            return Err(ExecError::Senders { senders: senders.len(), transactions: block.transactions.len() });
        }
        let env = BlockEnv::from_header(&block.header);
        let mut executor = BlockExecutor::new(spec, env, reader, ancestry)?.with_deadline(deadline.clone());
        let recipients = block.transactions.iter().filter_map(Transaction::to);
        executor.state().prepare_keys(senders.iter().copied().chain(recipients));
        Ok(BlockRun { executor, spec, block, senders, inner_accounts: None, deleted: HashSet::default() })
    }

    fn sublist(&mut self, sublist: &Sublist) -> Result<(), ExecError> {
        let deleted = if sublist.is_parallel { HashSet::default() } else { std::mem::take(&mut self.deleted) };
        let mut state = SublistState { gas_used: 0, gas_limit: sublist.gas_limit, deleted };
        let transactions = self.block.transactions.iter().zip(self.senders).enumerate();
        for (index, (transaction, sender)) in transactions.take(sublist.range.end).skip(sublist.range.start) {
            let is_remasc = self.block.is_remasc(index);
            // The reference starts the EVM with the gas limit as a word.
            if self.block.header.gas_limit.len() > B256::len_bytes() && self.runs_code(transaction)? {
                return Err(ExecError::Unexecutable { index, reason: Unexecutable::BlockGasLimit });
            }
            let outcome = self.executor.execute_in(transaction, *sender, is_remasc, &mut state)?;
            if let Some(inner) = self.inner_accounts.as_mut().and_then(|all| all.get_mut(index)) {
                *inner = self.executor.inner_accounts().unwrap_or_default();
            }
            // A call of the Bridge in a parallel sublist makes the block invalid, whatever its result.
            if sublist.is_parallel && outcome.calls_sequential_contract {
                return Err(ExecError::SequentialContract { index });
            }
        }
        self.deleted.extend(state.deleted);
        Ok(())
    }

    /// Whether a transaction starts the EVM.
    fn runs_code(&mut self, transaction: &Transaction) -> Result<bool, ExecError> {
        match transaction.to() {
            Some(to) => Ok(self.executor.state().code_length(to)? != 0),
            None => Ok(!transaction.data().is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{BRIDGE, I256, hex, keccak256};

    use super::*;
    use crate::fixtures::{NoAncestors, contract, rich, signed, world};

    /// Adds one to slot 0.
    const COUNT: [u8; 9] = hex!("600160005401600055");

    fn block(spec: &ChainSpec, edges: &[i16], transactions: Vec<Transaction>) -> Block {
        let mut header = Header::new(1, spec);
        header.gas_limit = hex!("989680").to_vec().into();
        header.edges = Some(edges.to_vec());
        Block { header, transactions, uncles: Vec::new() }
    }

    fn execute(edges: &[i16], transactions: Vec<Transaction>) -> Result<BlockOutcome, ExecError> {
        execute_under(&hex!("989680"), edges, transactions)
    }

    fn execute_under(
        gas_limit: &[u8],
        edges: &[i16],
        transactions: Vec<Transaction>,
    ) -> Result<BlockOutcome, ExecError> {
        let spec = ChainSpec::regtest();
        let mut block = block(&spec, edges, transactions);
        block.header.gas_limit = gas_limit.to_vec().into();
        let count = block.transactions.len();
        let mut senders = vec![rich(); count];
        senders[count - 1] = Address::ZERO;
        let reader = world(&[(contract(1), &COUNT), (contract(2), &COUNT)]);
        execute_block(&spec, &block, &senders, reader, &NoAncestors, &Deadline::none())
    }

    #[test]
    fn cumulative_gas_restarts_in_each_sublist() {
        let call = |nonce| signed(nonce, Some(contract(1)), &[], 100_000, 0);
        let outcome = execute(&[1], vec![call(0), call(1), Transaction::remasc(1)]).unwrap();
        let gas: Vec<_> = outcome.receipts.iter().map(|receipt| receipt.cumulative_gas).collect();
        assert_eq!(gas, [outcome.receipts[0].gas_used, outcome.receipts[1].gas_used, outcome.receipts[1].gas_used]);
        assert!(outcome.receipts[0].gas_used > outcome.receipts[1].gas_used);
    }

    #[test]
    fn long_gas_limits_are_none_and_stop_code_above_a_word() {
        let padded = |bytes: usize| [vec![0; bytes - 3], hex!("989680").to_vec()].concat();
        let with = |bytes: usize, to, gas| {
            let transactions = vec![signed(0, Some(to), &[], gas, 0), Transaction::remasc(1)];
            [&[1][..], &[]].map(|edges| execute_under(&padded(bytes), edges, transactions.clone()))
        };
        let above = 10_000_001;
        assert!(with(8, contract(1), 100_000).iter().all(Result::is_ok));
        assert!(with(8, contract(1), above).iter().all(Result::is_err));
        for bytes in [9, 32] {
            assert!(with(bytes, contract(1), above).iter().all(Result::is_ok), "{bytes}");
        }
        assert!(with(33, contract(9), above).iter().all(Result::is_ok));
        for result in with(33, contract(1), 100_000) {
            let reason = Unexecutable::BlockGasLimit;
            assert!(matches!(result, Err(ExecError::Unexecutable { index: 0, reason: found }) if found == reason));
        }
        let creation = vec![signed(0, None, &[0], 100_000, 0), Transaction::remasc(1)];
        assert!(execute_under(&padded(33), &[], creation).is_err());
    }

    #[test]
    fn rejects_conflicts_between_parallel_sublists() {
        let call = |nonce, to| signed(nonce, Some(to), &[], 100_000, 0);
        // Both transactions have the same sender.
        let transactions = vec![call(0, contract(1)), call(1, contract(2)), Transaction::remasc(1)];
        assert!(matches!(execute(&[1, 2], transactions.clone()), Err(ExecError::Conflict)));
        assert!(execute(&[2], transactions.clone()).is_ok());
        assert!(execute(&[], transactions.clone()).is_ok());
        assert!(matches!(execute(&[9], transactions.clone()), Err(ExecError::Edges { transactions: 3 })));
        assert!(matches!(execute(&[2, 1], transactions.clone()), Err(ExecError::Edges { .. })));
        assert!(matches!(execute(&[3], transactions), Err(ExecError::SequentialContract { index: 2 })));
    }

    #[test]
    fn a_creation_at_a_deleted_account_depends_on_the_deletion() {
        let spec = ChainSpec::regtest();
        let env = BlockEnv::from_header(&Header::new(1, &spec));
        // Contract 2 creates a contract of empty init code, at the address of a contract that destroys itself.
        let (factory, child) = (contract(2), contract(2).create2(B256::ZERO, keccak256([])));
        let reader = world(&[(child, &hex!("33ff")), (factory, &hex!("6000600060006000f500"))]);
        let mut executor = BlockExecutor::new(&spec, env, reader, &NoAncestors).unwrap();
        let other = Address::with_last_byte(0x77);
        executor.state().add_balance(other, I256::MAX).unwrap();
        let mut list = SublistState { gas_limit: 1_000_000, ..SublistState::default() };
        let mut accesses = |sender, to| {
            let call = signed(0, Some(to), &[], 100_000, 0);
            executor.execute_tracked(&call, sender, false, &mut list).unwrap().1
        };
        let deletion = accesses(rich(), child);
        assert!(deletion.conflicts_with(&accesses(other, factory)));
    }

    #[test]
    fn collects_the_accounts_of_inner_calls() {
        let spec = ChainSpec::regtest();
        // Calls identity, 0x..99, contract 2, which reverts after a call of 0x..98, and the Bridge.
        let caller = hex!(
            "6000600060006000600060045af150"
            "6000600060006000600060995af150"
            "60006000600060006000730202020202020202020202020202020202020202" "61fffff150"
            "6000600060006000600063010000065af100"
        );
        let reverting = hex!("6000600060006000600060985af15060006000fd");
        // Creates a contract of empty code, whose init code destroys it for 0x..97.
        let creator = hex!("626097ff6000526003601d6000f000");
        let contracts: [(Address, &[u8]); 3] =
            [(contract(1), &caller), (contract(2), &reverting), (contract(3), &creator)];
        let call = |nonce, to| signed(nonce, Some(to), &[], 1_000_000, 0);
        let block = block(&spec, &[], vec![call(0, contract(1)), call(1, contract(3)), Transaction::remasc(1)]);
        let senders = [rich(), rich(), Address::ZERO];
        let run = |collects: bool| {
            let execute = if collects { execute_block_with_inner_accounts } else { execute_block };
            execute(&spec, &block, &senders, world(&contracts), &NoAncestors, &Deadline::none()).unwrap()
        };
        let collected = run(true);
        let last = |byte: u8| Address::with_last_byte(byte);
        let created = rhizome_primitives::transaction::created_address(&contract(3), &U256::ZERO);
        let mut second = vec![created, last(0x97)];
        second.sort_unstable();
        let first = vec![last(0x98), last(0x99), BRIDGE, contract(2)];
        assert_eq!(collected.inner_accounts, Some(vec![first, second, Vec::new()]));
        let plain = run(false);
        assert_eq!(plain.inner_accounts, None);
        assert_eq!(plain.delta.writes, collected.delta.writes);
    }

    #[test]
    fn rejects_calls_of_the_bridge_in_parallel_sublists() {
        // Registers an empty Bitcoin transaction.
        let register = [&hex!("43dc0656")[..], &[0; 96]].concat();
        let direct = vec![signed(0, Some(BRIDGE), &register, 200_000, 0), Transaction::remasc(1)];
        assert!(execute(&[], direct.clone()).is_ok());
        assert!(matches!(execute(&[1], direct), Err(ExecError::SequentialContract { index: 0 })));
    }
}
