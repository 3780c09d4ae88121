//! Transactions (docs/spec/blocks.md, 2): nine RLP elements, two hashes, no typed envelopes.

mod ecdsa;
mod impersonation;
mod intrinsic_gas;
mod recovery;
mod signature;

pub use intrinsic_gas::intrinsic_gas;

use crate::REMASC;
use crate::error::{DecodeError, SignatureError};
use crate::keccak::keccak256_all;
use crate::rlp::{self, Item};
use crate::rules::Rules;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use signature::Signature;
use std::ops::Range;
use std::sync::OnceLock;

/// Transaction of a block. Immutable; hash and sender are computed once.
#[derive(Debug, Clone)]
pub struct Transaction {
    /// Canonical encoding; the other fields are ranges of it or were decoded from it.
    encoded: Bytes,
    /// Range of the first six elements, which every signature covers.
    unsigned: Range<usize>,
    nonce: Range<usize>,
    gas_limit: Range<usize>,
    gas_price: U256,
    to: Option<Address>,
    value: U256,
    data: Bytes,
    /// True if gas price and value fit into 32 bytes of signed form.
    is_amount_valid: bool,
    signature: Option<Signature>,
    hash: OnceLock<B256>,
    sender: OnceLock<Result<Address, SignatureError>>,
}

/// Transaction before it is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsignedTransaction {
    /// Nonce of the sender.
    pub nonce: U256,
    /// Wei for each unit of gas.
    pub gas_price: U256,
    /// Gas limit.
    pub gas_limit: u64,
    /// Receiver; `None` creates a contract.
    pub to: Option<Address>,
    /// Value in wei.
    pub value: U256,
    /// Call data or init code.
    pub data: Bytes,
}

/// Elements of a transaction as bytes; numbers are big-endian of any length.
struct TransactionElements<'a> {
    nonce: &'a [u8],
    gas_price: Option<&'a [u8]>,
    gas_limit: &'a [u8],
    to: Option<Address>,
    value: &'a [u8],
    data: &'a [u8],
    signature: Option<Signature>,
}

impl UnsignedTransaction {
    /// Returns the transaction in its shortest encoding.
    fn assemble(&self, signature: Option<Signature>) -> Transaction {
        let (nonce, gas_limit) = (self.nonce.to_be_bytes::<32>(), self.gas_limit.to_be_bytes());
        Transaction::assemble(&TransactionElements {
            nonce: rlp::strip_zeros(&nonce),
            gas_price: Some(&self.gas_price.to_be_bytes::<32>()),
            gas_limit: match rlp::strip_zeros(&gas_limit) {
                [] => &[0],
                digits => digits,
            },
            to: self.to,
            value: &self.value.to_be_bytes::<32>(),
            data: &self.data,
            signature,
        })
    }
}

impl Transaction {
    /// Decodes exactly one transaction.
    pub fn decode(raw: &[u8]) -> Result<Transaction, DecodeError> {
        Transaction::from_list(&rlp::decode_list(raw)?)
    }

    /// Decodes an element of a block body: a list, or a string with the encoding of one.
    pub fn from_item(item: &Item<'_>) -> Result<Transaction, DecodeError> {
        if item.is_list() { Transaction::from_list(item) } else { Transaction::decode(item.bytes()) }
    }

    fn from_list(list: &Item<'_>) -> Result<Transaction, DecodeError> {
        let mut elements: [&[u8]; 9] = [&[]; 9];
        let mut count = 0;
        for element in list.elements("transaction")? {
            let element = element?;
            if let Some(slot) = elements.get_mut(count) {
                *slot = element.bytes();
            }
            count += 1;
        }
        if count != elements.len() {
            return Err(DecodeError::ElementCount { what: "transaction", got: count });
        }
        let [nonce, gas_price, gas_limit, to, value, data, v, r, s] = elements;
        let to = match to {
            [] => None,
            _ => Some(
                Address::try_from(to)
                    .map_err(|_wrong_length| DecodeError::FieldLength { field: "receiver", got: to.len() })?,
            ),
        };
        let signature = match v {
            [] => None,
            [v] => Some(Signature::from_elements(*v, r, s)?),
            _ => return Err(DecodeError::FieldLength { field: "v", got: v.len() }),
        };
        let gas_price = (!gas_price.is_empty()).then_some(gas_price);
        Ok(Transaction::assemble(&TransactionElements { nonce, gas_price, gas_limit, to, value, data, signature }))
    }

    /// Returns the REMASC transaction of the block `block_number` (1 or higher).
    pub fn remasc(block_number: u64) -> Transaction {
        let nonce = block_number.saturating_sub(1).to_be_bytes();
        Transaction::assemble(&TransactionElements {
            nonce: rlp::strip_zeros(&nonce),
            gas_price: Some(&[0]),
            gas_limit: &[0],
            to: Some(REMASC),
            value: &[],
            data: &[],
            signature: None,
        })
    }

    /// Signs for a chain (1 to 109; 0 for any chain) with a private key.
    pub fn sign(unsigned: UnsignedTransaction, chain_id: u8, key: &B256) -> Result<Transaction, SignatureError> {
        Transaction::with_signature(unsigned, chain_id, |message| Signature::sign(message, chain_id as i8, key))
    }

    /// Makes a transaction of its fields and those of its signature. Any byte is a valid v.
    pub fn from_fields(unsigned: &UnsignedTransaction, v: u8, r: U256, s: U256) -> Result<Transaction, DecodeError> {
        let signature = Signature::from_elements(v, &r.to_be_bytes::<32>(), &s.to_be_bytes::<32>())?;
        Ok(unsigned.assemble(Some(signature)))
    }

    fn with_signature(
        unsigned: UnsignedTransaction,
        chain_id: u8,
        sign: impl FnOnce(&B256) -> Result<Signature, SignatureError>,
    ) -> Result<Transaction, SignatureError> {
        // Above 109, v would exceed 255 and wrap to another chain id.
        if chain_id > 109 {
            return Err(SignatureError::ChainId(chain_id));
        }
        let message = unsigned.assemble(None).signing_hash(chain_id as i8);
        Ok(unsigned.assemble(Some(sign(&message)?)))
    }

    /// Writes the canonical encoding and decodes the fields that are read often.
    fn assemble(elements: &TransactionElements<'_>) -> Transaction {
        let mut payload = Vec::with_capacity(elements.data.len() + 192);
        // The only non-canonical encoding that is changed is zero as a single byte.
        let nonce = if elements.nonce == [0] { &[] } else { elements.nonce };
        let nonce_end = put(&mut payload, |out| rlp::put_bytes(out, nonce));
        put(&mut payload, |out| rlp::put_price(out, elements.gas_price));
        let gas_limit_end = put(&mut payload, |out| rlp::put_bytes(out, elements.gas_limit));
        put(&mut payload, |out| rlp::put_address(out, elements.to.as_ref()));
        put(&mut payload, |out| rlp::put_unsigned(out, elements.value));
        let unsigned_end = put(&mut payload, |out| rlp::put_bytes(out, elements.data));
        match &elements.signature {
            Some(signature) => signature.put(&mut payload),
            None => payload.extend_from_slice(&[0x80; 3]),
        }
        let encoded = Bytes::from(rlp::list(&payload));
        let start = encoded.len() - payload.len();
        let ending = |end: usize, length: usize| start + end - length..start + end;
        let gas_price = rlp::strip_zeros(elements.gas_price.unwrap_or_default());
        let value = rlp::strip_zeros(elements.value);
        Transaction {
            unsigned: start..start + unsigned_end,
            nonce: ending(nonce_end, nonce.len()),
            gas_limit: ending(gas_limit_end, elements.gas_limit.len()),
            gas_price: rlp::saturating_u256(gas_price),
            to: elements.to,
            value: rlp::saturating_u256(value),
            data: encoded.slice(ending(unsigned_end, elements.data.len())),
            is_amount_valid: is_signed_word(gas_price) && is_signed_word(value),
            signature: elements.signature.clone(),
            hash: OnceLock::new(),
            sender: OnceLock::new(),
            encoded,
        }
    }

    /// Returns the canonical encoding, which the hash covers.
    pub fn encode(&self) -> Vec<u8> {
        self.encoded.to_vec()
    }

    /// Returns the canonical encoding without a copy.
    pub fn encoded(&self) -> &Bytes {
        &self.encoded
    }

    /// Returns the transaction hash.
    pub fn hash(&self) -> B256 {
        *self.hash.get_or_init(|| keccak256(&self.encoded))
    }

    /// Returns the hash of each transaction; unknown hashes are computed together.
    pub fn hashes(transactions: &[Transaction]) -> Vec<B256> {
        let encoded: Vec<_> = transactions.iter().map(|transaction| &transaction.encoded).collect();
        let keep = |(transaction, hash): (&Transaction, B256)| *transaction.hash.get_or_init(|| hash);
        transactions.iter().zip(keccak256_all(&encoded)).map(keep).collect()
    }

    /// Returns the hash that the signature covers.
    pub fn raw_hash(&self) -> B256 {
        self.signing_hash(self.chain_id())
    }

    fn signing_hash(&self, chain_id: i8) -> B256 {
        keccak256(self.signed_bytes(chain_id))
    }

    /// Returns the list of the first six elements, followed by `[chain id, empty, empty]` if there is a chain id.
    fn signed_bytes(&self, chain_id: i8) -> Vec<u8> {
        let unsigned = self.encoded.get(self.unsigned.clone()).unwrap_or_default();
        let mut payload = Vec::with_capacity(unsigned.len() + 4);
        payload.extend_from_slice(unsigned);
        if chain_id != 0 {
            rlp::put_byte(&mut payload, chain_id as u8);
            payload.extend_from_slice(&[0x80, 0x80]);
        }
        rlp::list(&payload)
    }

    /// Returns the nonce; values of more than 32 bytes saturate.
    pub fn nonce(&self) -> U256 {
        rlp::saturating_u256(self.nonce_bytes())
    }

    /// Returns the encoded nonce: empty for zero, with leading zeros.
    pub fn nonce_bytes(&self) -> &[u8] {
        self.encoded.get(self.nonce.clone()).unwrap_or_default()
    }

    /// Returns the gas price in wei, 0 if absent; values of more than 32 bytes saturate.
    pub fn gas_price(&self) -> U256 {
        self.gas_price
    }

    /// Returns the gas limit; values of more than 32 bytes saturate.
    pub fn gas_limit(&self) -> U256 {
        rlp::saturating_u256(self.gas_limit_bytes())
    }

    /// Returns the encoded gas limit with leading zeros; empty if absent.
    pub fn gas_limit_bytes(&self) -> &[u8] {
        self.encoded.get(self.gas_limit.clone()).unwrap_or_default()
    }

    /// Returns the receiver; `None` creates a contract.
    pub fn to(&self) -> Option<Address> {
        self.to
    }

    /// Returns true if the transaction creates a contract.
    pub fn is_creation(&self) -> bool {
        self.to.is_none()
    }

    /// Returns the value in wei; values of more than 32 bytes saturate.
    pub fn value(&self) -> U256 {
        self.value
    }

    /// Returns the call data or the init code.
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// Returns the chain id of the signature; 0 if it is valid for any chain or absent. Unusual values of v give
    /// negative chain ids.
    pub fn chain_id(&self) -> i8 {
        self.signature.as_ref().map_or(0, |signature| signature.chain_id)
    }

    /// Returns the byte v as encoded; 0 if unsigned.
    pub fn encoded_v(&self) -> u8 {
        self.signature.as_ref().map_or(0, Signature::encoded_v)
    }

    /// Returns the recovery value, 27 or 28; 0 if unsigned.
    pub fn recovery_value(&self) -> u8 {
        self.signature.as_ref().map_or(0, |signature| signature.recovery)
    }

    /// Returns r, 0 if unsigned; values of more than 32 bytes saturate.
    pub fn r(&self) -> U256 {
        self.signature.as_ref().map_or(U256::ZERO, |signature| rlp::saturating_u256(&signature.r))
    }

    /// Returns s, 0 if unsigned; values of more than 32 bytes saturate.
    pub fn s(&self) -> U256 {
        self.signature.as_ref().map_or(U256::ZERO, |signature| rlp::saturating_u256(&signature.s))
    }

    /// Returns true if v is present.
    pub fn is_signed(&self) -> bool {
        self.signature.is_some()
    }

    /// Returns true if the transaction has the form of REMASC. It is the REMASC transaction only as the last one of a
    /// block.
    pub fn has_remasc_form(&self) -> bool {
        self.has_remasc_form_but_gas() && !self.gas_limit_bytes().is_empty() && self.gas_limit().is_zero()
    }

    /// Returns true if the transaction has the form of REMASC except for the gas limit. If that is absent, the
    /// reference rejects the whole block.
    pub(crate) fn has_remasc_form_but_gas(&self) -> bool {
        self.to == Some(REMASC)
            && self.data.is_empty()
            && !self.is_signed()
            && self.value.is_zero()
            && self.gas_price.is_zero()
    }

    /// Returns true if the signature is well-formed, s is in the lower half and the chain id is 0 or the local one.
    pub fn accepts_signature(&self, local_chain_id: u8) -> bool {
        self.signature.as_ref().is_some_and(|signature| {
            signature.is_acceptable() && (signature.chain_id == 0 || signature.chain_id as u8 == local_chain_id)
        })
    }

    /// Checks the field lengths that a block requires before execution, and that the signature has a sender.
    pub fn fields_valid(&self) -> bool {
        let gas_limit = self.gas_limit_bytes();
        self.nonce_bytes().len() <= 32
            && (1..=32).contains(&gas_limit.len())
            && self.is_amount_valid
            && self.signature.as_ref().is_none_or(|signature| {
                signature.r.len() <= 32 && signature.s.len() <= 32 && self.recover_sender().is_ok()
            })
    }

    /// Returns the address of the signer; computed once. The REMASC transaction has no signature, so this fails for
    /// it.
    pub fn recover_sender(&self) -> Result<Address, SignatureError> {
        *self.sender.get_or_init(|| match &self.signature {
            Some(signature) => signature.recover(&self.raw_hash()),
            None => Err(SignatureError::Unsigned),
        })
    }

    /// Returns the compressed public key of the signer; a single 0 for the point at infinity.
    pub fn recover_public_key(&self) -> Result<Vec<u8>, SignatureError> {
        self.signature.as_ref().ok_or(SignatureError::Unsigned)?.recover_key(&self.raw_hash())
    }

    /// Returns the intrinsic gas. Free calls (REMASC, some calls of the Bridge) are decided in the crate `evm`.
    pub fn intrinsic_gas(&self, rules: &Rules) -> u64 {
        intrinsic_gas(self.is_creation(), &self.data, rules)
    }
}

impl PartialEq for Transaction {
    fn eq(&self, other: &Self) -> bool {
        self.encoded == other.encoded
    }
}

impl Eq for Transaction {}

/// Returns the address of the contract that a transaction with this sender and nonce creates.
pub fn created_address(sender: &Address, nonce: &U256) -> Address {
    let mut elements = Vec::with_capacity(32);
    rlp::put_address(&mut elements, Some(sender));
    rlp::put_value(&mut elements, nonce);
    Address::from_word(keccak256(rlp::list(&elements)))
}

/// Runs a writer and returns the end of its output.
fn put(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> usize {
    write(out);
    out.len()
}

/// Returns true if a number without leading zeros takes at most 32 bytes in two's complement.
fn is_signed_word(digits: &[u8]) -> bool {
    digits.len() < 32 || (digits.len() == 32 && digits.first().is_some_and(|first| first & 0x80 == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{address, b256, hex};

    #[test]
    fn remasc_of_the_first_blocks() {
        let first = Transaction::remasc(1);
        assert_eq!(first.encode(), hex!("dd8000009400000000000000000000000000000000010000088080808080"));
        assert!(first.has_remasc_form() && first.fields_valid());
        assert_eq!(
            Transaction::remasc(130).hash(),
            b256!("d987c0aa5fda102b5779178ea886fc6b31db78bcc45114247117f0298540142b")
        );
    }

    #[test]
    fn signed_transactions_recover_their_sender() {
        // Private key of the first funded account of regtest.
        let key = keccak256("cow");
        for chain_id in [0, 33, 109] {
            let unsigned = UnsignedTransaction {
                nonce: U256::from(300),
                gas_price: U256::ZERO,
                gas_limit: 21_000,
                to: Some(Address::repeat_byte(7)),
                value: U256::from(5),
                data: Bytes::from_static(&[1, 0, 2]),
            };
            let signed = Transaction::sign(unsigned, chain_id, &key).unwrap();
            assert_eq!(signed.recover_sender(), Ok(address!("cd2a3d9f938e13cd947ec05abc7fe734df8dd826")));
            assert!(signed.accepts_signature(33) == (chain_id != 109));
            let again = Transaction::decode(&signed.encode()).unwrap();
            assert_eq!((again.hash(), again.chain_id()), (signed.hash(), chain_id as i8));
            assert_eq!(again, signed);
        }
    }

    #[test]
    fn chain_ids_above_109_are_rejected() {
        let unsigned = UnsignedTransaction {
            nonce: U256::ZERO,
            gas_price: U256::ZERO,
            gas_limit: 0,
            to: None,
            value: U256::ZERO,
            data: Bytes::new(),
        };
        let key = keccak256("cow");
        assert_eq!(Transaction::sign(unsigned.clone(), 110, &key), Err(SignatureError::ChainId(110)));
        assert_eq!(Transaction::sign(unsigned, 33, &B256::ZERO), Err(SignatureError::InvalidKey));
    }

    #[test]
    fn transactions_wrapped_in_a_string_are_accepted_in_blocks() {
        let mut wrapped = Vec::new();
        rlp::put_bytes(&mut wrapped, &Transaction::remasc(7).encode());
        let (item, _) = Item::first(&wrapped).unwrap();
        assert_eq!(Transaction::from_item(&item), Ok(Transaction::remasc(7)));
        assert_eq!(Transaction::decode(&wrapped), Err(DecodeError::NotOneList));
    }
}
