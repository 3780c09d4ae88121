//! Lists of coins (docs/spec/bridge.md, 3.3.1).

use super::access::{SlotAccess, decode_elements};
use super::keys::SlotKey;
use super::slot::SlotEncoding;
use crate::error::Result;
use rhizome_primitives::{B256, rlp};

/// An unspent output that a federation can spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coin {
    pub(crate) satoshis: i64,
    pub(crate) script: Vec<u8>,
    /// Display order.
    pub(crate) txid: B256,
    pub(crate) index: u32,
    /// Always 0.
    pub(crate) height: i32,
    pub(crate) is_coinbase: bool,
}

/// The coins of a federation, in the order of their arrival.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Coins(pub(crate) Vec<Coin>);

impl Coin {
    fn encode(&self) -> Vec<u8> {
        let length = (self.script.len() as i32).to_le_bytes();
        let mut bytes = [&self.satoshis.to_le_bytes()[..], &length, &self.script, self.txid.as_slice()].concat();
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.height.to_le_bytes());
        bytes.push(self.is_coinbase.into());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (satoshis, rest) = bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
        let (script, rest) = rest.split_at_checked(length)?;
        let (txid, rest) = rest.split_first_chunk::<32>()?;
        let (index, rest) = rest.split_first_chunk()?;
        let (height, rest) = rest.split_first_chunk()?;
        let [is_coinbase, ..] = rest else { return None };
        Some(Self {
            satoshis: i64::from_le_bytes(*satoshis),
            script: script.to_vec(),
            txid: B256::from(txid),
            index: u32::from_le_bytes(*index),
            height: i32::from_le_bytes(*height),
            is_coinbase: *is_coinbase == 1,
        })
    }
}

impl Coins {
    /// Returns the list as an RLP list of byte strings.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut items = Vec::new();
        self.0.iter().for_each(|coin| rlp::put_bytes(&mut items, &coin.encode()));
        rlp::list(&items)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        decode_elements(bytes)?.iter().map(|item| Coin::decode(item.bytes())).collect::<Option<_>>().map(Self)
    }
}

impl SlotEncoding for Coins {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Ok(slots.decoded(&key.word(), Self::decode)?.unwrap_or_default())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_survive_a_round_trip() {
        let coin = |index| Coin {
            satoshis: 5_000_000_000,
            script: vec![7; 23],
            txid: B256::repeat_byte(9),
            index,
            height: 0,
            is_coinbase: index == 1,
        };
        let coins = Coins(vec![coin(0), coin(1)]);
        let encoded = coins.encode();
        assert_eq!(Coins::decode(&encoded), Some(coins));
        assert_eq!(Coins::decode(&[0xc0]), Some(Coins::default()));
        assert_eq!(Coins::decode(&[0xc1, 1]), None);
        assert_eq!(Coin::decode(&coin(0).encode()[..75]), None);
    }
}
