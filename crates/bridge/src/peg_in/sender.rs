//! The sender of a peg-in, read from its first input (docs/spec/bridge.md, 6.5.1).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::public_key;
use crate::redeem_script::RedeemScript;
use rhizome_bitcoin::script::p2wsh_program;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, hash160, parse_script};
use rhizome_primitives::Address;

/// Number of elements of the smallest multisig input: an empty push, a signature and the redeem script.
const MULTISIG_ELEMENTS: usize = 3;
const COMPRESSED_SIZE: usize = 33;

/// The sender of a peg-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PegInSender {
    pub(super) kind: SenderKind,
    pub(super) address: BitcoinAddress,
}

/// The kinds of senders. Keys come with their RSK account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SenderKind {
    /// P2PKH.
    Key(Address),
    /// P2WPKH behind P2SH.
    WitnessKey(Address),
    /// A multisig behind P2SH.
    Multisig,
    /// A multisig in P2WSH behind P2SH.
    WitnessMultisig,
}

impl PegInSender {
    /// Returns the sender; `None` if its kind is unknown.
    pub(super) fn of(ctx: &CallContext<'_>, transaction: &BitcoinTransaction) -> Result<Option<Self>> {
        let Some(input) = transaction.inputs.first() else { return Ok(None) };
        let chunks = parse_script(&input.script)?;
        let [key_version, script_version] = ctx.constants.address_versions;
        let behind_script = |script: &[u8]| BitcoinAddress { version: script_version, hash: hash160(script) };
        if let [_signature, key] = chunks.as_slice()
            && let Some(key) = key.data.and_then(SenderKey::parse)
        {
            let address = BitcoinAddress { version: key_version, hash: hash160(&key.encoded) };
            return Ok(Some(Self { kind: SenderKind::Key(key.account), address }));
        }
        if let ([_program], [_signature, key]) = (chunks.as_slice(), input.witness.as_slice()) {
            let key = SenderKey::parse(key).ok_or(MethodFailure::Rejected)?;
            if key.encoded.len() == COMPRESSED_SIZE {
                let address = behind_script(&[&[0, 20][..], &hash160(&key.encoded)].concat());
                return Ok(Some(Self { kind: SenderKind::WitnessKey(key.account), address }));
            }
        }
        if let Some(last) = chunks.last()
            && chunks.len() >= MULTISIG_ELEMENTS
        {
            let script = last.data.ok_or(MethodFailure::Rejected)?;
            if RedeemScript::recognize(script)?.is_multisig() {
                return Ok(Some(Self { kind: SenderKind::Multisig, address: behind_script(script) }));
            }
        }
        if let Some(script) = input.witness.last()
            && chunks.len() == 1
            && input.witness.len() >= MULTISIG_ELEMENTS
            && RedeemScript::recognize(script)?.is_multisig()
        {
            let address = behind_script(&p2wsh_program(script));
            return Ok(Some(Self { kind: SenderKind::WitnessMultisig, address }));
        }
        Ok(None)
    }
}

/// A public key in one of the forms that the reference reads.
struct SenderKey {
    /// The form that Bitcoin addresses hash: hybrid forms become uncompressed.
    encoded: Vec<u8>,
    account: Address,
}

impl SenderKey {
    fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes == public_key::INFINITY {
            return Some(Self { encoded: bytes.to_vec(), account: public_key::account(None) });
        }
        let point = public_key::point(bytes)?;
        let encoded = match bytes.len() {
            COMPRESSED_SIZE => point.serialize().to_vec(),
            _ => point.serialize_uncompressed().to_vec(),
        };
        Some(Self { encoded, account: public_key::account(Some(&point)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    const KEY: [u8; 33] = hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124");

    #[test]
    fn addresses_hash_the_compressed_or_the_uncompressed_form() {
        let point = public_key::point(&KEY).unwrap();
        let uncompressed = point.serialize_uncompressed().to_vec();
        let hybrid = [&[7], &uncompressed[1..]].concat();
        let infinity = public_key::INFINITY.to_vec();
        let account = public_key::account(Some(&point));
        let forms = [
            (KEY.to_vec(), KEY.to_vec(), account),
            (uncompressed.clone(), uncompressed.clone(), account),
            (hybrid, uncompressed, account),
            (infinity.clone(), infinity, public_key::account(None)),
        ];
        for (form, encoded, account) in forms {
            let key = SenderKey::parse(&form).unwrap();
            assert_eq!((key.encoded, key.account), (encoded, account));
        }
    }

    #[test]
    fn compact_keys_are_no_keys() {
        let compact = [&[5], &KEY[1..]].concat();
        assert!(SenderKey::parse(&compact).is_none());
    }
}
