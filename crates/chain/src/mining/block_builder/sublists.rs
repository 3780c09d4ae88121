//! Dividing the transactions of a block into sublists that can run at the same time (RSKIP-144).
//!
//! Transactions are executed one after another. What each one touched decides where it goes: beside what it depends on,
//! or where most room is. One that depends on two parallel sublists goes into the sequential one, which runs last.

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
    /// The parallel ones; the last one is the sequential one.
    lists: Vec<SublistUsage>,
    /// SublistUsage of each transaction, in the order of execution.
    places: Vec<usize>,
    senders: HashMap<Address, usize>,
    written: HashMap<AccessKey, usize>,
    read: HashMap<AccessKey, BTreeSet<usize>>,
    /// Accounts deleted so far, by any sublist: who touches one of them goes where it was deleted.
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
            places: Vec::new(),
            senders: HashMap::new(),
            written: HashMap::new(),
            read: HashMap::new(),
            container: SublistState { gas_limit: limits.largest().saturating_to(), ..SublistState::default() },
        }
    }

    pub(super) fn gas_left(&self) -> u64 {
        // Edges are 16-bit numbers, and REMASC is still to come.
        if self.places.len() >= MAX_TRANSACTIONS {
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
        // Room is judged afterwards, when it is known where the transaction goes.
        self.container.gas_used = 0;
        let deleted_before = self.container.deleted.clone();
        let (outcome, access) =
            executor.execute_tracked(&candidate.transaction, candidate.sender, false, &mut self.container)?;
        let gas_limit = candidate.transaction.gas_limit().saturating_to();
        let place = if outcome.calls_sequential_contract {
            self.sequential()
        } else {
            self.choose(&candidate.sender, &access, gas_limit)
        };
        let Some(place) = self.with_room(place, gas_limit) else {
            executor.undo_last();
            self.container.deleted = deleted_before;
            return Ok(Placement::NoRoom);
        };
        self.enter(place, candidate.sender, &access, outcome.gas_used);
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

    /// The sublist that a transaction depends on; the emptiest one that has room when it depends on none.
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

    /// The parallel sublist with the least gas used among those that have room.
    fn emptiest(&self, gas_limit: u64) -> Option<usize> {
        let parallel = self.lists.iter().enumerate().take(self.sequential());
        let with_room = parallel.filter(|(_, list)| list.has_room(gas_limit));
        with_room.min_by_key(|(_, list)| list.gas_used).map(|(index, _)| index)
    }

    /// The sublist itself, or the sequential one if it is full; none when that is full too.
    fn with_room(&self, place: usize, gas_limit: u64) -> Option<usize> {
        [place, self.sequential()]
            .into_iter()
            .find(|place| self.lists.get(*place).is_some_and(|list| list.has_room(gas_limit)))
    }

    fn enter(&mut self, place: usize, sender: Address, access: &AccessSet, gas_used: u64) {
        self.count(place, gas_used);
        if place == self.sequential() {
            self.senders.insert(sender, place);
        } else {
            self.senders.entry(sender).or_insert(place);
        }
        for key in access.reads() {
            self.read.entry(*key).or_default().insert(place);
        }
        self.written.extend(access.writes().iter().map(|key| (*key, place)));
    }

    fn count(&mut self, place: usize, gas_used: u64) {
        self.places.push(place);
        if let Some(list) = self.lists.get_mut(place) {
            list.gas_used = list.gas_used.saturating_add(gas_used);
            list.count += 1;
        }
    }

    /// Running counts of the parallel sublists that are not empty.
    pub(super) fn edges(&self) -> Vec<i16> {
        let parallel = self.lists.iter().take(self.sequential()).filter(|list| list.count > 0);
        let ends = parallel.scan(0_usize, |end, list| {
            *end = end.saturating_add(list.count);
            Some(*end)
        });
        ends.filter_map(|end| i16::try_from(end).ok()).collect()
    }

    /// Orders by sublist, and counts gas anew in each.
    pub(super) fn arrange(
        &self,
        transactions: &mut Vec<Transaction>,
        senders: &mut Vec<Address>,
        receipts: &mut Vec<Receipt>,
    ) {
        reorder(transactions, &self.places);
        reorder(senders, &self.places);
        reorder(receipts, &self.places);
        let mut places = self.places.clone();
        places.sort_unstable();
        let mut cumulative = 0;
        let mut current = None;
        for (receipt, place) in receipts.iter_mut().zip(places) {
            if current.replace(place) != Some(place) {
                cumulative = 0;
            }
            cumulative = receipt.gas_used.saturating_add(cumulative);
            receipt.cumulative_gas = cumulative;
        }
    }
}

/// Sorts items by the place of each; those of one place keep their order.
fn reorder<T>(items: &mut Vec<T>, places: &[usize]) {
    let mut placed: Vec<(usize, T)> = places.iter().copied().zip(items.drain(..)).collect();
    placed.sort_by_key(|(place, _)| *place);
    items.extend(placed.into_iter().map(|(_, item)| item));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_grouped_by_place() {
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
