//! The accounts that a node signs for: development accounts whose keys are public knowledge, accounts made from a seed
//! text, and stored ones (`key_store`). One place for all workers; keys are in memory only while an account is unlocked.

use crate::error::{ErrorCode, RpcError};
use crate::key_store::KeyStore;
use k256::ecdsa::SigningKey;
use parking_lot::Mutex;
use rhizome_primitives::{Address, B256, hex, keccak256};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Texts whose hashes are the keys, in the order of `eth_accounts`; the last one is the coinbase's.
const KEY_TEXTS: [&str; 11] = [
    "cow",
    "cow1",
    "cow2",
    "cow3",
    "cow4",
    "cow5",
    "cow6",
    "cow7",
    "cow8",
    "cow9",
    "regtest_miner_secret_please_change",
];

/// Seeded accounts at a time: each costs memory as long as the node runs.
const MAX_SEEDED: usize = 10_000;

/// The keys of the ten funded accounts of the development genesis, then that of the coinbase account.
pub fn development_keys() -> impl Iterator<Item = B256> {
    KEY_TEXTS.iter().map(|text| keccak256(text.as_bytes()))
}

/// The accounts of this node.
#[derive(Debug, Default)]
pub struct Accounts {
    wallet: Option<Wallet>,
    impersonated: Mutex<HashSet<Address>>,
    impersonates_all: AtomicBool,
}

#[derive(Debug)]
struct Wallet {
    /// Development accounts, then seeded ones.
    open: Mutex<Vec<Account>>,
    /// Stored accounts that are unlocked.
    unlocked: Mutex<Vec<Account>>,
    store: KeyStore,
}

/// An account and, while it is unlocked, its key.
struct Account {
    address: Address,
    key: Option<B256>,
    until: Option<Instant>,
}

/// The signature source of a transaction.
pub(crate) enum Signer {
    /// The account itself, with its key.
    Key(B256),
    /// No key: the node sends as an impersonated account.
    Impersonated,
}

/// Keys are never printed.
impl std::fmt::Debug for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Account").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Account {
    fn open(address: Address, key: B256) -> Self {
        Self { address, key: Some(key), until: None }
    }

    fn key(&self) -> Option<B256> {
        self.key.filter(|_key| self.until.is_none_or(|until| Instant::now() < until))
    }
}

impl Accounts {
    /// Returns no accounts: the node does not sign.
    pub fn none() -> Self {
        Self::default()
    }

    /// The ten funded accounts of the development genesis, then the coinbase account.
    pub fn development() -> Self {
        Self::with_store(development_keys(), KeyStore::default())
    }

    /// A node that keeps accounts in a store, besides those of `keys`, which are unlocked without end.
    pub fn with_store(keys: impl IntoIterator<Item = B256>, store: KeyStore) -> Self {
        let open = keys.into_iter().filter_map(|key| address_of(&key).map(|address| Account::open(address, key)));
        let wallet = Wallet { open: Mutex::new(open.collect()), unlocked: Mutex::default(), store };
        Self { wallet: Some(wallet), ..Self::none() }
    }

    /// Addresses in the order of `eth_accounts`: development, seeded and stored accounts, locked ones too.
    pub fn addresses(&self) -> Vec<Address> {
        let Some(wallet) = &self.wallet else { return Vec::new() };
        let mut addresses: Vec<Address> = wallet.open.lock().iter().map(|account| account.address).collect();
        let stored = wallet.store.addresses();
        addresses.extend(stored.iter().filter(|stored| !addresses.contains(stored)).copied().collect::<Vec<_>>());
        addresses
    }

    /// Returns the key of an unlocked account. `missing` is the error text if there is no key.
    pub fn key(&self, address: &Address, missing: impl FnOnce() -> String) -> Result<B256, RpcError> {
        let Some(wallet) = &self.wallet else {
            return Err(RpcError::invalid_params("Local wallet is disabled in this node"));
        };
        wallet.unlocked_key(address).ok_or_else(|| RpcError::invalid_params(missing()))
    }

    /// Returns the signer of an address. `missing` is the error text if the node has neither key nor impersonation.
    pub(crate) fn signer(&self, address: &Address, missing: impl FnOnce() -> String) -> Result<Signer, RpcError> {
        if self.impersonated.lock().contains(address) {
            return Ok(Signer::Impersonated);
        }
        match self.impersonates_all.load(Ordering::Acquire) {
            true => Ok(self.signer_or_impersonator(address)),
            false => self.key(address, missing).map(Signer::Key),
        }
    }

    /// Returns the key of an unlocked account, otherwise an impersonation of the address.
    pub(crate) fn signer_or_impersonator(&self, address: &Address) -> Signer {
        self.key(address, String::new).map_or(Signer::Impersonated, Signer::Key)
    }

    /// Whether every address may be sent as without its key.
    pub(crate) fn impersonate_all(&self, is_on: bool) {
        self.impersonates_all.store(is_on, Ordering::Release);
    }

    /// Lets the node send as an address whose key it does not have.
    pub(crate) fn impersonate(&self, address: Address) {
        self.impersonated.lock().insert(address);
    }

    /// Ends an impersonation. False when there was none.
    pub(crate) fn stop_impersonating(&self, address: &Address) -> bool {
        self.impersonated.lock().remove(address)
    }

    /// Signature of a message under the standard prefix: r, s and v (27 or 28); deterministic, low s.
    pub fn sign_message(&self, address: &Address, message: &[u8]) -> Result<[u8; 65], RpcError> {
        self.sign_hash(address, &message_hash(message))
    }

    /// Signature of a hash by an unlocked account.
    pub(crate) fn sign_hash(&self, address: &Address, hash: &B256) -> Result<[u8; 65], RpcError> {
        sign(&self.key(address, || "Account not found".into())?, hash)
    }

    /// An account whose key is the hash of a text: unlocked without end, never stored.
    pub(crate) fn add_seeded(&self, seed: &str) -> Result<Address, RpcError> {
        let wallet = self.wallet()?;
        let key = keccak256(seed.as_bytes());
        let address = checked_address(&key)?;
        let mut open = wallet.open.lock();
        if let Some(known) = open.iter_mut().find(|account| account.address == address) {
            known.key = Some(key);
        } else if open.len() < MAX_SEEDED {
            open.push(Account::open(address, key));
        } else {
            return Err(RpcError::new(ErrorCode::LimitExceeded, "too many accounts"));
        }
        Ok(address)
    }

    /// The address of a key that could be stored here.
    pub(crate) fn address_of_new(&self, key: &[u8]) -> Result<Address, RpcError> {
        self.wallet()?;
        checked_address(&read_key(key)?)
    }

    /// Stores an encrypted key (a Web3 Secret Storage file) and unlocks its account for a time.
    pub(crate) fn store(&self, key: &[u8], encrypted: &str, duration: Duration) -> Result<Address, RpcError> {
        let wallet = self.wallet()?;
        let key = read_key(key)?;
        let address = checked_address(&key)?;
        wallet.store.put(address, encrypted)?;
        wallet.unlock(address, key, duration);
        Ok(address)
    }

    /// The encrypted key of a stored account.
    pub(crate) fn encrypted_key(&self, address: &Address) -> Result<Option<String>, RpcError> {
        Ok(self.wallet()?.store.get(address))
    }

    /// Unlocks a stored account for a time.
    pub(crate) fn unlock(&self, address: &Address, key: &[u8], duration: Duration) -> Result<(), RpcError> {
        let key = read_key(key)?;
        if checked_address(&key)? != *address {
            return Err(RpcError::invalid_params("the key belongs to another account"));
        }
        self.wallet()?.unlock(*address, key, duration);
        Ok(())
    }

    /// Forgets the key of an account, which stays listed. True if it was unlocked.
    pub(crate) fn lock(&self, address: &Address) -> Result<bool, RpcError> {
        let wallet = self.wallet()?;
        let was_unlocked = wallet.unlocked_key(address).is_some();
        wallet.unlocked.lock().retain(|account| account.address != *address);
        if let Some(account) = wallet.open.lock().iter_mut().find(|account| account.address == *address) {
            account.key = None;
        }
        Ok(was_unlocked)
    }

    /// The key of an unlocked account, for its owner.
    pub(crate) fn dump(&self, address: &Address) -> Result<B256, RpcError> {
        let key = self.wallet()?.unlocked_key(address);
        key.ok_or_else(|| RpcError::new(ErrorCode::ServerError, "account is locked"))
    }

    /// Fails with -32604 on a node without accounts.
    fn wallet(&self) -> Result<&Wallet, RpcError> {
        let disabled = || RpcError::new(ErrorCode::WalletDisabled, "The local wallet feature is disabled");
        self.wallet.as_ref().ok_or_else(disabled)
    }
}

impl Wallet {
    fn unlocked_key(&self, address: &Address) -> Option<B256> {
        let find = |accounts: &Mutex<Vec<Account>>| {
            accounts.lock().iter().find(|account| account.address == *address).and_then(Account::key)
        };
        find(&self.open).or_else(|| find(&self.unlocked))
    }

    fn unlock(&self, address: Address, key: B256, duration: Duration) {
        let now = Instant::now();
        let mut unlocked = self.unlocked.lock();
        // Keys whose time is over leave the memory at the latest now.
        unlocked.retain(|account| account.address != address && account.until.is_none_or(|until| now < until));
        // A time beyond the clock's range is no limit.
        unlocked.push(Account { address, key: Some(key), until: now.checked_add(duration) });
    }
}

/// The hash of a message under the standard prefix.
pub(crate) fn message_hash(message: &[u8]) -> B256 {
    let mut prefixed = format!("\u{19}Ethereum Signed Message:\n{}", message.len()).into_bytes();
    prefixed.extend_from_slice(message);
    keccak256(&prefixed)
}

/// Signature of a hash: r, s and v (27 or 28); deterministic, low s.
pub(crate) fn sign(key: &B256, hash: &B256) -> Result<[u8; 65], RpcError> {
    let signer = SigningKey::from_slice(key.as_slice()).map_err(RpcError::internal)?;
    let (signature, recovery) = signer.sign_prehash_recoverable(hash.as_slice()).map_err(RpcError::internal)?;
    let mut bytes = [0; 65];
    let (components, parity) = bytes.split_at_mut(64);
    components.copy_from_slice(&signature.to_bytes());
    parity.fill(27 + recovery.to_byte());
    Ok(bytes)
}

/// A private key from the border. The message must not repeat it.
pub(crate) fn read_key(bytes: &[u8]) -> Result<B256, RpcError> {
    B256::try_from(bytes).map_err(|_length| RpcError::invalid_params("Invalid key: it must have 32 bytes"))
}

fn checked_address(key: &B256) -> Result<Address, RpcError> {
    address_of(key).ok_or_else(|| RpcError::invalid_params("Invalid key: it is not in the range of the curve"))
}

/// The address of a private key; `None` when the key is not in the range of the curve.
pub fn address_of(key: &B256) -> Option<Address> {
    let signer = SigningKey::from_slice(key.as_slice()).ok()?;
    let point = signer.verifying_key().to_encoded_point(false);
    // The first byte only says that the point is written in full.
    point.as_bytes().get(1..).map(Address::from_raw_public_key)
}

/// An address in messages: lower case, checksums are the client's.
pub(crate) fn written(address: &Address) -> String {
    hex::encode_prefixed(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::address;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn development_accounts_in_order() {
        let addresses = Accounts::development().addresses();
        assert_eq!(addresses.len(), 11);
        assert_eq!(addresses[0], address!("cd2a3d9f938e13cd947ec05abc7fe734df8dd826"));
        assert_eq!(addresses[1], address!("7986b3df570230288501eea3d890bd66948c9b79"));
        assert_eq!(addresses[10], address!("ec4ddeb4380ad69b3e509baad9f158cdf4e4681d"));
    }

    #[test]
    fn refusals() {
        let stranger = Address::repeat_byte(9);
        let refused = Accounts::development().sign_message(&stranger, b"x").unwrap_err();
        assert_eq!(refused.message, "Account not found");
        let none = Accounts::none();
        assert_eq!(none.sign_message(&stranger, b"x").unwrap_err().message, "Local wallet is disabled in this node");
        assert_eq!(none.add_seeded("x").unwrap_err().code, ErrorCode::WalletDisabled);
        assert!(none.addresses().is_empty());
        let accounts = Accounts::development();
        for key in [&[][..], &[1; 31], &[0; 32], &[0xff; 32]] {
            assert_eq!(accounts.store(key, "{}", HOUR).unwrap_err().code, ErrorCode::InvalidParams);
        }
    }

    #[test]
    fn stored_accounts_are_open_for_a_time() {
        let accounts = Accounts::development();
        let address = accounts.store(&[1; 32], "{}", HOUR).unwrap();
        assert_eq!(accounts.addresses().last(), Some(&address));
        assert_eq!(accounts.dump(&address).unwrap(), B256::repeat_byte(1));
        assert!(accounts.lock(&address).unwrap() && !accounts.lock(&address).unwrap());
        assert_eq!(accounts.dump(&address).unwrap_err().message, "account is locked");
        accounts.unlock(&address, &[1; 32], Duration::ZERO).unwrap();
        assert!(accounts.dump(&address).is_err(), "no time at all");
        accounts.unlock(&address, &[1; 32], Duration::MAX).unwrap();
        assert!(accounts.dump(&address).is_ok(), "without end");
        assert!(accounts.unlock(&address, &[2; 32], HOUR).is_err(), "another key");
        assert_eq!(accounts.encrypted_key(&address).unwrap().as_deref(), Some("{}"));
    }

    #[test]
    fn locking_a_seeded_account_forgets_it_but_it_stays_listed() {
        let accounts = Accounts::development();
        let address = accounts.add_seeded("vector seed").unwrap();
        assert_eq!(address, address!("b2fda488ea54f136da5fd7b37978f66bcade0675"));
        assert!(accounts.lock(&address).unwrap());
        assert!(accounts.sign_message(&address, b"").is_err());
        assert_eq!(accounts.addresses().len(), 12);
        accounts.add_seeded("vector seed").unwrap();
        assert!(accounts.sign_message(&address, b"").is_ok());
        assert_eq!(accounts.addresses().len(), 12);
    }

    #[test]
    fn keys_stay_out_of_debug_output() {
        let accounts = Accounts::development();
        accounts.store(&[0xab; 32], "encrypted", HOUR).unwrap();
        let shown = format!("{accounts:?}");
        assert!(!shown.contains("key:") && !shown.contains("abab") && !shown.contains("encrypted"), "{shown}");
    }
}
