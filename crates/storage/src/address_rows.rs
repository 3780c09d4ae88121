//! Rows of the address index that follow from a block: the transactions of each address that takes part in them.

use std::collections::BTreeMap;

use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, B256, DecodeError, Log, Receipt, Transaction, b256, rlp};

use crate::inner_accounts::InnerAccounts;

/// Length of a key: address, number of the block.
pub(crate) const KEY_BYTES: usize = 28;
const INDEX_BYTES: usize = 4;

/// `Transfer(address,address,uint256)` of ERC-20 and ERC-721: the topics are sender and receiver.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// `TransferSingle(address,address,address,uint256,uint256)` of ERC-1155: the topics are operator, sender and receiver.
const TRANSFER_SINGLE: B256 = b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62");
/// `TransferBatch(address,address,address,uint256[],uint256[])` of ERC-1155, with the same topics.
const TRANSFER_BATCH: B256 = b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");

/// Rows by key, in key order.
pub(crate) type AddressRows = BTreeMap<[u8; KEY_BYTES], Vec<u8>>;

/// Parts of a block that its rows follow from.
pub(crate) struct IndexedBlock<'a> {
    pub(crate) number: u64,
    /// Encoding of the block.
    pub(crate) raw: &'a [u8],
    /// Sender of each transaction, zero for REMASC.
    pub(crate) senders: &'a [Address],
    pub(crate) receipts: &'a [Receipt],
    /// Accounts of inner calls; empty if they are unknown.
    pub(crate) inner: &'a InnerAccounts,
}

impl IndexedBlock<'_> {
    /// Adds the rows of the block. The REMASC transaction has none: it is in every block.
    pub(crate) fn add_rows(&self, rows: &mut AddressRows) -> Result<(), DecodeError> {
        let [_, transactions, _] = rlp::decode_list(self.raw)?.exactly("block")?;
        let transactions = transactions.elements("transactions")?.zip(self.senders).zip(self.receipts);
        for (index, ((item, sender), receipt)) in (0..).zip(transactions) {
            if !sender.is_zero() {
                let own = addresses(&Transaction::from_item(&item?)?, sender, receipt);
                for address in own.iter().chain(self.inner.of_transaction(index)) {
                    push_index(rows.entry(key(address, self.number)).or_default(), index);
                }
            }
        }
        Ok(())
    }
}

/// Returns the key of a row.
pub(crate) fn key(address: &Address, number: u64) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    let (first, last) = key.split_at_mut(20);
    first.copy_from_slice(address.as_slice());
    last.copy_from_slice(&number.to_be_bytes());
    key
}

/// Returns the address of a row; `None` for a malformed key.
pub(crate) fn address(key: &[u8]) -> Option<Address> {
    (key.len() == KEY_BYTES).then(|| key.first_chunk().map(|address: &[u8; 20]| Address::from(*address)))?
}

/// Returns the number of the block of a row; `None` for a malformed key.
pub(crate) fn number(key: &[u8]) -> Option<u64> {
    (key.len() == KEY_BYTES).then(|| key.last_chunk().map(|number| u64::from_be_bytes(*number)))?
}

/// Decodes a row: the indexes of the transactions in the block, ascending.
pub(crate) fn indexes(row: &[u8]) -> Option<Vec<u32>> {
    let (indexes, []) = row.as_chunks::<INDEX_BYTES>() else { return None };
    Some(indexes.iter().map(|index| u32::from_be_bytes(*index)).collect())
}

/// Adds an index. A transaction adds its index once, right after those of the transactions before it.
fn push_index(row: &mut Vec<u8>, index: u32) {
    let index = index.to_be_bytes();
    if row.last_chunk() != Some(&index) {
        row.extend_from_slice(&index);
    }
}

/// Returns the addresses that take part in a transaction, some of them repeatedly: sender, recipient, created contract,
/// and holders that tokens move from or to.
fn addresses(transaction: &Transaction, sender: &Address, receipt: &Receipt) -> Vec<Address> {
    let mut addresses = vec![*sender];
    match transaction.to() {
        Some(to) => addresses.push(to),
        None if receipt.success => addresses.push(created_address(sender, &transaction.nonce())),
        None => {}
    }
    addresses.extend(receipt.logs.iter().flat_map(holders));
    addresses
}

/// Returns the holders that a log moves tokens from and to. New and destroyed tokens have one holder.
fn holders(log: &Log) -> Vec<Address> {
    let topics = match log.topics.as_slice() {
        [TRANSFER, from, to] | [TRANSFER, from, to, _] => [from, to],
        [TRANSFER_SINGLE | TRANSFER_BATCH, _operator, from, to] => [from, to],
        _ => return Vec::new(),
    };
    topics.into_iter().filter_map(address_of).collect()
}

/// Returns the address in a topic; `None` if it is zero, or if the topic is not an address.
fn address_of(topic: &B256) -> Option<Address> {
    let (padding, address) = topic.split_at(12);
    (padding == [0; 12]).then(|| Address::from_slice(address)).filter(|address| !address.is_zero())
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::keccak256;

    use super::*;

    #[test]
    fn topics_are_those_of_the_standards() {
        assert_eq!(TRANSFER, keccak256("Transfer(address,address,uint256)"));
        assert_eq!(TRANSFER_SINGLE, keccak256("TransferSingle(address,address,address,uint256,uint256)"));
        assert_eq!(TRANSFER_BATCH, keccak256("TransferBatch(address,address,address,uint256[],uint256[])"));
    }

    #[test]
    fn holders_are_in_the_topics_of_transfers() {
        let [operator, from, to] = [1, 2, 3].map(Address::repeat_byte);
        let topic = |address: Address| address.into_word();
        let holders = |topics: &[B256]| {
            super::holders(&Log { address: Address::ZERO, topics: topics.to_vec(), data: Default::default() })
        };
        assert_eq!(holders(&[TRANSFER, topic(from), topic(to)]), [from, to]);
        assert_eq!(holders(&[TRANSFER, topic(from), topic(to), B256::repeat_byte(9)]), [from, to]);
        assert_eq!(holders(&[TRANSFER_SINGLE, topic(operator), topic(from), topic(to)]), [from, to]);
        assert_eq!(holders(&[TRANSFER_BATCH, topic(operator), topic(from), topic(to)]), [from, to]);
        // New tokens.
        assert_eq!(holders(&[TRANSFER, topic(Address::ZERO), topic(to)]), [to]);
        // Not an address.
        assert_eq!(holders(&[TRANSFER, B256::repeat_byte(2), topic(to)]), [to]);
        // Holders that are not indexed by the contract.
        assert!(holders(&[TRANSFER]).is_empty());
        assert!(holders(&[]).is_empty());
    }

    #[test]
    fn rows_round_trip() {
        let mut row = Vec::new();
        [0, 7, 7, 70_000].into_iter().for_each(|index| push_index(&mut row, index));
        assert_eq!(indexes(&row).unwrap(), [0, 7, 70_000]);
        assert!(indexes(&row[1..]).is_none());
        let key = key(&Address::repeat_byte(5), 1 << 40);
        assert_eq!((address(&key), number(&key)), (Some(Address::repeat_byte(5)), Some(1 << 40)));
        assert!(address(&key[1..]).is_none() && number(&key[1..]).is_none());
    }
}
