//! The hashes that signatures of inputs sign (docs/spec/bridge.md, 4.1).

use crate::digest::{Digest, sha256d};
use crate::script::without_code_separators;
use crate::transaction::{BitcoinTransaction, TransactionInput, TransactionOutput};
use crate::varint::put_sized_bytes;

/// Signature hash type of all inputs and outputs.
pub const ALL: u8 = 1;
/// Signature hash type that covers no output.
const NONE: u8 = 2;
/// Signature hash type that covers the output at the position of the input.
const SINGLE: u8 = 3;
/// Flag of signature hash types that cover one input only.
const ANYONE_CAN_PAY: u8 = 0x80;

/// The transaction has no input at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transaction has no input {0}")]
pub struct InputIndexError(
    /// The position.
    pub usize,
);

impl BitcoinTransaction {
    /// Returns the legacy signature hash of an input, type ALL. `script`: the redeem script. If the transaction has
    /// witnesses, the hash covers them, unlike that of Bitcoin Core.
    pub fn legacy_signature_hash(&self, input: usize, script: &[u8]) -> Result<Digest, InputIndexError> {
        self.typed_signature_hash(input, script, ALL)
    }

    /// Returns the legacy signature hash of an input for a signature hash type.
    pub(crate) fn typed_signature_hash(
        &self,
        input: usize,
        script: &[u8],
        hash_type: u8,
    ) -> Result<Digest, InputIndexError> {
        let mut copy = self.clone();
        for input in &mut copy.inputs {
            input.script = Vec::new();
        }
        copy.inputs.get_mut(input).ok_or(InputIndexError(input))?.script = without_code_separators(script);
        let base = hash_type & 0x1f;
        if base == SINGLE && input >= copy.outputs.len() {
            // Bitcoin's error code 1 as a hash.
            let mut hash = Digest::default();
            hash[0] = 1;
            return Ok(hash);
        }
        match base {
            NONE => copy.outputs.clear(),
            SINGLE => {
                copy.outputs.truncate(input + 1);
                let before = copy.outputs.iter_mut().take(input);
                before.for_each(|output| *output = TransactionOutput { satoshis: -1, script: Vec::new() });
            }
            _ => {}
        }
        if matches!(base, NONE | SINGLE) {
            let others = copy.inputs.iter_mut().enumerate().filter(|(position, _)| *position != input);
            others.for_each(|(_, other)| other.sequence = 0);
        }
        if hash_type & ANYONE_CAN_PAY != 0 {
            // The library keeps witnesses apart from inputs, so the only input left has the first witness.
            let witness = copy.inputs.first_mut().map(|first| std::mem::take(&mut first.witness)).unwrap_or_default();
            copy.inputs = vec![TransactionInput { witness, ..copy.inputs.swap_remove(input) }];
        }
        let mut preimage = copy.serialize();
        preimage.extend(u32::from(hash_type).to_le_bytes());
        Ok(sha256d(&preimage))
    }

    /// Returns the signature hash of an input with a witness (BIP-143). `script`: the redeem script; `satoshis`: value of
    /// the spent output.
    pub fn segwit_signature_hash(&self, input: usize, script: &[u8], satoshis: i64) -> Result<Digest, InputIndexError> {
        let signed = self.inputs.get(input).ok_or(InputIndexError(input))?;
        let (mut outpoints, mut sequences, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for input in &self.inputs {
            outpoints.extend(input.outpoint.txid);
            outpoints.extend(input.outpoint.index.to_le_bytes());
            sequences.extend(input.sequence.to_le_bytes());
        }
        for output in &self.outputs {
            output.encode(&mut outputs);
        }
        let mut preimage = self.version.to_le_bytes().to_vec();
        preimage.extend(sha256d(&outpoints));
        preimage.extend(sha256d(&sequences));
        preimage.extend(signed.outpoint.txid);
        preimage.extend(signed.outpoint.index.to_le_bytes());
        put_sized_bytes(&mut preimage, script);
        preimage.extend(satoshis.to_le_bytes());
        preimage.extend(signed.sequence.to_le_bytes());
        preimage.extend(sha256d(&outputs));
        preimage.extend(self.lock_time.to_le_bytes());
        preimage.extend(u32::from(ALL).to_le_bytes());
        Ok(sha256d(&preimage))
    }
}
