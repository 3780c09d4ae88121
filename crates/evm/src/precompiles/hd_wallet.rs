//! HDWalletUtils (0x01000009; RSKIP-106): Base58Check, BIP-32 public keys, multisig script hashes.

use super::bip32::{ExtendedKey, compress, read_compressed};
use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use k256::AffinePoint;
use k256::EncodedPoint;
use k256::elliptic_curve::sec1::FromEncodedPoint;
use rhizome_bitcoin::{base58check, hash160};
use rhizome_primitives::abi::{self, selector};
use rhizome_primitives::{Bytes, I256};

const TO_BASE58_CHECK: u32 = 0x838c_2a31;
const DERIVE_EXTENDED_PUBLIC_KEY: u32 = 0xab65_ddb7;
const EXTRACT_PUBLIC_KEY: u32 = 0x815a_4f90;
const GET_MULTISIG_SCRIPT_HASH: u32 = 0x8ad1_3825;

const PATH_LEVELS: usize = 10;
const MULTISIG_KEYS: std::ops::RangeInclusive<usize> = 2..=15;

pub(super) struct HdWallet;

/// A call with decoded arguments, not yet validated.
enum HdWalletCall<'a> {
    ToBase58Check { hash: &'a [u8], version: I256 },
    Derive { key: &'a [u8], path: &'a [u8] },
    Extract { key: &'a [u8] },
    MultisigScriptHash { required: I256, keys: Vec<&'a [u8]> },
}

impl<'a> HdWalletCall<'a> {
    fn parse(input: &'a [u8]) -> Option<Self> {
        let (method, arguments) = selector(input)?;
        match method {
            TO_BASE58_CHECK => Some(Self::ToBase58Check { hash: arguments.bytes(0)?, version: arguments.integer(1)? }),
            DERIVE_EXTENDED_PUBLIC_KEY => Some(Self::Derive { key: arguments.bytes(0)?, path: arguments.bytes(1)? }),
            EXTRACT_PUBLIC_KEY => Some(Self::Extract { key: arguments.bytes(0)? }),
            GET_MULTISIG_SCRIPT_HASH => {
                Some(Self::MultisigScriptHash { required: arguments.integer(0)?, keys: arguments.list(1)? })
            }
            _ => None,
        }
    }

    fn price(&self) -> u64 {
        match self {
            Self::ToBase58Check { .. } => 13_000,
            Self::Derive { .. } => 107_000,
            Self::Extract { .. } => 11_300,
            Self::MultisigScriptHash { keys, .. } => 20_000 + 700 * (keys.len() as u64).saturating_sub(2),
        }
    }

    fn execute(&self) -> Option<Bytes> {
        match self {
            Self::ToBase58Check { hash, version } => to_base58_check(hash, *version),
            Self::Derive { key, path } => {
                let levels = parse_path(path)?;
                let key = levels.into_iter().try_fold(ExtendedKey::parse(key)?, |key, level| key.child(level))?;
                Some(abi::encode_bytes(key.to_text().as_bytes()))
            }
            Self::Extract { key } => Some(abi::encode_bytes(&ExtendedKey::parse(key)?.public_key())),
            Self::MultisigScriptHash { required, keys } => multisig_script_hash(*required, keys),
        }
    }
}

impl Precompile for HdWallet {
    fn required_gas(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(HdWalletCall::parse(input).map_or(0, |request| request.price()))
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let output =
            HdWalletCall::parse(input).and_then(|request| request.execute()).ok_or(PrecompileFailure::Failed)?;
        Ok(PrecompileOutput::Output(output))
    }
}

fn to_base58_check(hash: &[u8], version: I256) -> Option<Bytes> {
    let hash: &[u8; 20] = hash.try_into().ok()?;
    let version = u8::try_from(version).ok()?;
    let mut payload = vec![version];
    payload.extend(hash);
    Some(abi::encode_bytes(base58check::encode(&payload).as_bytes()))
}

/// Parses numbers separated by slashes. The path must start and end with a digit.
fn parse_path(path: &[u8]) -> Option<Vec<u32>> {
    let path = std::str::from_utf8(path).ok()?;
    let is_digit = |character: Option<char>| character.and_then(digit_value).is_some();
    if !is_digit(path.chars().next()) || !is_digit(path.chars().next_back()) {
        return None;
    }
    if path.bytes().filter(|byte| *byte == b'/').count() >= PATH_LEVELS {
        return None;
    }
    path.split('/').map(parse_level).collect()
}

/// Parses a decimal number below 2^31. As in the reference, it can have a sign.
fn parse_level(chunk: &str) -> Option<u32> {
    let (is_negative, digits) = match chunk.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, chunk.strip_prefix('+').unwrap_or(chunk)),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.chars().try_fold(0_i32, |value, character| {
        value.checked_mul(10)?.checked_add(i32::try_from(digit_value(character)?).ok()?)
    })?;
    if is_negative && value != 0 { None } else { u32::try_from(value).ok() }
}

/// Returns the value of a decimal digit of any script in the first Unicode plane, all of which the reference accepts.
fn digit_value(character: char) -> Option<u32> {
    /// The zero of each run of ten decimal digits.
    const ZEROS: [u16; 37] = [
        0x0030, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
        0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
        0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    ];
    let code = u32::from(character);
    ZEROS.iter().map(|zero| code.wrapping_sub(u32::from(*zero))).find(|value| *value < 10)
}

/// Returns the hash of the script `m <keys> n OP_CHECKMULTISIG` with compressed and sorted keys.
fn multisig_script_hash(required: I256, keys: &[&[u8]]) -> Option<Bytes> {
    if !MULTISIG_KEYS.contains(&keys.len()) {
        return None;
    }
    let required = u8::try_from(required).ok().filter(|required| (1..=keys.len()).contains(&usize::from(*required)))?;
    let mut keys: Vec<[u8; 33]> =
        keys.iter().map(|key| read_key(key).map(|point| compress(&point))).collect::<Option<_>>()?;
    keys.sort_unstable();
    let small_number = |number: u8| 0x50 + number;
    let mut script = vec![small_number(required)];
    for key in &keys {
        script.push(33);
        script.extend(key);
    }
    script.push(small_number(u8::try_from(keys.len()).ok()?));
    script.push(0xae);
    Some(abi::encode_bytes(&hash160(&script)))
}

/// Reads a public key of 33 or 65 bytes. The tag of the long form can contain the parity of y (6 or 7).
fn read_key(bytes: &[u8]) -> Option<AffinePoint> {
    if let Ok(compressed) = <&[u8; 33]>::try_from(bytes) {
        return read_compressed(compressed);
    }
    let long: &[u8; 65] = bytes.try_into().ok()?;
    let is_odd = long.last()? & 1 == 1;
    match (long.first()?, is_odd) {
        (4, _) | (6, false) | (7, true) => {
            let encoded = EncodedPoint::from_untagged_bytes(&padded::<64>(long, 1).into());
            Option::from(AffinePoint::from_encoded_point(&encoded))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precompiles::golden;
    use rhizome_primitives::hex;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-hdw-", 59);
    }

    #[test]
    fn parses_paths() {
        let parse = |path: &str| parse_path(path.as_bytes());
        assert_eq!(parse("0/2147483647"), Some(vec![0, 2_147_483_647]));
        assert_eq!(parse("1/+2/-0/-000"), Some(vec![1, 2, 0, 0]));
        assert_eq!(parse("\u{0661}/\u{ff19}"), Some(vec![1, 9]));
        for path in ["", "+1", "1/", "/1", "1//2", "1/-1", "1/2147483648", "1/+/1", "1/ 2/3", "1/2H/3", "\u{1d7d8}"] {
            assert_eq!(parse(path), None, "{path}");
        }
        assert_eq!(parse_path(&[b'1', 0xff, b'1']), None);
        assert!(parse(&["1"; 10].join("/")).is_some());
        assert!(parse(&["1"; 11].join("/")).is_none());
    }

    #[test]
    fn reads_keys() {
        let x = "50863ad64a87ae8a2fe83c1af1a8403cb53f53e486d8511dad8a04887e5b2352";
        let y = "2cd470243453a299fa9e77237716103abc11a1df38855ed6f2ee187e9c582ba6";
        let key = |tag: &str, rest: &[&str]| read_key(&hex::decode([&[tag], rest].concat().concat()).unwrap());
        let point = key("04", &[x, y]);
        assert!(point.is_some());
        assert_eq!(key("06", &[x, y]), point);
        assert_eq!(key("02", &[x]), point);
        for (tag, rest) in
            [("07", &[x, y][..]), ("05", &[x, y]), ("05", &[x]), ("04", &[x, x]), ("04", &[x]), ("", &[])]
        {
            assert_eq!(key(tag, rest), None, "{tag}");
        }
    }

    #[test]
    fn checks_versions() {
        assert!(to_base58_check(&[0; 20], I256::try_from(255).unwrap()).is_some());
        assert!(to_base58_check(&[0; 20], I256::try_from(256).unwrap()).is_none());
        assert!(to_base58_check(&[0; 20], I256::MINUS_ONE).is_none());
        assert!(to_base58_check(&[0; 21], I256::ZERO).is_none());
    }
}
