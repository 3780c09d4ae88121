//! Bitcoin addresses in Base58Check.

use super::constants::Constants;
use rhizome_pow::bitcoin::sha256d;
use sha2::{Digest as _, Sha256};

/// No address of 25 bytes has more characters.
const LONGEST: usize = 50;

/// The hash in an address of the network; none if the text is not such an address.
pub(super) fn decode(text: &[u8], constants: &Constants) -> Option<[u8; 20]> {
    if text.len() > LONGEST {
        return None;
    }
    let bytes: [u8; 25] = bs58::decode(text).into_vec().ok()?.try_into().ok()?;
    let (payload, checksum) = bytes.split_at(21);
    let (version, hash) = payload.split_first()?;
    let is_good = constants.address_versions.contains(version) && sha256d(payload).starts_with(checksum);
    is_good.then(|| hash.try_into().ok()).flatten()
}

/// The P2PKH address of a hash.
pub(super) fn encode(hash: &[u8; 20], constants: &Constants) -> String {
    let [version, _script] = constants.address_versions;
    encode_version(version, hash)
}

/// The P2SH address of a hash.
pub(super) fn encode_script(hash: &[u8; 20], constants: &Constants) -> String {
    let [_key, version] = constants.address_versions;
    encode_version(version, hash)
}

fn encode_version(version: u8, hash: &[u8; 20]) -> String {
    let payload = [&[version][..], hash].concat();
    let checksum = sha256d(&payload);
    let checked = payload.iter().chain(checksum.iter().take(4)).copied().collect::<Vec<u8>>();
    bs58::encode(checked).into_string()
}

/// RIPEMD-160 of SHA-256.
pub(super) fn hash160(data: &[u8]) -> [u8; 20] {
    let word = revm::precompile::crypto().ripemd160(&Sha256::digest(data));
    let mut hash = [0; 20];
    hash.copy_from_slice(&word[12..]);
    hash
}

#[cfg(test)]
mod tests {
    use super::super::constants::constants;
    use super::*;
    use rhizome_primitives::{Network, hex};

    #[test]
    fn addresses_are_read_back() {
        let regtest = constants(Network::Regtest).unwrap();
        let hash = hash160(&hex!("0329f519f8d13a7e3dd35fa5c2480c6bf6c0489da40081e8311a91813492083953"));
        let text = encode(&hash, regtest);
        assert_eq!(decode(text.as_bytes(), regtest), Some(hash));
        assert_eq!(decode(text.as_bytes(), constants(Network::Mainnet).unwrap()), None);
        let script = decode(regtest.federation_address.as_bytes(), regtest).unwrap();
        assert_eq!(script, hex!("896ed9f3446d51b5510f7f0b6ef81b2bde55140e"));
    }

    #[test]
    fn other_texts_are_no_addresses() {
        let regtest = constants(Network::Regtest).unwrap();
        let good = regtest.federation_address;
        let texts =
            ["", "1", "notanaddress", "0OIl", &good[1..], &good.replace('2', "3"), "\u{e9}", &"1".repeat(100_000)];
        for text in texts {
            assert_eq!(decode(text.as_bytes(), regtest), None, "{text:.60}");
        }
    }
}
