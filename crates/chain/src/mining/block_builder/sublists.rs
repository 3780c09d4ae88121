//! Divides the transactions of a block into sublists that can run at the same time (RSKIP-144).
//!
//! Transactions are executed one after another. The accessed keys of a transaction decide its sublist: the sublist that it depends
//! on, otherwise the emptiest. A transaction that depends on two parallel sublists goes into the sequential one, which runs last.

use std::collections::{BTreeSet, HashMap};

use rhizome_evm::state::AccessKey;
use rhizome_evm::{AccessSet, BlockExecutor, ExecError, SublistState};
use rhizome_primitives::{Address, ChainSpec, Receipt, SublistGasLimits, Transaction, U256};

use super::layout::Placement;
use crate::txpool::PooledTransaction;

/// Transactions before REMASC.
const MAX_TRANSACTIONS: usize = i16::MAX as usize;

/// The sublists under construction.
pub(super) struct Sublists {
    /// The parallel sublists, then the sequential one.
    lists: Vec<SublistUsage>,
    /// Sublist of each transaction, in the order of execution.
    assigned: Vec<usize>,
    senders: HashMap<Address, usize>,
    written: HashMap<AccessKey, usize>,
    read: HashMap<AccessKey, BTreeSet<usize>>,
    /// Holds the accounts deleted so far: a transaction that touches one goes into the sublist that deleted it.
    container: SublistState,
}

#[derive(Default)]
struct SublistUsage {
    gas_limit: u64,
    gas_used: u64,
    count: usize,
}

impl SublistUsage {
    fn has_room(&self, gas: u64) -> bool {
        self.gas_used.checked_add(gas).is_some_and(|sum| sum <= self.gas_limit)
    }
}

impl Sublists {
    pub(super) fn new(spec: &ChainSpec, block_gas_limit: U256) -> Self {
        let limits = SublistGasLimits::of(spec, block_gas_limit);
        let sublist =
            |gas_limit: U256| SublistUsage { gas_limit: gas_limit.saturating_to(), ..SublistUsage::default() };
        let mut lists: Vec<SublistUsage> =
            (0..spec.constants.parallel_sublists).map(|_index| sublist(limits.parallel)).collect();
        lists.push(sublist(limits.sequential));
        Self {
            lists,
            assigned: Vec::new(),
            senders: HashMap::new(),
            written: HashMap::new(),
            read: HashMap::new(),
            container: SublistState { gas_limit: limits.largest().saturating_to(), ..SublistState::default() },
        }
    }

    pub(super) fn gas_left(&self) -> u64 {
        // Edges are 16-bit numbers, and REMASC follows.
        if self.assigned.len() >= MAX_TRANSACTIONS {
            return 0;
        }
        let left = self.lists.iter().map(|list| list.gas_limit.saturating_sub(list.gas_used));
        left.max().unwrap_or_default()
    }

    pub(super) fn execute(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        candidate: &PooledTransaction,
    ) -> Result<Placement, ExecError> {
        // The room is checked afterwards, when the sublist is known.
        self.container.gas_used = 0;
        let deleted_before = self.container.deleted.clone();
        let (outcome, access) =
            executor.execute_tracked(&candidate.transaction, candidate.sender, false, &mut self.container)?;
        let gas_limit = candidate.transaction.gas_limit().saturating_to();
        let sublist = if outcome.calls_sequential_contract {
            self.sequential()
        } else {
            self.choose(&candidate.sender, &access, gas_limit)
        };
        let Some(sublist) = self.with_room(sublist, gas_limit) else {
            executor.undo_last();
            self.container.deleted = deleted_before;
            return Ok(Placement::NoRoom);
        };
        self.enter(sublist, candidate.sender, &access, outcome.gas_used);
        Ok(Placement::Placed)
    }

    pub(super) fn execute_remasc(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        remasc: &Transaction,
    ) -> Result<(), ExecError> {
        self.container.gas_used = 0;
        let outcome = executor.execute_in(remasc, Address::ZERO, true, &mut self.container)?;
        self.count(self.sequential(), outcome.gas_used);
        Ok(())
    }

    fn sequential(&self) -> usize {
        self.lists.len().saturating_sub(1)
    }

    /// Returns the sublist that a transaction depends on. Without one, the emptiest sublist that has room.
    fn choose(&self, sender: &Address, access: &AccessSet, gas_limit: u64) -> usize {
        let sequential = self.sequential();
        let mut needed: BTreeSet<usize> = self.senders.get(sender).copied().into_iter().collect();
        needed.extend(access.reads().iter().chain(access.writes()).filter_map(|key| self.written.get(key)));
        // Readers in the sequential sublist count too: a parallel write would come before them.
        needed.extend(access.writes().iter().filter_map(|key| self.read.get(key)).flatten());
        let mut needed = needed.into_iter();
        match (needed.next(), needed.next()) {
            (Some(only), None) => only,
            (Some(_), Some(_)) => sequential,
            (None, _) => self.emptiest(gas_limit).unwrap_or(sequential),
        }
    }

    /// Returns the parallel sublist with the least gas used among the sublists that have room.
    fn emptiest(&self, gas_limit: u64) -> Option<usize> {
        let parallel = self.lists.iter().enumerate().take(self.sequential());
        let with_room = parallel.filter(|(_, list)| list.has_room(gas_limit));
        with_room.min_by_key(|(_, list)| list.gas_used).map(|(index, _)| index)
    }

    /// Returns the sublist, or the sequential one if it is full. `None` if both are full.
    fn with_room(&self, sublist: usize, gas_limit: u64) -> Option<usize> {
        [sublist, self.sequential()]
            .into_iter()
            .find(|sublist| self.lists.get(*sublist).is_some_and(|list| list.has_room(gas_limit)))
    }

    fn enter(&mut self, sublist: usize, sender: Address, access: &AccessSet, gas_used: u64) {
        self.count(sublist, gas_used);
        if sublist == self.sequential() {
            self.senders.insert(sender, sublist);
        } else {
            self.senders.entry(sender).or_insert(sublist);
        }
        for key in access.reads() {
            self.read.entry(*key).or_default().insert(sublist);
        }
        self.written.extend(access.writes().iter().map(|key| (*key, sublist)));
    }

    fn count(&mut self, sublist: usize, gas_used: u64) {
        self.assigned.push(sublist);
        if let Some(list) = self.lists.get_mut(sublist) {
            list.gas_used = list.gas_used.saturating_add(gas_used);
            list.count += 1;
        }
    }

    /// Returns the running counts of the parallel sublists that are not empty.
    pub(super) fn edges(&self) -> Vec<i16> {
        let parallel = self.lists.iter().take(self.sequential()).filter(|list| list.count > 0);
        let ends = parallel.scan(0_usize, |end, list| {
            *end = end.saturating_add(list.count);
            Some(*end)
        });
        ends.filter_map(|end| i16::try_from(end).ok()).collect()
    }

    /// Sorts by sublist, and counts the cumulative gas again in each.
    pub(super) fn arrange(
        &self,
        transactions: &mut Vec<Transaction>,
        senders: &mut Vec<Address>,
        receipts: &mut Vec<Receipt>,
    ) {
        reorder(transactions, &self.assigned);
        reorder(senders, &self.assigned);
        reorder(receipts, &self.assigned);
        let mut sublists = self.assigned.clone();
        sublists.sort_unstable();
        let mut cumulative = 0;
        let mut current = None;
        for (receipt, sublist) in receipts.iter_mut().zip(sublists) {
            if current.replace(sublist) != Some(sublist) {
                cumulative = 0;
            }
            cumulative = receipt.gas_used.saturating_add(cumulative);
            receipt.cumulative_gas = cumulative;
        }
    }
}

/// Sorts items by their sublist. Items of one sublist keep their order.
fn reorder<T>(items: &mut Vec<T>, sublists: &[usize]) {
    let mut assigned: Vec<(usize, T)> = sublists.iter().copied().zip(items.drain(..)).collect();
    assigned.sort_by_key(|(sublist, _)| *sublist);
    items.extend(assigned.into_iter().map(|(_, item)| item));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_grouped_by_sublist() {
        let mut items = vec!['a', 'b', 'c', 'd', 'e'];
        reorder(&mut items, &[1, 0, 2, 0, 1]);
        assert_eq!(items, ['b', 'd', 'a', 'e', 'c']);
    }

    #[test]
    fn edges_skip_empty_sublists() {
        let mut lists = Sublists::new(&ChainSpec::regtest(), U256::from(10_000_000));
        assert_eq!(lists.edges(), [0_i16; 0]);
        lists.count(1, 21_000);
        lists.count(1, 21_000);
        assert_eq!(lists.edges(), [2]);
        lists.count(0, 21_000);
        lists.count(2, 0);
        assert_eq!(lists.edges(), [1, 3]);
    }
}
