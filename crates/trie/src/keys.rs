//! Layout of the state in the trie: keys of accounts, code and storage slots, and the encoding of slot values
//! (docs/spec/state.md, 3).

use rhizome_primitives::{B256, Bytes, U256, keccak256, keccak256_all, rlp};

/// Address of the sender of REMASC transactions: one zero byte, shown as twenty in the RPC API.
pub const REMASC_SENDER: &[u8] = &[0];

/// Address of the account that receives the fees of headers without a coinbase: no bytes, shown as twenty zero bytes in the
/// RPC API. It never has more than a balance.
pub const NULL_ADDRESS: &[u8] = &[];

/// Value of the mark that makes an account a contract.
pub const MARK: &[u8] = &[1];

/// First byte of every state key.
const DOMAIN: u8 = 0x00;
const CODE: u8 = 0x80;
const STORAGE: u8 = 0x00;
const HIDING: u8 = 0x01;
/// Bytes of a hash in front of the hashed data, which spread the keys evenly.
const HASH_PREFIX: usize = 10;

/// Length of an account key in bytes (12 for the REMASC sender, 11 for the null address).
pub const ACCOUNT_KEY_LENGTH: usize = 1 + HASH_PREFIX + 20;
const REMASC_SENDER_KEY: [u8; 12] = [0x00, 0xbc, 0x36, 0x78, 0x9e, 0x7a, 0x1e, 0x28, 0x14, 0x36, 0x46, 0x00];
const NULL_ADDRESS_KEY: [u8; 11] = [0x00, 0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e];
/// Bytes between an account key and a stripped slot number: the storage byte and the hash prefix.
const SLOT_PREFIX: usize = 1 + HASH_PREFIX;

/// Returns the key of the account at an address of 20 bytes, of [`REMASC_SENDER`], or of [`NULL_ADDRESS`].
pub fn account_key(address: &[u8]) -> Vec<u8> {
    hashed_account_key(address, &keccak256(address))
}

/// Returns the [`account_key`] of each address.
pub fn account_keys<A: AsRef<[u8]>>(addresses: &[A]) -> Vec<Vec<u8>> {
    let hashes = keccak256_all(addresses);
    addresses.iter().zip(hashes).map(|(address, hash)| hashed_account_key(address.as_ref(), &hash)).collect()
}

fn hashed_account_key(address: &[u8], hash: &B256) -> Vec<u8> {
    // Room for the longest key below, so that callers can extend it in place.
    let mut key = Vec::with_capacity(ACCOUNT_KEY_LENGTH + SLOT_PREFIX + 32);
    key.push(DOMAIN);
    key.extend(hash.iter().take(HASH_PREFIX));
    key.extend_from_slice(address);
    key
}

/// Returns the key of the code below an account key.
pub fn code_key_of(account_key: &[u8]) -> Vec<u8> {
    [account_key, &[CODE]].concat()
}

/// Returns the key of the contract mark below an account key. All storage slots are below the mark.
pub fn mark_key_of(account_key: &[u8]) -> Vec<u8> {
    [account_key, &[STORAGE]].concat()
}

/// Returns the key below an account key of the mark that hides the storage slots of a deleted account. Only the databases of
/// forks have it: there the slots that were not written are elsewhere, and cannot be listed.
pub fn hiding_key_of(account_key: &[u8]) -> Vec<u8> {
    [account_key, &[HIDING]].concat()
}

/// Returns true for a key of [`hiding_key_of`].
pub fn is_hiding_key(key: &[u8]) -> bool {
    matches!(key, [account @ .., HIDING] if account_length(account) == Some(account.len()))
}

/// Returns the key of the mark that would hide a storage slot; `None` if the key is not that of a slot.
pub fn hiding_key(slot_key: &[u8]) -> Option<Vec<u8>> {
    match StateKey::parse(slot_key)?.part {
        KeyPart::Slot(_) => Some(hiding_key_of(slot_key.get(..account_length(slot_key)?)?)),
        KeyPart::Account | KeyPart::Code | KeyPart::Mark => None,
    }
}

/// Returns the key of a storage slot below an account key.
pub fn storage_key_of(account_key: &[u8], slot: &B256) -> Vec<u8> {
    let hash = keccak256(slot);
    let mut key = Vec::with_capacity(account_key.len() + SLOT_PREFIX + 32);
    key.extend_from_slice(account_key);
    key.push(STORAGE);
    key.extend(hash.iter().take(HASH_PREFIX));
    let stripped = rlp::strip_zeros(slot.as_slice());
    key.extend_from_slice(if stripped.is_empty() { &[0] } else { stripped });
    key
}

/// Returns the key of the code at an address.
pub fn code_key(address: &[u8]) -> Vec<u8> {
    code_key_of(&account_key(address))
}

/// Returns the key of the contract mark at an address.
pub fn mark_key(address: &[u8]) -> Vec<u8> {
    mark_key_of(&account_key(address))
}

/// Returns the key of a storage slot at an address.
pub fn storage_key(address: &[u8], slot: &B256) -> Vec<u8> {
    storage_key_of(&account_key(address), slot)
}

/// Address and part of an account that a state key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateKey<'a> {
    /// Address of 20 bytes, [`REMASC_SENDER`] or [`NULL_ADDRESS`].
    pub address: &'a [u8],
    /// Part of the account.
    pub part: KeyPart,
}

/// Parts of an account, each with its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPart {
    /// Nonce, balance and flags.
    Account,
    /// The code.
    Code,
    /// The mark that makes the account a contract.
    Mark,
    /// A storage slot, by its number.
    Slot(B256),
}

impl<'a> StateKey<'a> {
    /// Parses a key; `None` if no account can have it.
    pub fn parse(key: &'a [u8]) -> Option<StateKey<'a>> {
        let account_length = account_length(key)?;
        let (account, rest) = key.split_at_checked(account_length)?;
        let address = account.get(1 + HASH_PREFIX..)?;
        let part = match rest {
            [] => KeyPart::Account,
            [CODE] => KeyPart::Code,
            [STORAGE] => KeyPart::Mark,
            [STORAGE, hashed_slot @ ..] => {
                let slot = hashed_slot.get(HASH_PREFIX..).filter(|slot| (1..=32).contains(&slot.len()))?;
                KeyPart::Slot(B256::left_padding_from(slot))
            }
            _ => return None,
        };
        Some(StateKey { address, part })
    }
}

/// Returns the length of the account key that a key begins with.
fn account_length(key: &[u8]) -> Option<usize> {
    if key.starts_with(&REMASC_SENDER_KEY) {
        let is_ordinary = key.get(1 + HASH_PREFIX..ACCOUNT_KEY_LENGTH).is_some_and(|address| {
            keccak256(address).iter().take(HASH_PREFIX).eq(key.iter().skip(1).take(HASH_PREFIX))
        });
        return Some(if is_ordinary { ACCOUNT_KEY_LENGTH } else { REMASC_SENDER_KEY.len() });
    }
    if key == NULL_ADDRESS_KEY {
        return Some(NULL_ADDRESS_KEY.len());
    }
    (key.first() == Some(&DOMAIN) && key.len() >= ACCOUNT_KEY_LENGTH).then_some(ACCOUNT_KEY_LENGTH)
}

/// Encodes a word as a slot value, without leading zeros; `None` (no slot) for zero.
pub fn encode_slot_value(word: U256) -> Option<Bytes> {
    (!word.is_zero()).then(|| Bytes::copy_from_slice(rlp::strip_zeros(&word.to_be_bytes::<32>())))
}

/// Decodes a slot value; `None` if it is longer than a word, which only slots of the Bridge are.
pub fn decode_slot_value(value: &[u8]) -> Option<U256> {
    (value.len() <= 32).then(|| U256::from_be_slice(value))
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::hex;

    use super::*;

    #[test]
    fn keys_round_trip() {
        let slot = B256::with_last_byte(7);
        for address in [&[0x11; 20][..], &[0; 20], REMASC_SENDER] {
            let check = |key: Vec<u8>, part| assert_eq!(StateKey::parse(&key), Some(StateKey { address, part }));
            check(account_key(address), KeyPart::Account);
            check(code_key(address), KeyPart::Code);
            check(mark_key(address), KeyPart::Mark);
            check(storage_key(address, &slot), KeyPart::Slot(slot));
            check(storage_key(address, &B256::ZERO), KeyPart::Slot(B256::ZERO));
        }
        assert_eq!(account_key(REMASC_SENDER), REMASC_SENDER_KEY);
        assert_eq!(account_key(NULL_ADDRESS), NULL_ADDRESS_KEY);
        let null = StateKey { address: NULL_ADDRESS, part: KeyPart::Account };
        assert_eq!(StateKey::parse(&NULL_ADDRESS_KEY), Some(null));
        assert_eq!(StateKey::parse(&[0; 30]), None);
        assert_eq!(StateKey::parse(&[1; 31]), None);
        assert_eq!(StateKey::parse(&[0; 35]), None);
    }

    #[test]
    fn the_mark_of_hidden_slots_is_below_the_account() {
        for address in [&[0x11; 20][..], REMASC_SENDER] {
            let account = account_key(address);
            let mark = hiding_key_of(&account);
            assert_eq!(hiding_key(&storage_key(address, &B256::with_last_byte(7))), Some(mark.clone()));
            assert_eq!(StateKey::parse(&mark), None);
            assert!(is_hiding_key(&mark) && !is_hiding_key(&account));
            for key in [account.clone(), code_key(address), mark_key(address), mark] {
                assert_eq!(hiding_key(&key), None);
            }
        }
    }

    #[test]
    fn slot_keys_hash_the_whole_number_and_append_it_stripped() {
        let account = account_key(&hex!("cd2a3d9f938e13cd947ec05abc7fe734df8dd826"));
        let slot = B256::with_last_byte(1);
        let expected =
            hex!("00a28629e41841cc5e7028cd2a3d9f938e13cd947ec05abc7fe734df8dd826 00 b10e2d527612073b26ee 01");
        assert_eq!(storage_key_of(&account, &slot), expected);
    }

    #[test]
    fn account_keys_equal_single_account_keys() {
        let addresses: Vec<Vec<u8>> = (0..10).map(|n| vec![n; if n == 0 { 1 } else { 20 }]).collect();
        assert!(account_keys(&addresses).iter().eq(&addresses.iter().map(|a| account_key(a)).collect::<Vec<_>>()));
    }

    #[test]
    fn slot_values_round_trip() {
        assert_eq!(encode_slot_value(U256::ZERO), None);
        assert_eq!(encode_slot_value(U256::from(256)).unwrap().to_vec(), [1, 0]);
        assert_eq!(decode_slot_value(&[0, 0, 5]), Some(U256::from(5)));
        assert_eq!(decode_slot_value(&[1; 33]), None);
    }
}
