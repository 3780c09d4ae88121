//! The identity of an account.

use rhizome_primitives::Address;
use rhizome_trie::keys::REMASC_SENDER;

/// An account of the state: an address of 20 bytes, with one exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountId {
    /// An ordinary account.
    Address(Address),
    /// The sender of REMASC transactions, whose address is a single zero byte.
    RemascSender,
}

impl AccountId {
    /// Returns the bytes from which the trie key is made.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            AccountId::Address(address) => address.as_slice(),
            AccountId::RemascSender => REMASC_SENDER,
        }
    }

    /// Returns the address as contracts and users see it: zero for the REMASC sender.
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
