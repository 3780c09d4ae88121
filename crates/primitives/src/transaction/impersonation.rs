//! Impersonated transactions of development networks, which contain the sender in place of a signature.
//!
//! r is the word "impersonated" followed by the address, s is one, so a block names its senders even after the node
//! that mined it has stopped. Blocks of other networks must never be read this way: there r and s are a signature like
//! any other, which is valid with a probability of 2^-96.

use super::signature::Signature;
use super::{Transaction, UnsignedTransaction};
use crate::error::SignatureError;
use alloy_primitives::{Address, Bytes};

/// Precedes the address in r.
const MARK: &[u8; 12] = b"impersonated";

impl Transaction {
    /// Creates a transaction that claims a sender, for a chain (1 to 109; 0 for any chain).
    pub fn impersonate(
        unsigned: UnsignedTransaction,
        chain_id: u8,
        sender: &Address,
    ) -> Result<Transaction, SignatureError> {
        let r = Bytes::from([MARK.as_slice(), sender.as_slice()].concat());
        let signature = Signature { chain_id: chain_id as i8, recovery: 27, r, s: Bytes::from_static(&[1]) };
        let transaction = Transaction::with_signature(unsigned, chain_id, |_message| Ok(signature))?;
        transaction.accept_impersonation();
        Ok(transaction)
    }

    /// Returns the impersonated sender, if the transaction has one.
    pub fn impersonated_sender(&self) -> Option<Address> {
        let signature = self.signature.as_ref().filter(|signature| signature.s.as_ref() == [1])?;
        let address = signature.r.strip_prefix(MARK.as_slice())?;
        Address::try_from(address).ok()
    }

    /// Makes `recover_sender` return the impersonated sender. Only for blocks of development networks.
    pub(crate) fn accept_impersonation(&self) {
        if let Some(sender) = self.impersonated_sender() {
            // Without effect if the sender was recovered before.
            let _ = self.sender.set(Ok(sender));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, ChainSpec, Header};
    use alloy_primitives::U256;

    #[test]
    fn impersonated_senders_are_accepted_on_development_networks_only() {
        let sender = Address::repeat_byte(0x5e);
        let unsigned = UnsignedTransaction {
            nonce: U256::ZERO,
            gas_price: U256::from(1),
            gas_limit: 21_000,
            to: None,
            value: U256::ZERO,
            data: Bytes::new(),
        };
        let claimed = Transaction::impersonate(unsigned, 33, &sender).unwrap();
        assert_eq!(claimed.recover_sender(), Ok(sender));
        assert!(claimed.fields_valid() && claimed.accepts_signature(33));

        let raw = Transaction::decode(&claimed.encode()).unwrap();
        assert_eq!(raw.impersonated_sender(), Some(sender));
        assert_ne!(raw.recover_sender(), Ok(sender), "not accepted outside of a block");

        let sender_in_block = |spec: &ChainSpec| {
            let transactions = vec![claimed.clone(), Transaction::remasc(1)];
            let block = Block { header: Header::new(1, spec), transactions, uncles: Vec::new() };
            Block::decode(&block.encode(), spec).unwrap().transactions[0].recover_sender()
        };
        assert_eq!(sender_in_block(&ChainSpec::regtest()), Ok(sender));
        assert_ne!(sender_in_block(&ChainSpec::testnet()), Ok(sender));
        assert_ne!(sender_in_block(&ChainSpec::mainnet()), Ok(sender));
    }
}
