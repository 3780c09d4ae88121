//! Transactions of development networks that nobody signed: the sender stands in place of the signature.
//!
//! r is the word "impersonated" and the address, s is one. So a block says by itself who its senders are, whatever becomes
//! of the node that made it. Whoever reads blocks of other networks must not ask for this: there it is a signature like
//! any other, which with the chance of 1 in 2^96 could be a true one.

use super::signature::Signature;
use super::{Transaction, UnsignedTransaction};
use crate::error::SignatureError;
use alloy_primitives::{Address, Bytes};

/// In front of the address.
const MARK: &[u8; 12] = b"impersonated";

impl Transaction {
    /// A transaction that claims to be of a sender, for a chain (1 to 109; 0: for all of them).
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

    /// The sender that stands in place of a signature, if one does.
    pub fn impersonated_sender(&self) -> Option<Address> {
        let signature = self.signature.as_ref().filter(|signature| signature.s.as_ref() == [1])?;
        let address = signature.r.strip_prefix(MARK.as_slice())?;
        Address::try_from(address).ok()
    }

    /// From here on `recover_sender` finds the sender that stands in place of a signature. Only for blocks of development
    /// networks.
    pub(crate) fn accept_impersonation(&self) {
        if let Some(sender) = self.impersonated_sender() {
            // Taken as it is when somebody has already asked: that was the same transaction.
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
    fn the_sender_is_believed_on_development_networks_only() {
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
        assert_ne!(raw.recover_sender(), Ok(sender), "a transaction alone is not believed");

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
