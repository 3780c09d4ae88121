//! The sender of a peg-in, read from its first input (docs/spec/bridge.md, 6.5.1).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::redeem_script::RedeemScript;
use k256::elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint};
use k256::{AffinePoint, EncodedPoint};
use rhizome_bitcoin::script::p2wsh_program;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, hash160, parse_script};
use rhizome_primitives::{Address, keccak256};

/// Number of elements of the smallest multisig input: an empty push, a signature and the redeem script.
const MULTISIG_ELEMENTS: usize = 3;
/// The encoding of the point at infinity, which the reference accepts as a key.
const INFINITY: [u8; 1] = [0];
const COMPRESSED_SIZE: usize = 33;
const UNCOMPRESSED_SIZE: usize = 65;
const UNCOMPRESSED: u8 = 4;
/// Prefixes of the form with both coordinates that also shows the parity.
const HYBRID_EVEN: u8 = 6;
const HYBRID_ODD: u8 = 7;

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
    /// The form that Bitcoin addresses hash: forms with both coordinates become uncompressed.
    encoded: Vec<u8>,
    account: Address,
}

impl SenderKey {
    fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes == INFINITY {
            return Some(Self { encoded: bytes.to_vec(), account: account_of(&[]) });
        }
        let mut encoded = bytes.to_vec();
        if let [form @ (HYBRID_EVEN | HYBRID_ODD), .., last] = encoded.as_mut_slice() {
            if (*form == HYBRID_ODD) != (*last & 1 == 1) || bytes.len() != UNCOMPRESSED_SIZE {
                return None;
            }
            *form = UNCOMPRESSED;
        }
        let point = EncodedPoint::from_bytes(&encoded).ok()?;
        let point = AffinePoint::from_encoded_point(&point).into_option()?;
        let uncompressed = point.to_encoded_point(false);
        Some(Self { encoded, account: account_of(uncompressed.as_bytes().get(1..)?) })
    }
}

/// Returns the account of a key. `coordinates`: both coordinates of its point.
fn account_of(coordinates: &[u8]) -> Address {
    Address::from_word(keccak256(coordinates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{address, hex};

    const KEY: [u8; 33] = hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124");

    #[test]
    fn all_forms_of_a_key_have_one_account() {
        let point = AffinePoint::from_encoded_point(&EncodedPoint::from_bytes(KEY).unwrap()).unwrap();
        let uncompressed = point.to_encoded_point(false).as_bytes().to_vec();
        let hybrid = |form| [&[form], &uncompressed[1..]].concat();
        let forms = [
            (KEY.to_vec(), KEY.to_vec()),
            (uncompressed.clone(), uncompressed.clone()),
            (hybrid(7), uncompressed.clone()),
        ];
        for (form, encoded) in forms {
            let key = SenderKey::parse(&form).unwrap();
            assert_eq!(key.account, address!("85845342b0d5260d516d6da5280a7df9a96d1925"));
            assert_eq!(key.encoded, encoded);
        }
        for other in [hybrid(6), hybrid(5), uncompressed[..64].to_vec(), vec![], vec![2; 32], vec![0; 2], vec![4; 65]] {
            assert!(SenderKey::parse(&other).is_none(), "{other:?}");
        }
        assert!(SenderKey::parse(&INFINITY).is_some());
    }
}
