//! Encoding of the rows. All numbers are big-endian.

use rhizome_primitives::{Address, B256, Bloom, Bytes, Receipt, U256, rlp};

/// A block as stored.
#[derive(Debug, Clone)]
pub struct StoredBlock {
    /// Full encoding of the block.
    pub raw: Bytes,
    /// Total difficulty: the difficulties of this block, its ancestors and their uncles.
    pub total_difficulty: U256,
    /// State root after the block in the current trie format, also if the header has a root in the old format.
    pub state_root: B256,
    /// Sender of each transaction, zero for REMASC.
    pub senders: Vec<Address>,
}

/// One block of a height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeightEntry {
    /// Hash of the block.
    pub hash: B256,
    /// Its total difficulty.
    pub total_difficulty: U256,
    /// Whether it is on the best chain.
    pub is_main: bool,
}

/// The block whose trie is in the column of current nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlushedTrie {
    /// Number of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: B256,
    /// State root after the block.
    pub root: B256,
}

impl FlushedTrie {
    pub(crate) fn encode(&self) -> Vec<u8> {
        [&self.number.to_be_bytes()[..], self.hash.as_slice(), self.root.as_slice()].concat()
    }

    pub(crate) fn decode(row: &[u8]) -> Option<Self> {
        let mut reader = RowReader(row);
        let number = u64::from_be_bytes(reader.take(8)?.try_into().ok()?);
        let (hash, root) = (B256::from_slice(reader.take(32)?), B256::from_slice(reader.take(32)?));
        reader.0.is_empty().then_some(Self { number, hash, root })
    }
}

/// The receipts of a block with the hashes of their transactions, in block order.
#[derive(Debug, Clone)]
pub struct StoredReceipts {
    /// Hash of each transaction.
    pub transaction_hashes: Vec<B256>,
    /// Receipt of each transaction.
    pub receipts: Vec<Receipt>,
}

/// The undecoded receipts of a block, for searching a few logs in many blocks.
#[derive(Debug, Clone)]
pub struct RawReceipts {
    transaction_hashes: Vec<B256>,
    receipts: Bytes,
}

/// One undecoded receipt.
#[derive(Debug, Clone, Copy)]
pub struct RawReceipt<'a>(rlp::Item<'a>);

impl RawReceipts {
    /// Hash of each transaction.
    pub fn transaction_hashes(&self) -> &[B256] {
        &self.transaction_hashes
    }

    /// Returns the size of all receipts in bytes.
    pub fn bytes(&self) -> usize {
        self.receipts.len()
    }

    /// Iterates over the receipts in block order.
    pub fn iter(&self) -> impl Iterator<Item = RawReceipt<'_>> {
        let mut rest: &[u8] = &self.receipts;
        std::iter::from_fn(move || {
            let (item, next) = rlp::Item::first(rest).ok()?;
            rest = next;
            Some(RawReceipt(item))
        })
    }
}

impl<'a> RawReceipt<'a> {
    /// Returns the bloom and the logs, which [`LogRef::decode`] reads; `None` if the receipt is damaged.
    ///
    /// [`LogRef::decode`]: rhizome_primitives::LogRef::decode
    pub fn bloom_and_logs(&self) -> Option<(Bloom, impl Iterator<Item = rlp::Item<'a>> + use<'a>)> {
        let mut elements = self.0.elements("receipt").ok()?;
        let bloom = Bloom::from_packed(elements.nth(2)?.ok()?.bytes())?;
        let logs = elements.next()?.ok()?.elements("logs").ok()?;
        Some((bloom, logs.map_while(Result::ok)))
    }
}

/// Location of a transaction in a block, on the best chain or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionLocation {
    /// Hash of the block.
    pub block: B256,
    /// Index in the block.
    pub index: u32,
}

const LOCATION_BYTES: usize = 36;
/// Approximate size of a stored receipt with one log, with the hash of its transaction.
const RECEIPT_BYTES: usize = 256;

pub(crate) fn encode_block(raw: &[u8], total_difficulty: U256, state_root: &B256, senders: &[Address]) -> Vec<u8> {
    let mut row = Vec::with_capacity(raw.len() + senders.len() * 20 + 72);
    push_number(&mut row, total_difficulty);
    row.extend_from_slice(state_root.as_slice());
    push_count(&mut row, senders.len());
    for sender in senders {
        row.extend_from_slice(sender.as_slice());
    }
    row.extend_from_slice(raw);
    row
}

pub(crate) fn decode_block(row: &[u8]) -> Option<StoredBlock> {
    let mut reader = RowReader(row);
    let total_difficulty = reader.number()?;
    let state_root = B256::from_slice(reader.take(32)?);
    let count = reader.count()?;
    let senders = reader.take(count.checked_mul(20)?)?.chunks_exact(20).map(Address::from_slice).collect();
    Some(StoredBlock { raw: Bytes::copy_from_slice(reader.0), total_difficulty, state_root, senders })
}

/// Reads the state root only: without a copy of the block.
pub(crate) fn decode_state_root(row: &[u8]) -> Option<B256> {
    let mut reader = RowReader(row);
    reader.number()?;
    reader.take(32).map(B256::from_slice)
}

/// Returns the total difficulty of a block from that of its row. Blocks below a state that was taken over may have a negative one,
/// counted down from a lower bound, until block 1 is stored: it is zero for readers.
pub(crate) fn corrected_difficulty(counted: U256, correction: U256) -> U256 {
    let difficulty = counted.wrapping_add(correction);
    if difficulty.bit(255) { U256::ZERO } else { difficulty }
}

pub(crate) fn encode_heights(entries: &[HeightEntry]) -> Vec<u8> {
    let mut row = Vec::with_capacity(entries.len() * 50);
    for entry in entries {
        row.extend_from_slice(entry.hash.as_slice());
        row.push(u8::from(entry.is_main));
        push_number(&mut row, entry.total_difficulty);
    }
    row
}

pub(crate) fn decode_heights(row: &[u8]) -> Option<Vec<HeightEntry>> {
    let mut reader = RowReader(row);
    let mut entries = Vec::with_capacity(1);
    while !reader.0.is_empty() {
        let hash = B256::from_slice(reader.take(32)?);
        let is_main = reader.byte()? != 0;
        entries.push(HeightEntry { hash, is_main, total_difficulty: reader.number()? });
    }
    Some(entries)
}

/// Returns the row of the receipts of a block.
pub fn receipts_row(transaction_hashes: &[B256], receipts: &[Receipt]) -> Vec<u8> {
    let mut row = Vec::with_capacity(transaction_hashes.len() * RECEIPT_BYTES);
    push_count(&mut row, transaction_hashes.len());
    for hash in transaction_hashes {
        row.extend_from_slice(hash.as_slice());
    }
    for receipt in receipts {
        receipt.encode_packed(&mut row);
    }
    row
}

pub(crate) fn decode_receipts(row: &[u8]) -> Option<StoredReceipts> {
    let mut reader = RowReader(row);
    let transaction_hashes = reader.hashes()?;
    let mut receipts = Vec::with_capacity(transaction_hashes.len());
    while !reader.0.is_empty() {
        let (item, rest) = rlp::Item::first(reader.0).ok()?;
        receipts.push(Receipt::decode_packed(item.encoding()).ok()?);
        reader.0 = rest;
    }
    (receipts.len() == transaction_hashes.len()).then_some(StoredReceipts { transaction_hashes, receipts })
}

pub(crate) fn split_receipts(row: &[u8]) -> Option<RawReceipts> {
    let mut reader = RowReader(row);
    let transaction_hashes = reader.hashes()?;
    let raw = RawReceipts { transaction_hashes, receipts: Bytes::copy_from_slice(reader.0) };
    (raw.iter().count() == raw.transaction_hashes.len()).then_some(raw)
}

/// Decodes only the transaction hashes of a receipts row.
pub(crate) fn decode_transaction_hashes(row: &[u8]) -> Option<Vec<B256>> {
    RowReader(row).hashes()
}

pub(crate) fn encode_location(block: &B256, index: u32) -> [u8; LOCATION_BYTES] {
    let mut row = [0; LOCATION_BYTES];
    row[..32].copy_from_slice(block.as_slice());
    row[32..].copy_from_slice(&index.to_be_bytes());
    row
}

pub(crate) fn encode_locations(locations: &[TransactionLocation]) -> Vec<u8> {
    locations.iter().flat_map(|location| encode_location(&location.block, location.index)).collect()
}

pub(crate) fn decode_locations(row: &[u8]) -> Option<Vec<TransactionLocation>> {
    let mut reader = RowReader(row);
    let mut locations = Vec::with_capacity(1);
    while !reader.0.is_empty() {
        let block = B256::from_slice(reader.take(32)?);
        locations.push(TransactionLocation { block, index: reader.word()? });
    }
    Some(locations)
}

/// Merge operator of the column: the union of location lists in order of arrival.
pub(crate) fn merge_locations<'a>(existing: Option<&'a [u8]>, operands: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut merged: Vec<u8> = Vec::with_capacity(LOCATION_BYTES);
    for location in existing.into_iter().chain(operands).flat_map(|list| list.chunks(LOCATION_BYTES)) {
        if !merged.chunks(LOCATION_BYTES).any(|known| known == location) {
            merged.extend_from_slice(location);
        }
    }
    merged
}

fn push_number(row: &mut Vec<u8>, number: U256) {
    let bytes = number.to_be_bytes_trimmed_vec();
    // At most 32 bytes, by the type.
    row.push(bytes.len() as u8);
    row.extend_from_slice(&bytes);
}

fn push_count(row: &mut Vec<u8>, count: usize) {
    // A block of 2^32 transactions cannot be held in memory.
    row.extend_from_slice(&(count as u32).to_be_bytes());
}

struct RowReader<'a>(&'a [u8]);

impl<'a> RowReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.word()?).ok()
    }

    fn number(&mut self) -> Option<U256> {
        let length = usize::from(self.byte()?);
        U256::try_from_be_slice(self.take(length)?)
    }

    fn hashes(&mut self) -> Option<Vec<B256>> {
        let count = self.count()?;
        Some(self.take(count.checked_mul(32)?)?.chunks_exact(32).map(B256::from_slice).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_rows_round_trip() {
        let senders = [Address::repeat_byte(1), Address::ZERO];
        let row = encode_block(b"raw", U256::from(70_000), &B256::repeat_byte(9), &senders);
        let block = decode_block(&row).unwrap();
        assert_eq!(block.raw.as_ref(), b"raw");
        assert_eq!(block.total_difficulty, U256::from(70_000));
        assert_eq!(block.state_root, B256::repeat_byte(9));
        assert_eq!(block.senders, senders);
        for length in 0..row.len() - 3 {
            assert!(decode_block(&row[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn height_rows_preserve_the_order_of_arrival() {
        let entries = [
            HeightEntry { hash: B256::repeat_byte(2), total_difficulty: U256::ZERO, is_main: false },
            HeightEntry { hash: B256::repeat_byte(1), total_difficulty: U256::MAX, is_main: true },
        ];
        assert_eq!(decode_heights(&encode_heights(&entries)).unwrap(), entries);
    }

    #[test]
    fn merged_locations_have_no_duplicates() {
        let one = encode_location(&B256::repeat_byte(1), 7);
        let two = encode_location(&B256::repeat_byte(2), 8);
        let merged = merge_locations(Some(&one), [two.as_slice(), one.as_slice()].into_iter());
        let expected = [
            TransactionLocation { block: B256::repeat_byte(1), index: 7 },
            TransactionLocation { block: B256::repeat_byte(2), index: 8 },
        ];
        assert_eq!(decode_locations(&merged).unwrap(), expected);
        assert_eq!(encode_locations(&expected), merged);
    }
}
