//! The accounts that a development node signs for. Their keys are public knowledge.

use crate::error::RpcError;
use k256::ecdsa::SigningKey;
use rhizome_primitives::{Address, B256, keccak256};

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

/// The unlocked accounts of this node.
#[derive(Debug, Default)]
pub struct Accounts {
    accounts: Option<Vec<Account>>,
}

#[derive(Clone)]
struct Account {
    address: Address,
    key: B256,
}

/// Keys are never printed.
impl std::fmt::Debug for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Account").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Accounts {
    /// A node that signs for nobody.
    pub fn none() -> Self {
        Self::default()
    }

    /// The ten funded accounts of the development genesis, then the coinbase account.
    pub fn development() -> Self {
        let accounts = KEY_TEXTS
            .iter()
            .filter_map(|text| {
                let key = keccak256(text.as_bytes());
                address_of(&key).map(|address| Account { address, key })
            })
            .collect();
        Self { accounts: Some(accounts) }
    }

    /// Addresses in the order of `eth_accounts`.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        self.accounts.iter().flatten().map(|account| account.address)
    }

    /// Whether the node signs for this address.
    pub fn contains(&self, address: &Address) -> bool {
        self.addresses().any(|known| known == *address)
    }

    /// The key of an unlocked account; `missing` words the refusal when the address is not one of ours.
    pub fn key(&self, address: &Address, missing: impl FnOnce() -> String) -> Result<B256, RpcError> {
        let Some(accounts) = &self.accounts else {
            return Err(RpcError::invalid_params("Local wallet is disabled in this node"));
        };
        accounts
            .iter()
            .find(|account| account.address == *address)
            .map(|account| account.key)
            .ok_or_else(|| RpcError::invalid_params(missing()))
    }

    /// Signature of a message under the standard prefix: r, s and v (27 or 28); deterministic, low s.
    pub fn sign_message(&self, address: &Address, message: &[u8]) -> Result<[u8; 65], RpcError> {
        let key = self.key(address, || "Account not found".into())?;
        let mut prefixed = format!("\u{19}Ethereum Signed Message:\n{}", message.len()).into_bytes();
        prefixed.extend_from_slice(message);
        let signer = SigningKey::from_slice(key.as_slice()).map_err(RpcError::internal)?;
        let (signature, recovery) =
            signer.sign_prehash_recoverable(keccak256(&prefixed).as_slice()).map_err(RpcError::internal)?;
        let mut bytes = [0; 65];
        let (components, parity) = bytes.split_at_mut(64);
        components.copy_from_slice(&signature.to_bytes());
        parity.fill(27 + recovery.to_byte());
        Ok(bytes)
    }
}

fn address_of(key: &B256) -> Option<Address> {
    let signer = SigningKey::from_slice(key.as_slice()).ok()?;
    let point = signer.verifying_key().to_encoded_point(false);
    // The first byte only says that the point is written in full.
    point.as_bytes().get(1..).map(Address::from_raw_public_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::address;

    #[test]
    fn development_accounts_in_order() {
        let addresses: Vec<Address> = Accounts::development().addresses().collect();
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
        let disabled = Accounts::none().sign_message(&stranger, b"x").unwrap_err();
        assert_eq!(disabled.message, "Local wallet is disabled in this node");
        assert_eq!(Accounts::none().addresses().count(), 0);
    }

    #[test]
    fn keys_stay_out_of_debug_output() {
        let shown = format!("{:?}", Accounts::development());
        assert!(!shown.contains("key"), "{shown}");
    }
}
