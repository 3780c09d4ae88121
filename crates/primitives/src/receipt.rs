//! Logs and receipts (docs/spec/blocks.md, 3).

use crate::bloom::{Bloom, MOST_PACKED_BYTES};
use crate::error::DecodeError;
use crate::rlp::{self, Item};
use alloy_primitives::{Address, B256, Bytes};
use std::slice;

/// An event of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Address of the contract that emitted it.
    pub address: Address,
    /// Up to four topics.
    pub topics: Vec<B256>,
    /// Data that is not indexed.
    pub data: Bytes,
}

/// Borrowed log: part of a [`Log`], or encoded in a receipt.
#[derive(Debug, Clone)]
pub struct LogRef<'a> {
    /// Address of the contract that emitted it.
    pub address: &'a Address,
    /// Data that is not indexed.
    pub data: &'a [u8],
    topics: Topics<'a>,
}

/// Topics of a log in order.
#[derive(Debug, Clone)]
enum Topics<'a> {
    Decoded(slice::Iter<'a, B256>),
    /// Items of 32 bytes each, already checked.
    Encoded(rlp::Elements<'a>),
}

impl<'a> LogRef<'a> {
    /// Decodes a log in a receipt.
    pub fn decode(log: &Item<'a>) -> Result<Self, DecodeError> {
        let [address, topics, data] = log.exactly("log")?;
        let topics = topics.elements("topics")?;
        for topic in topics.clone() {
            fixed::<32>(&topic?, "topic")?;
        }
        let address = fixed::<20>(&address, "log address")?.into();
        Ok(Self { address, data: data.bytes(), topics: Topics::Encoded(topics) })
    }

    /// Iterates over the topics, at most four in a valid log.
    pub fn topics(&self) -> impl Iterator<Item = &'a B256> + use<'a> {
        self.topics.clone()
    }
}

impl<'a> Iterator for Topics<'a> {
    type Item = &'a B256;

    fn next(&mut self) -> Option<&'a B256> {
        match self {
            Self::Decoded(topics) => topics.next(),
            Self::Encoded(topics) => fixed::<32>(&topics.next()?.ok()?, "topic").ok().map(Into::into),
        }
    }
}

impl<'a> From<&'a Log> for LogRef<'a> {
    fn from(log: &'a Log) -> Self {
        Self { address: &log.address, data: &log.data, topics: Topics::Decoded(log.topics.iter()) }
    }
}

impl From<LogRef<'_>> for Log {
    fn from(log: LogRef<'_>) -> Self {
        Self { address: *log.address, topics: log.topics().copied().collect(), data: Bytes::copy_from_slice(log.data) }
    }
}

impl Log {
    /// Decodes the list of logs in a receipt.
    pub fn decode_all(logs: &Item<'_>) -> Result<Vec<Log>, DecodeError> {
        logs.elements("logs")?.map(|log| LogRef::decode(&log?).map(Log::from)).collect()
    }
}

/// Receipt of a transaction, as hashed into the receipts root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// False for reverts, exceptional halts and failed creations.
    pub success: bool,
    /// Cumulative gas including this transaction: of the block before RSKIP-144, of the sublist after.
    pub cumulative_gas: u64,
    /// Bloom of the logs.
    pub bloom: Bloom,
    /// Logs in order of emission.
    pub logs: Vec<Log>,
    /// Gas used by this transaction.
    pub gas_used: u64,
}

impl Receipt {
    /// Encodes `[status, cumulative gas, bloom, logs, gas used, status]`, with the status twice.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_to(&mut out);
        out
    }

    /// Appends the result of `encode`.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        self.encode_with(self.bloom.as_bytes(), out);
    }

    /// Appends the form in which receipts are stored, with a packed bloom: most of a receipt is zeros of its bloom.
    pub fn encode_packed(&self, out: &mut Vec<u8>) {
        let mut space = [0; MOST_PACKED_BYTES];
        self.encode_with(self.bloom.packed(&mut space), out);
    }

    fn encode_with(&self, bloom: &[u8], out: &mut Vec<u8>) {
        let logs: usize = self.logs.iter().map(|log| rlp::with_header(elements_of_log(log))).sum();
        let status = if self.success { 1 } else { 0x80 };
        let [cumulative_gas, gas_used] = [self.cumulative_gas, self.gas_used].map(rlp::u64_length);
        let elements = 2 + cumulative_gas + rlp::bytes_length(bloom) + rlp::with_header(logs) + gas_used;
        out.reserve(rlp::with_header(elements));
        rlp::put_list_header(out, elements);
        out.push(status);
        rlp::put_u64(out, self.cumulative_gas);
        rlp::put_bytes(out, bloom);
        rlp::put_list_header(out, logs);
        self.logs.iter().for_each(|log| put_log(out, log));
        rlp::put_u64(out, self.gas_used);
        out.push(status);
    }

    /// Decodes the result of `encode`.
    pub fn decode(raw: &[u8]) -> Result<Receipt, DecodeError> {
        Self::decode_with(raw, Bloom::from_slice)
    }

    /// Decodes a stored receipt: the result of `encode_packed`, or of `encode`, which earlier builds stored.
    pub fn decode_packed(raw: &[u8]) -> Result<Receipt, DecodeError> {
        Self::decode_with(raw, Bloom::from_packed)
    }

    fn decode_with(raw: &[u8], read_bloom: fn(&[u8]) -> Option<Bloom>) -> Result<Receipt, DecodeError> {
        let [_, cumulative_gas, bloom, logs, gas_used, status] = rlp::decode_list(raw)?.exactly("receipt")?;
        let bloom = bloom.bytes();
        Ok(Receipt {
            success: status.bytes() == [1],
            cumulative_gas: number(&cumulative_gas, "cumulative gas")?,
            bloom: read_bloom(bloom).ok_or(DecodeError::FieldLength { field: "bloom", got: bloom.len() })?,
            logs: Log::decode_all(&logs)?,
            gas_used: number(&gas_used, "gas used")?,
        })
    }
}

/// Returns the size of the elements of a log.
fn elements_of_log(log: &Log) -> usize {
    rlp::with_header(log.address.len()) + rlp::with_header(33 * log.topics.len()) + rlp::bytes_length(&log.data)
}

fn put_log(out: &mut Vec<u8>, log: &Log) {
    rlp::put_list_header(out, elements_of_log(log));
    rlp::put_address(out, Some(&log.address));
    rlp::put_list_header(out, 33 * log.topics.len());
    for topic in &log.topics {
        rlp::put_bytes(out, topic.as_slice());
    }
    rlp::put_bytes(out, &log.data);
}

fn fixed<'a, const N: usize>(item: &Item<'a>, field: &'static str) -> Result<&'a [u8; N], DecodeError> {
    let bytes = item.bytes();
    bytes.try_into().map_err(|_wrong_length| DecodeError::FieldLength { field, got: bytes.len() })
}

fn number(item: &Item<'_>, field: &'static str) -> Result<u64, DecodeError> {
    rlp::read_u64(item.bytes(), u64::MAX, field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_receipts_without_logs_round_trip() {
        let receipt = Receipt { success: false, cumulative_gas: 128, bloom: Bloom::ZERO, logs: vec![], gas_used: 128 };
        let encoded = receipt.encode();
        assert_eq!(encoded[..9], [0xf9, 1, 0x0a, 0x80, 0x81, 0x80, 0xb9, 1, 0]);
        assert_eq!(encoded[encoded.len() - 4..], [0xc0, 0x81, 0x80, 0x80]);
        assert_eq!(Receipt::decode(&encoded), Ok(receipt));
    }

    #[test]
    fn stored_receipts_round_trip() {
        for (logs, has_small_bloom) in [(0, true), (1, true), (8, true), (60, false)] {
            let log = |number: u8| Log {
                address: Address::repeat_byte(number),
                topics: (0..number % 5).map(|topic| B256::repeat_byte(topic ^ number)).collect(),
                data: vec![number; usize::from(number) * 20].into(),
            };
            let logs: Vec<Log> = (0..logs).map(log).collect();
            let bloom = Bloom::of_logs(&logs);
            let receipt = Receipt { success: true, cumulative_gas: 1 << 40, bloom, logs, gas_used: 21_000 };
            let (encoded, mut packed) = (receipt.encode(), Vec::new());
            receipt.encode_packed(&mut packed);
            assert_eq!(Receipt::decode(&encoded), Ok(receipt.clone()));
            assert_eq!(packed.len() < encoded.len(), has_small_bloom);
            assert_eq!(Receipt::decode(&packed).is_err(), has_small_bloom);
            for stored in [packed, encoded] {
                assert_eq!(Receipt::decode_packed(&stored), Ok(receipt.clone()));
            }
        }
        for damaged in [&[0][..], &[8, 0], &[0xff; 255]] {
            assert_eq!(Bloom::from_packed(damaged), None);
        }
    }
}
