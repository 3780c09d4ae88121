//! The hashes that signatures of inputs sign, type ALL (docs/spec/bridge.md, 4.1).

use crate::digest::{Digest, sha256d};
use crate::script::without_code_separators;
use crate::transaction::Transaction;
use crate::varint::put_sized_bytes;

/// Signature hash type ALL, as the hashes append it.
const ALL: u32 = 1;

/// The transaction has no input at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transaction has no input {0}")]
pub struct InputIndexError(
    /// The position.
    pub usize,
);

impl Transaction {
    /// Returns the legacy signature hash of an input. `script`: the redeem script. If the transaction has witnesses, the
    /// hash covers them, unlike that of Bitcoin Core.
    pub fn legacy_signature_hash(&self, input: usize, script: &[u8]) -> Result<Digest, InputIndexError> {
        let mut copy = self.clone();
        for input in &mut copy.inputs {
            input.script = Vec::new();
        }
        copy.inputs.get_mut(input).ok_or(InputIndexError(input))?.script = without_code_separators(script);
        let mut preimage = copy.serialize();
        preimage.extend(ALL.to_le_bytes());
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
        preimage.extend(ALL.to_le_bytes());
        Ok(sha256d(&preimage))
    }
}
