//! Rows of the column `calls`: accounts of the inner calls of a block.

use std::collections::BTreeMap;

use rhizome_primitives::Address;

const ADDRESS_BYTES: usize = 20;

/// Accounts of the inner calls of a block, by index of the transaction. Transactions without inner calls are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InnerAccounts(BTreeMap<u32, Vec<Address>>);

impl InnerAccounts {
    /// Creates the row of a block whose transactions have these accounts, in block order.
    pub fn of(transactions: Vec<Vec<Address>>) -> Self {
        Self((0..).zip(transactions).filter(|(_, accounts)| !accounts.is_empty()).collect())
    }

    /// Returns the accounts of a transaction.
    pub fn of_transaction(&self, index: u32) -> &[Address] {
        self.0.get(&index).map_or(&[], Vec::as_slice)
    }

    /// Returns the index of the first transaction whose accounts differ.
    pub fn first_difference(&self, other: &Self) -> Option<u32> {
        let indexes = self.0.keys().chain(other.0.keys());
        indexes.copied().filter(|index| self.0.get(index) != other.0.get(index)).min()
    }

    /// Encodes the row: index, number of accounts and accounts of each transaction.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = Vec::new();
        for (index, accounts) in &self.0 {
            row.extend_from_slice(&index.to_be_bytes());
            row.extend_from_slice(&u32::try_from(accounts.len()).unwrap_or(u32::MAX).to_be_bytes());
            accounts.iter().for_each(|account| row.extend_from_slice(account.as_slice()));
        }
        row
    }

    /// Decodes a row; `None` if it is malformed.
    pub(crate) fn decode(mut row: &[u8]) -> Option<Self> {
        let mut transactions = BTreeMap::new();
        while !row.is_empty() {
            let index = take_number(&mut row)?;
            let count = usize::try_from(take_number(&mut row)?).ok()?;
            let (accounts, rest) = row.split_at_checked(count.checked_mul(ADDRESS_BYTES)?)?;
            row = rest;
            let (accounts, []) = accounts.as_chunks::<ADDRESS_BYTES>() else { return None };
            transactions.insert(index, accounts.iter().map(|account| Address::from(*account)).collect());
        }
        Some(Self(transactions))
    }
}

fn take_number(row: &mut &[u8]) -> Option<u32> {
    let (number, rest) = row.split_first_chunk()?;
    *row = rest;
    Some(u32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let [one, two] = [1, 2].map(Address::repeat_byte);
        let accounts = InnerAccounts::of(vec![vec![one, two], Vec::new(), vec![two]]);
        let row = accounts.encode();
        assert_eq!(row.len(), 2 * 8 + 3 * 20);
        assert_eq!(InnerAccounts::decode(&row).unwrap(), accounts);
        assert_eq!(accounts.of_transaction(0), [one, two]);
        assert!(accounts.of_transaction(1).is_empty());
        assert_eq!(InnerAccounts::decode(&[]).unwrap(), InnerAccounts::default());
        for length in 1..row.len() {
            // The row of the first transaction alone is a row.
            assert_eq!(InnerAccounts::decode(&row[..length]).is_some(), length == 48, "{length}");
        }
    }

    #[test]
    fn differences_are_found_on_both_sides() {
        let accounts = |first: u8| InnerAccounts::of(vec![Vec::new(), vec![Address::repeat_byte(first)]]);
        assert_eq!(accounts(1).first_difference(&accounts(1)), None);
        assert_eq!(accounts(1).first_difference(&accounts(2)), Some(1));
        assert_eq!(InnerAccounts::default().first_difference(&accounts(1)), Some(1));
        assert_eq!(accounts(1).first_difference(&InnerAccounts::default()), Some(1));
    }
}
