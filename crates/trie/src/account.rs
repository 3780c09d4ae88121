//! Encoding of accounts (docs/spec/state.md, 4.1).

use rhizome_primitives::{Bytes, DecodeError, I256, U256, rlp};

const ACCOUNT: &str = "account";

/// Nonce, balance and flags of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountState {
    /// Number of transactions sent, or of contracts created.
    pub nonce: U256,
    /// Balance in wei. Signed, because no rule prevents a negative balance.
    pub balance: I256,
    /// Bit 0: hibernated (docs/spec/state.md, 4.2). No rule sets it.
    pub flags: u64,
}

impl AccountState {
    /// Decodes the value of an account key.
    pub fn decode(value: &[u8]) -> Result<AccountState, DecodeError> {
        let (item, _) = rlp::Item::first(value)?;
        let mut elements = item.elements(ACCOUNT)?;
        let mut next = || elements.next().transpose();
        let missing = |got| DecodeError::ElementCount { what: ACCOUNT, got };
        let nonce = rlp::read_u256(next()?.ok_or(missing(0))?.bytes(), "nonce")?;
        let balance = rlp::read_signed(next()?.ok_or(missing(1))?.bytes(), "balance")?;
        let flags = match next()? {
            Some(flags) => rlp::read_u64(flags.bytes(), u64::MAX, "flags")?,
            None => 0,
        };
        Ok(AccountState { nonce, balance, flags })
    }

    /// Encodes the account as the value of its key. The empty account is `c28000`.
    pub fn encode(&self) -> Bytes {
        let mut value = Vec::with_capacity(80);
        self.encode_to(&mut value);
        Bytes::copy_from_slice(&value)
    }

    /// Appends the value of the account's key.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        rlp::put_list(out, |out| {
            rlp::put_value(out, &self.nonce);
            // Signed like a minimum gas price: zero is `00`.
            rlp::put_minimum_gas_price(out, Some(&self.balance));
            if self.flags != 0 {
                rlp::put_u64(out, self.flags);
            }
        });
    }

    /// Returns true if the code of the account reads as empty.
    pub fn is_hibernated(&self) -> bool {
        self.flags & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::hex;

    use super::*;

    #[test]
    fn balances_are_signed() {
        for (nonce, balance, flags, expected) in [
            (0, 0, 0, "c28000"),
            (0, 127, 0, "c2807f"),
            (0, 128, 0, "c480820080"),
            (0, 256, 0, "c480820100"),
            (0, 32768, 0, "c58083008000"),
            (1, 0, 0, "c20100"),
            (128, 0, 0, "c3818000"),
            (0, 0, 1, "c3800001"),
            (0, -1, 0, "c38081ff"),
        ] {
            let account = AccountState { nonce: U256::from(nonce), balance: I256::try_from(balance).unwrap(), flags };
            let encoded = account.encode();
            assert_eq!(hex::encode(&encoded), expected);
            assert_eq!(AccountState::decode(&encoded), Ok(account));
        }
    }

    #[test]
    fn malformed_accounts_are_rejected() {
        for bytes in ["", "c0", "c180", "80", "c4808200"] {
            assert!(AccountState::decode(&hex::decode(bytes).unwrap()).is_err(), "{bytes}");
        }
    }
}
