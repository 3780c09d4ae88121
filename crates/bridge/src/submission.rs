//! Bitcoin transactions that callers submit, and the proof that a block of the main chain contains them
//! (docs/spec/bridge.md, 6.1).

use crate::coinbase_information::witness_root;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::headers::{main_chain_header_at, store::best_header};
use crate::storage::Storage;
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{BitcoinTransaction, Digest, display, sha256d};
use rhizome_primitives::Rule;

/// Position of the number of inputs in a transaction.
const INPUT_COUNT: usize = 4;

/// A Bitcoin transaction and its proof.
#[derive(Clone, Copy)]
pub(crate) struct Submission<'a> {
    /// The transaction, with or without its witness.
    pub(crate) transaction: &'a [u8],
    /// Height of the block that contains it.
    pub(crate) height: i32,
    /// Partial Merkle tree from the transaction to the root of the block.
    pub(crate) proof: &'a [u8],
}

impl Submission<'_> {
    /// Returns the hash of the bytes, wire order: with a witness that is not the id of the transaction.
    pub(crate) fn hash(&self) -> Digest {
        sha256d(self.transaction)
    }

    /// Returns true if the main chain contains the transaction deep enough. Opens the header store. A malformed proof is
    /// an argument error.
    pub(crate) fn is_proven(&self, storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<bool> {
        let best = match best_header(storage, ctx) {
            Ok(best) => best.height,
            Err(MethodFailure::Fatal(error)) => return Err(MethodFailure::Fatal(error)),
            Err(_unreadable) => return Ok(false),
        };
        let confirmations = best.wrapping_sub(self.height).wrapping_add(1);
        if self.height < 0 || confirmations < ctx.constants.bitcoin_confirmations {
            return Ok(false);
        }
        let Some(root) = proven_root(self.proof, &self.hash())? else { return Ok(false) };
        check_input_count(self.transaction, ctx)?;
        let header = main_chain_header_at(storage, ctx, self.height)?.ok_or(MethodFailure::Rejected)?;
        if root == header.header.merkle_root() {
            return Ok(true);
        }
        Ok(ctx.has(Rule::Rskip143) && witness_root(storage, &header.hash())? == Some(display(root)))
    }

    /// Returns the transaction. A malformed or invalid transaction is a call error.
    pub(crate) fn parse(&self) -> Result<BitcoinTransaction> {
        verified_transaction(self.transaction)
    }
}

/// Returns the root that a proof leads to, wire order; `None` if the proof does not match `transaction`.
pub(crate) fn proven_root(proof: &[u8], transaction: &Digest) -> Result<Option<Digest>> {
    let tree = PartialTree::parse(proof).ok_or(MethodFailure::Argument)?;
    let (root, matched) = tree.evaluate().map_err(|_shape| MethodFailure::Argument)?;
    Ok(matched.contains(transaction).then_some(root))
}

/// Reads a transaction and checks what the reference checks before it registers one.
pub(crate) fn verified_transaction(bytes: &[u8]) -> Result<BitcoinTransaction> {
    BitcoinTransaction::parse_verified(bytes).map_err(|_invalid| MethodFailure::Rejected)
}

/// Rejects transactions without inputs before they are parsed. From RSKIP-143 a number of inputs of 0 may also be the
/// marker of a transaction with witnesses.
fn check_input_count(transaction: &[u8], ctx: &CallContext<'_>) -> Result<()> {
    let number_at = |offset| varint_at(transaction, offset).ok_or(MethodFailure::Rejected);
    if number_at(INPUT_COUNT)? != 0 {
        return Ok(());
    }
    let has_marker = ctx.has(Rule::Rskip143) && number_at(INPUT_COUNT + 1)? != 1;
    if has_marker || ctx.has(Rule::Rskip143) && number_at(INPUT_COUNT + 2)? != 0 {
        return Ok(());
    }
    Err(MethodFailure::Rejected)
}

/// Returns the variable-length integer at an offset; `None` if the bytes end before it does.
fn varint_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let (first, rest) = bytes.get(offset..)?.split_first()?;
    Some(match first {
        0xfd => u64::from(u16::from_le_bytes(*rest.first_chunk()?)),
        0xfe => u64::from(u32::from_le_bytes(*rest.first_chunk()?)),
        0xff => u64::from_le_bytes(*rest.first_chunk()?),
        small => u64::from(*small),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_transaction_is_that_of_its_bytes() {
        let with_script = |length: &[u8], size: usize| {
            let mut bytes = vec![2, 0, 0, 0, 1];
            bytes.extend([7; 36]);
            bytes.extend([0, 0xff, 0xff, 0xff, 0xff, 1, 5, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(length);
            let script = size - bytes.len() - 4;
            let number = bytes.len() - length.len() + 1;
            bytes[number..number + 4].copy_from_slice(&(script as u32).to_le_bytes());
            bytes.resize(size, 0);
            // Bytes after the transaction do not count.
            bytes.push(0);
            verified_transaction(&bytes).is_ok()
        };
        for length in [&[0xfe, 0, 0, 0, 0][..], &[0xff, 0, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(with_script(length, 1_000_000));
            assert!(!with_script(length, 1_000_001));
        }
    }

    #[test]
    fn numbers_of_every_length_are_read() {
        let bytes = [7, 0xfd, 1, 2, 0xfe, 1, 0, 0, 1, 0xff, 9, 0, 0, 0, 0, 0, 0, 0];
        let numbers = [0, 1, 4, 9].map(|offset| varint_at(&bytes, offset));
        assert_eq!(numbers, [Some(7), Some(0x201), Some(0x100_0001), Some(9)]);
        for truncated in [0..0, 1..3, 4..8, 9..17] {
            assert_eq!(varint_at(&bytes[truncated], 0), None);
        }
    }
}
