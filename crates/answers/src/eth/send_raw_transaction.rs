//! `eth_sendRawTransaction`.

use crate::delivery;
use crate::error::{Answer, ErrorCode, RpcError};
use crate::node::Node;
use crate::parameters;
use rhizome_primitives::{Bytes, DecodeError, Transaction, rlp};

/// The cure for a transaction in a typed envelope.
const LEGACY_ONLY: &str = "Rootstock takes legacy transactions only, with gasPrice and without maxFeePerGas or accessList: \
    forge and cast --legacy, ethers type: 0, viem type: 'legacy', web3.py gasPrice; for others see docs/tools.md";

/// Reads transactions, in hex, that are to be admitted: their senders are recovered side by side.
pub fn read_all<'a>(node: &Node, raws: impl IntoIterator<Item = &'a str>) -> Vec<Result<Transaction, RpcError>> {
    let read = |raw| read(node, &parameters::bytes(raw)?);
    let transactions: Vec<_> = raws.into_iter().map(read).collect();
    Transaction::recover_senders(transactions.iter().flatten());
    transactions
}

/// The hash of a transaction that was read and admitted.
pub fn admit(node: &Node, transaction: Transaction) -> Answer {
    transaction
        .recover_sender()
        .map_err(|error| RpcError::invalid_params(format!("Invalid input: invalid signature, {error}")))?;
    delivery::deliver(node, move |chain| Ok(chain.submit(transaction)?))
}

/// Reads one signed transaction, in hex.
pub(crate) fn read_signed(node: &Node, raw: &str) -> Result<Transaction, RpcError> {
    read(node, &parameters::bytes(raw)?)
}

fn read(node: &Node, raw: &Bytes) -> Result<Transaction, RpcError> {
    let transaction = decode(raw)?;
    check_signature(&transaction, node.chain().spec().chain_id)?;
    Ok(transaction)
}

fn decode(raw: &Bytes) -> Result<Transaction, RpcError> {
    let transaction = Transaction::decode(raw).map_err(|error| refusal(raw, &error))?;
    if transaction.gas_limit_bytes().is_empty() {
        return Err(RpcError::invalid_params("Missing parameter, gasPrice, gas or value"));
    }
    Ok(transaction)
}

/// Why bytes are not a transaction, in the reference's words where it has good ones.
fn refusal(raw: &[u8], error: &DecodeError) -> RpcError {
    if let [1..=3, payload @ ..] = raw {
        // Transactions of this chain are lists; a small byte before a list announces a form that it does not know.
        return match rlp::decode_list(payload) {
            Ok(list) if list.bytes().len() > 1 => {
                RpcError::new(ErrorCode::TransactionRejected, "transaction type not valid on this chain")
                    .with_hint(LEGACY_ONLY)
            }
            Ok(_) => RpcError::invalid_params(format!("Invalid input: {error}")),
            Err(inner) => encoding_refusal(payload, &inner),
        };
    }
    encoding_refusal(raw, error)
}

fn encoding_refusal(raw: &[u8], error: &DecodeError) -> RpcError {
    // All items are read before it matters that they are not one list.
    let (at, inner) = first_fault(raw).unwrap_or((raw, error.clone()));
    let text = match inner {
        DecodeError::NegativeLength(_) => "The length of the RLP item can't be negative".into(),
        DecodeError::OutOfBounds { .. } if is_cut_inside_length(at) => {
            "The length of the RLP item length can't possibly fit the data byte array".into()
        }
        DecodeError::OutOfBounds { .. } => {
            "The RLP byte array doesn't have enough space to hold an element with the specified length".into()
        }
        other => other.to_string(),
    };
    RpcError::invalid_params(format!("Invalid input: {text}"))
}

/// Returns the first invalid item of consecutive RLP items.
fn first_fault(mut rest: &[u8]) -> Option<(&[u8], DecodeError)> {
    while !rest.is_empty() {
        match rlp::Item::first(rest) {
            Ok((_item, behind)) => rest = behind,
            Err(error) => return Some((rest, error)),
        }
    }
    None
}

/// Whether the data end before the length of the item is complete.
fn is_cut_inside_length(raw: &[u8]) -> bool {
    let size = match raw.first() {
        Some(mark @ 0xb8..=0xbf) => mark - 0xb7,
        Some(mark @ 0xf8..=0xff) => mark - 0xf7,
        _ => return false,
    };
    usize::from(size) >= raw.len()
}

/// All that can be said of a signature before it is asked for its signer.
fn check_signature(transaction: &Transaction, chain_id: u8) -> Result<(), RpcError> {
    if !transaction.is_signed() {
        // The reference's words for a transaction whose signature is empty.
        return Err(RpcError::invalid_params("Invalid chainId: 0"));
    }
    let signed_for = transaction.chain_id();
    if signed_for != 0 && i16::from(signed_for) != i16::from(chain_id) {
        // Numbers above 127 appear as they are written, not as a signed byte.
        return Err(RpcError::invalid_params(format!("Invalid chainId: {}", signed_for.cast_unsigned())));
    }
    if transaction.impersonated_sender().is_some() {
        return Err(RpcError::invalid_params("Invalid input: a sender in place of a signature is for blocks only"));
    }
    if !transaction.accepts_signature(chain_id) {
        return Err(RpcError::invalid_params(
            "Invalid input: the signature is not valid (r, s out of range or high s)",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(raw: &'static [u8]) -> RpcError {
        decode(&Bytes::from_static(raw)).unwrap_err()
    }

    #[test]
    fn faults_of_the_encoding() {
        for raw in [&b""[..], b"\x00", b"\xc0", b"\x01\xc0", b"\xc2\x80\x80"] {
            assert_eq!(refused(raw).code, ErrorCode::InvalidParams, "{raw:?}");
        }
        let no_room =
            "Invalid input: The RLP byte array doesn't have enough space to hold an element with the specified length";
        assert_eq!(refused(b"\x02\xf8\x70\x83").message, no_room);
        assert_eq!(refused(b"\xf8\x63\x10").message, no_room);
        let no_length = "Invalid input: The length of the RLP item length can't possibly fit the data byte array";
        assert_eq!(refused(b"\xf8").message, no_length);
        assert_eq!(refused(b"\x7f\xff\xff").message, no_length);
        assert_eq!(refused(b"\xb9\x01").message, no_length);
        let negative = "Invalid input: The length of the RLP item can't be negative";
        assert_eq!(refused(b"\xfb\xff\xff\xff\xff\xff").message, negative);
        let nothing = b"\xc9\x80\x80\x80\x80\x80\x80\x80\x80\x80";
        assert_eq!(refused(nothing).message, "Missing parameter, gasPrice, gas or value");
    }

    #[test]
    fn typed_envelopes() {
        let refusal = refused(b"\x02\xc3\x21\x08\x01");
        assert_eq!(refusal.code, ErrorCode::TransactionRejected);
        assert_eq!(refusal.message, "transaction type not valid on this chain");
        assert_eq!(refusal.details.unwrap().hint, LEGACY_ONLY);
    }
}
