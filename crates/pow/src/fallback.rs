//! Fallback blocks: signed by one of two keys instead of mined. Mainnet before RSKIP-98, at low difficulty only.

use crate::merged_mining::present;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use rhizome_primitives::{B256, ChainSpec, Header, HeaderError, Rule, U256, hex, rlp};

/// Key of even block numbers, uncompressed.
const EVEN_KEY: [u8; 65] = hex!(
    "041e2b148c024770e19c4f31db2233cac791583df95b4d14a5e9fd4b38dc8254b3048f937f169446b19d2eca40db1dd93fab34c0cd8a310afd6e6211f9a89e4bca"
);

/// Key of odd block numbers, uncompressed.
const ODD_KEY: [u8; 65] = hex!(
    "04b55031870df5de88bdb84f65bd1c6f8331c633e759caa5ac7cad3fa4f8a36791e995804bba1558ddcf330a67ff5bfa253fa1d8789735f97a97e849686527976e"
);

/// Half of the order of secp256k1, rounded down. `s` must be lower.
const HALF_ORDER: [u8; 32] = hex!("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");

/// Why a fallback signature is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FallbackError {
    /// The element is missing or is not a list of v, r, s in canonical form.
    #[error("the fallback signature is malformed")]
    Malformed,
    /// The header has no hash for merged mining.
    #[error("there is no hash for merged mining")]
    NoHash(#[source] HeaderError),
    /// The signature is not by the fallback key of this block number.
    #[error("the fallback signature is not by the fallback key")]
    OtherKey,
}

/// Returns true if the header needs a signature instead of a proof of work.
pub(crate) fn is_fallback(header: &Header, spec: &ChainSpec) -> bool {
    !spec.rules(header.number).is_active(Rule::Rskip98)
        && present(&header.bitcoin_coinbase).is_none()
        && present(&header.merkle_proof).is_none()
        && header.difficulty_value() <= spec.constants.fallback_difficulty
}

/// Checks the signature in the Bitcoin header element.
pub(crate) fn check(header: &Header) -> Result<(), FallbackError> {
    let element = present(&header.bitcoin_header).ok_or(FallbackError::Malformed)?;
    let (recovery, signature) = parse(element).ok_or(FallbackError::Malformed)?;
    let hash: B256 = header.hash_for_merged_mining().map_err(FallbackError::NoHash)?;
    let key = VerifyingKey::recover_from_prehash(hash.as_slice(), &signature, recovery)
        .map_err(|_no_key| FallbackError::OtherKey)?;
    let expected = if header.number.is_multiple_of(2) { &EVEN_KEY } else { &ODD_KEY };
    if key.to_encoded_point(false).as_bytes() == expected { Ok(()) } else { Err(FallbackError::OtherKey) }
}

fn parse(element: &[u8]) -> Option<(RecoveryId, Signature)> {
    let [v, r, s] = rlp::decode_list(element).ok()?.exactly("fallback signature").ok()?;
    let &[v] = v.bytes() else { return None };
    // 31 would be a recovery id of 4, which does not exist.
    let recovery = RecoveryId::from_byte(v.checked_sub(27)?)?;
    let (r, s) = (scalar(r.bytes())?, scalar(s.bytes())?);
    if s >= HALF_ORDER {
        return None;
    }
    Some((recovery, Signature::from_scalars(r, s).ok()?))
}

/// Decodes a number in minimal signed form of at most 256 bits.
fn scalar(bytes: &[u8]) -> Option<[u8; 32]> {
    let digits = match bytes {
        [] => return None,
        [0] => &[],
        [0, rest @ ..] if rest.first()? & 0x80 != 0 => rest,
        [first, ..] if *first != 0 && first & 0x80 == 0 => bytes,
        _ => return None,
    };
    Some(U256::try_from_be_slice(digits)?.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_one_form() {
        assert!(scalar(&[]).is_none());
        assert!(scalar(&[0, 1]).is_none(), "needless zero");
        assert!(scalar(&[0x80]).is_none(), "negative");
        assert_eq!(scalar(&[0, 0x80]).map(|bytes| bytes[31]), Some(0x80));
        assert_eq!(scalar(&[0x7f]).map(|bytes| bytes[31]), Some(0x7f));
        assert_eq!(scalar(&[0]), Some([0; 32]));
        assert!(scalar(&[1; 33]).is_none());
    }
}
