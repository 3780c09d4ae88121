//! Encrypted keys on disk: one Web3 Secret Storage file (version 3) an account, as other tools write and read them.
//! The content is opaque to this module: encryption and decryption are done elsewhere.

use crate::atomic_file;
use crate::error::RpcError;
use parking_lot::Mutex;
use rhizome_primitives::{Address, hex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Longest file that can be a key; others are left alone.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The stored keys. Without a folder they live as long as the node.
#[derive(Default)]
pub struct KeyStore {
    folder: Option<PathBuf>,
    files: Mutex<BTreeMap<Address, String>>,
}

/// Encrypted keys are not printed either.
impl std::fmt::Debug for KeyStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("KeyStore").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

impl KeyStore {
    /// Reads a folder, which need not exist. Files that are no keys are left alone.
    pub fn open(folder: &Path) -> Result<Self, RpcError> {
        let failed = |error: std::io::Error| RpcError::internal(format!("key store {}: {error}", folder.display()));
        let mut files = BTreeMap::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
                continue;
            }
            let bytes = fs::read(entry.path()).map_err(failed)?;
            if let Some((address, text)) =
                String::from_utf8(bytes).ok().and_then(|text| Some((address_in(&text)?, text)))
            {
                files.insert(address, text);
            }
        }
        Ok(Self { folder: Some(folder.to_path_buf()), files: Mutex::new(files) })
    }

    /// Addresses in ascending order.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        self.files.lock().keys().copied().collect()
    }

    /// The encrypted key of an account.
    pub(crate) fn get(&self, address: &Address) -> Option<String> {
        self.files.lock().get(address).cloned()
    }

    /// Stores an encrypted key in place of an earlier one of the same account. The file is there whole or not at all, and
    /// only its owner may read it.
    pub(crate) fn put(&self, address: Address, encrypted: &str) -> Result<(), RpcError> {
        let mut files = self.files.lock();
        if let Some(folder) = &self.folder {
            write(folder, &address, encrypted)
                .map_err(|error| RpcError::from_write(&error, format_args!("key store {}", folder.display())))?;
        }
        files.insert(address, encrypted.to_owned());
        Ok(())
    }
}

fn write(folder: &Path, address: &Address, encrypted: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    // On disk before the answer: the address may receive funds already.
    atomic_file::write(&folder.join(format!("{}.json", hex::encode(address))), encrypted.as_bytes(), true)
}

/// The address that a file of version 3 names.
fn address_in(text: &str) -> Option<Address> {
    let value: Value = serde_json::from_str(text).ok()?;
    let is_version_3 = value.get("version").and_then(Value::as_u64) == Some(3);
    let has_secret = value.get("crypto").or_else(|| value.get("Crypto")).is_some_and(Value::is_object);
    let address = value.get("address")?.as_str()?;
    let bytes = hex::decode(address.strip_prefix("0x").unwrap_or(address)).ok()?;
    Address::try_from(bytes.as_slice()).ok().filter(|_address| is_version_3 && has_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(address: &Address) -> String {
        format!("{{\"address\":\"{}\",\"version\":3,\"Crypto\":{{}}}}", hex::encode(address))
    }

    #[test]
    fn keys_outlive_the_node() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("keystore");
        let store = KeyStore::open(&place).unwrap();
        let [one, two] = [1, 2].map(Address::repeat_byte);
        store.put(two, &file(&two)).unwrap();
        store.put(one, &file(&one)).unwrap();
        store.put(one, &file(&one)).unwrap();
        fs::write(place.join("notes.txt"), "not a key").unwrap();
        fs::write(place.join("old.json"), "{\"version\":1}").unwrap();
        let again = KeyStore::open(&place).unwrap();
        assert_eq!(again.addresses(), [one, two]);
        assert_eq!(again.get(&one), Some(file(&one)));
        assert_eq!(again.get(&Address::ZERO), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_a_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = KeyStore::open(folder.path()).unwrap();
        store.put(Address::ZERO, "{}").unwrap();
        let path = folder.path().join(format!("{}.json", "0".repeat(40)));
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
