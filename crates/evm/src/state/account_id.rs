//! Who an account belongs to.

use rhizome_primitives::Address;
use rhizome_trie::keys::REMASC_SENDER;

/// An account of the state: nearly always an address of 20 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountId {
    /// An ordinary account.
    Address(Address),
    /// The sender of REMASC transactions, whose address is a single zero byte.
    RemascSender,
}

impl AccountId {
    /// The bytes that the trie key is made from.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            AccountId::Address(address) => address.as_slice(),
            AccountId::RemascSender => REMASC_SENDER,
        }
    }

    /// The address shown to contracts and users: zero for the REMASC sender.
    pub fn address(&self) -> Address {
        match self {
            AccountId::Address(address) => *address,
            AccountId::RemascSender => Address::ZERO,
        }
    }
}

impl From<Address> for AccountId {
    fn from(address: Address) -> AccountId {
        AccountId::Address(address)
    }
}

impl From<&Address> for AccountId {
    fn from(address: &Address) -> AccountId {
        AccountId::Address(*address)
    }
}
