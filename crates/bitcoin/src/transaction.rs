//! Bitcoin transactions (docs/spec/bridge.md, 4.1).
//!
//! The parser is that of the reference, which accepts what Bitcoin Core refuses: numbers in longer forms than needed,
//! witnesses without data, bytes after the lock time.

use crate::digest::{Digest, sha256d};
use crate::message::{MessageError, MessageReader};
use crate::varint::{put_sized_bytes, put_varint, varint_size};
use std::collections::HashSet;

/// Maximum size of a transaction, bytes.
const MAX_SIZE: usize = 1_000_000;
/// Maximum sum of outputs, satoshis.
const MAX_MONEY: i64 = 21_000_000 * 100_000_000;
/// Flag of transactions with witnesses.
const WITNESS_FLAG: u8 = 1;
/// Output index of an input that creates coins.
const COINBASE_INDEX: u32 = u32::MAX;

/// The output that an input spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OutPoint {
    /// Id of the transaction, wire order.
    pub txid: Digest,
    /// Position of the output.
    pub index: u32,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionInput {
    /// The output that it spends.
    pub outpoint: OutPoint,
    /// Script with signatures; not parsed.
    pub script: Vec<u8>,
    /// Sequence number.
    pub sequence: u32,
    /// Pushes of the witness.
    pub witness: Vec<Vec<u8>>,
}

/// An output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionOutput {
    /// Value; may be negative in parsed transactions.
    pub satoshis: i64,
    /// Script that a spend must satisfy; not parsed.
    pub script: Vec<u8>,
}

/// A transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitcoinTransaction {
    /// Version.
    pub version: u32,
    /// Inputs.
    pub inputs: Vec<TransactionInput>,
    /// Outputs.
    pub outputs: Vec<TransactionOutput>,
    /// Lock time.
    pub lock_time: u32,
}

/// Why a transaction cannot be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransactionError {
    /// The bytes are not a transaction.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// No inputs or no outputs.
    #[error("the transaction has no inputs or no outputs")]
    Empty,
    /// More than 1,000,000 bytes.
    #[error("the transaction has more than {MAX_SIZE} bytes")]
    TooLarge,
    /// Two inputs spend the same output.
    #[error("two inputs spend the same output")]
    RepeatedOutPoint,
    /// An output is negative, or the sum of outputs is above 21,000,000 BTC.
    #[error("an output is negative or the sum of outputs is too large")]
    Value,
    /// The script of a coinbase has less than 2 or more than 100 bytes.
    #[error("the script of the coinbase has less than 2 or more than 100 bytes")]
    CoinbaseScript,
    /// A coinbase input in a transaction that is not a coinbase.
    #[error("an input creates coins, but the transaction is not a coinbase")]
    CoinbaseInput,
}

impl OutPoint {
    /// Returns true if an input with this outpoint creates coins.
    fn is_coinbase(&self) -> bool {
        self.txid == Digest::default() && self.index == COINBASE_INDEX
    }
}

impl BitcoinTransaction {
    /// Reads a transaction with or without witnesses. Bytes after the lock time are ignored.
    pub fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        Self::read(&mut MessageReader::new(bytes))
    }

    /// Reads a transaction and checks what the reference checks before it registers one. Its size is that of the bytes as
    /// given, whose numbers may have longer forms than needed.
    pub fn parse_verified(bytes: &[u8]) -> Result<Self, TransactionError> {
        let reader = &mut MessageReader::new(bytes);
        let transaction = Self::read(reader)?;
        if reader.position() > MAX_SIZE {
            return Err(TransactionError::TooLarge);
        }
        transaction.verify()?;
        Ok(transaction)
    }

    fn read(reader: &mut MessageReader<'_>) -> Result<Self, MessageError> {
        let version = u32::from_le_bytes(reader.array()?);
        let mut inputs = read_inputs(reader)?;
        let mut outputs = Vec::new();
        let mut flags = 0;
        if inputs.is_empty() {
            [flags] = reader.array()?;
            if flags != 0 {
                inputs = read_inputs(reader)?;
                outputs = read_outputs(reader)?;
            }
        } else {
            outputs = read_outputs(reader)?;
        }
        if flags & WITNESS_FLAG != 0 {
            for input in &mut inputs {
                for _push in 0..reader.count()? {
                    input.witness.push(reader.sized_bytes()?.to_vec());
                }
            }
        }
        if flags & !WITNESS_FLAG != 0 {
            return Err(MessageError::Flags { flags });
        }
        let lock_time = u32::from_le_bytes(reader.array()?);
        Ok(Self { version, inputs, outputs, lock_time })
    }

    /// Returns true if a witness has a push.
    pub fn has_witness(&self) -> bool {
        self.inputs.iter().any(|input| !input.witness.is_empty())
    }

    /// Returns true if the transaction creates coins.
    pub fn is_coinbase(&self) -> bool {
        matches!(self.inputs.as_slice(), [input] if input.outpoint.is_coinbase())
    }

    /// Returns the wire form, with witnesses if there are any.
    pub fn serialize(&self) -> Vec<u8> {
        self.encode(self.has_witness())
    }

    /// Returns the wire form without witnesses: the preimage of the id.
    pub fn serialize_without_witnesses(&self) -> Vec<u8> {
        self.encode(false)
    }

    /// Returns the size of [`Self::serialize`] without making it.
    pub fn size(&self) -> usize {
        let sized = |bytes: &[u8]| varint_size(bytes.len()) + bytes.len();
        let inputs = self.inputs.iter().map(|input| 36 + sized(&input.script) + 4);
        let outputs = self.outputs.iter().map(|output| 8 + sized(&output.script));
        let counts = varint_size(self.inputs.len()) + varint_size(self.outputs.len());
        let plain = 8 + counts + inputs.sum::<usize>() + outputs.sum::<usize>();
        if !self.has_witness() {
            return plain;
        }
        let pushes = |witness: &[Vec<u8>]| witness.iter().map(|push| sized(push)).sum::<usize>();
        let witnesses = self.inputs.iter().map(|input| varint_size(input.witness.len()) + pushes(&input.witness));
        plain + 2 + witnesses.sum::<usize>()
    }

    /// Returns the id, wire order. It does not cover the witnesses.
    pub fn txid(&self) -> Digest {
        sha256d(&self.serialize_without_witnesses())
    }

    /// Returns the hash of the whole wire form, wire order, also for a coinbase.
    pub fn wtxid(&self) -> Digest {
        sha256d(&self.serialize())
    }

    fn verify(&self) -> Result<(), TransactionError> {
        let [first, ..] = self.inputs.as_slice() else { return Err(TransactionError::Empty) };
        if self.outputs.is_empty() {
            return Err(TransactionError::Empty);
        }
        let mut spent = HashSet::with_capacity(self.inputs.len());
        if !self.inputs.iter().all(|input| spent.insert(input.outpoint)) {
            return Err(TransactionError::RepeatedOutPoint);
        }
        let mut sum = 0_i64;
        for output in &self.outputs {
            let added = sum.checked_add(output.satoshis).filter(|sum| output.satoshis >= 0 && *sum <= MAX_MONEY);
            sum = added.ok_or(TransactionError::Value)?;
        }
        if self.is_coinbase() {
            return match first.script.len() {
                2..=100 => Ok(()),
                _ => Err(TransactionError::CoinbaseScript),
            };
        }
        match self.inputs.iter().any(|input| input.outpoint.is_coinbase()) {
            true => Err(TransactionError::CoinbaseInput),
            false => Ok(()),
        }
    }

    fn encode(&self, with_witnesses: bool) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        bytes.extend(self.version.to_le_bytes());
        if with_witnesses {
            bytes.extend([0, WITNESS_FLAG]);
        }
        put_varint(&mut bytes, self.inputs.len() as u64);
        for input in &self.inputs {
            bytes.extend(input.outpoint.txid);
            bytes.extend(input.outpoint.index.to_le_bytes());
            put_sized_bytes(&mut bytes, &input.script);
            bytes.extend(input.sequence.to_le_bytes());
        }
        put_varint(&mut bytes, self.outputs.len() as u64);
        for output in &self.outputs {
            output.encode(&mut bytes);
        }
        if with_witnesses {
            for input in &self.inputs {
                put_varint(&mut bytes, input.witness.len() as u64);
                for push in &input.witness {
                    put_sized_bytes(&mut bytes, push);
                }
            }
        }
        bytes.extend(self.lock_time.to_le_bytes());
        bytes
    }
}

impl TransactionOutput {
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.satoshis.to_le_bytes());
        put_sized_bytes(bytes, &self.script);
    }
}

fn read_inputs(reader: &mut MessageReader<'_>) -> Result<Vec<TransactionInput>, MessageError> {
    let mut inputs = Vec::new();
    for _input in 0..reader.count()? {
        inputs.push(TransactionInput {
            outpoint: OutPoint { txid: reader.array()?, index: u32::from_le_bytes(reader.array()?) },
            script: reader.sized_bytes()?.to_vec(),
            sequence: u32::from_le_bytes(reader.array()?),
            witness: Vec::new(),
        });
    }
    Ok(inputs)
}

fn read_outputs(reader: &mut MessageReader<'_>) -> Result<Vec<TransactionOutput>, MessageError> {
    let mut outputs = Vec::new();
    for _output in 0..reader.count()? {
        outputs.push(TransactionOutput {
            satoshis: i64::from_le_bytes(reader.array()?),
            script: reader.sized_bytes()?.to_vec(),
        });
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BitcoinTransaction {
        let input = |index| TransactionInput {
            outpoint: OutPoint { txid: [7; 32], index },
            script: vec![1, 2, 3],
            sequence: u32::MAX,
            witness: Vec::new(),
        };
        let output = TransactionOutput { satoshis: 5, script: vec![0x6a] };
        BitcoinTransaction { version: 2, inputs: vec![input(0), input(1)], outputs: vec![output; 2], lock_time: 9 }
    }

    fn with_witness() -> BitcoinTransaction {
        let mut transaction = sample();
        transaction.inputs[1].witness = vec![vec![], vec![4; 300]];
        transaction
    }

    #[test]
    fn transactions_survive_a_round_trip() {
        for transaction in [sample(), with_witness()] {
            let bytes = transaction.serialize();
            assert_eq!(bytes.len(), transaction.size());
            assert_eq!(BitcoinTransaction::parse(&bytes), Ok(transaction.clone()));
            assert_eq!(BitcoinTransaction::parse(&[&bytes[..], &[1, 2, 3]].concat()), Ok(transaction));
            assert!((0..bytes.len()).all(|length| BitcoinTransaction::parse(&bytes[..length]).is_err()));
        }
    }

    #[test]
    fn only_the_witness_distinguishes_the_hashes() {
        assert_eq!(sample().txid(), sample().wtxid());
        assert_eq!(with_witness().txid(), sample().txid());
        assert_ne!(with_witness().wtxid(), sample().wtxid());
    }

    #[test]
    fn a_witness_flag_without_pushes_disappears() {
        let plain = sample().serialize();
        let (body, lock_time) = plain[4..].split_at(plain.len() - 8);
        let flagged = [&plain[..4], &[0, 1], body, &[0, 0], lock_time].concat();
        assert_eq!(BitcoinTransaction::parse(&flagged).unwrap().serialize(), plain);
        let unknown = [&plain[..4], &[0, 2], body, lock_time].concat();
        assert_eq!(BitcoinTransaction::parse(&unknown), Err(MessageError::Flags { flags: 2 }));
    }

    #[test]
    fn no_inputs_and_no_flag_mean_no_outputs() {
        let transaction = BitcoinTransaction::parse(&[1, 0, 0, 0, 0, 0, 5, 0, 0, 0]).unwrap();
        assert_eq!((transaction.outputs.len(), transaction.lock_time), (0, 5));
        assert_eq!(transaction.verify(), Err(TransactionError::Empty));
    }

    #[test]
    fn counts_do_not_allocate_what_the_bytes_do_not_carry() {
        let bytes = [&[1, 0, 0, 0, 0xfe][..], &[0xff, 0xff, 0xff, 0x7f]].concat();
        assert!(matches!(BitcoinTransaction::parse(&bytes), Err(MessageError::Truncated { .. })));
    }

    #[test]
    fn the_checks_of_the_reference_hold() {
        let check = |change: fn(&mut BitcoinTransaction)| {
            let mut transaction = sample();
            change(&mut transaction);
            transaction.verify()
        };
        assert_eq!(check(|_same| ()), Ok(()));
        assert_eq!(check(|one| one.outputs.clear()), Err(TransactionError::Empty));
        assert_eq!(check(|one| one.inputs[1].outpoint.index = 0), Err(TransactionError::RepeatedOutPoint));
        assert_eq!(check(|one| one.outputs[1].satoshis = -1), Err(TransactionError::Value));
        assert_eq!(check(|one| one.outputs[1].satoshis = MAX_MONEY - 4), Err(TransactionError::Value));
        assert_eq!(check(|one| one.outputs[1].satoshis = MAX_MONEY - 5), Ok(()));
        let coinbase = OutPoint { txid: [0; 32], index: u32::MAX };
        let mut transaction = sample();
        transaction.inputs[1].outpoint = coinbase;
        assert_eq!(transaction.verify(), Err(TransactionError::CoinbaseInput));
        transaction.inputs.remove(0);
        assert!(transaction.is_coinbase());
        assert_eq!(transaction.verify(), Ok(()));
        transaction.inputs[0].script = vec![1];
        assert_eq!(transaction.verify(), Err(TransactionError::CoinbaseScript));
    }
}
