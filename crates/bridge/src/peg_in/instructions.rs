//! PegInInstructions of a peg-in, in an output without value (RSKIP-170; docs/spec/bridge.md, 6.5.2).

use super::outcome::Destination;
use crate::context::CallContext;
use rhizome_bitcoin::script::opcode;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, parse_script};
use rhizome_primitives::{Address, Rule};

/// The first bytes of instructions.
const TAG: &[u8] = b"RSKT";
/// The only version.
const VERSION: u8 = 1;
const KEY_ADDRESS: u8 = 1;
const SCRIPT_ADDRESS: u8 = 2;

/// The instructions of a peg-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PegInInstructions {
    destination: Address,
    pub(super) refund_address: Option<BitcoinAddress>,
}

/// The instructions are malformed, or there is more than one output with instructions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InvalidInstructions;

impl PegInInstructions {
    pub(super) fn destination(&self) -> Destination {
        Destination { account: self.destination, protocol: VERSION }
    }

    /// Reads the data of an output. `address_versions`: of P2PKH and of P2SH addresses.
    fn decode(data: &[u8], address_versions: [u8; 2]) -> Option<Self> {
        let [key_version, script_version] = address_versions;
        let (version, rest) = data.strip_prefix(TAG)?.split_first()?;
        let (destination, rest) = rest.split_first_chunk::<20>()?;
        let refund_address = match rest {
            [] => None,
            [kind, hash @ ..] => {
                let version = match *kind {
                    KEY_ADDRESS => key_version,
                    SCRIPT_ADDRESS => script_version,
                    _ => return None,
                };
                Some(BitcoinAddress { version, hash: hash.try_into().ok()? })
            }
        };
        (*version == VERSION).then_some(Self { destination: Address::from(*destination), refund_address })
    }
}

/// Returns the instructions of a peg-in; `None` if it has none.
pub(super) fn instructions_of(
    ctx: &CallContext<'_>,
    transaction: &BitcoinTransaction,
) -> Result<Option<PegInInstructions>, InvalidInstructions> {
    if !ctx.has(Rule::Rskip170) {
        return Ok(None);
    }
    let mut found = None;
    for output in &transaction.outputs {
        let chunks = parse_script(&output.script).map_err(|_unparseable| InvalidInstructions)?;
        let [first, second, ..] = chunks.as_slice() else { continue };
        let Some(data) = second.data.filter(|data| first.opcode == opcode::RETURN && data.starts_with(TAG)) else {
            continue;
        };
        if found.replace(data).is_some() {
            return Err(InvalidInstructions);
        }
    }
    let decode = |data| PegInInstructions::decode(data, ctx.constants.address_versions).ok_or(InvalidInstructions);
    found.map(decode).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(data: &[u8]) -> Option<PegInInstructions> {
        PegInInstructions::decode(data, [111, 196])
    }

    #[test]
    fn instructions_have_an_optional_refund_address() {
        let start = [TAG, &[1], &[7; 20]].concat();
        let destination = Address::repeat_byte(7);
        assert_eq!(decode(&start), Some(PegInInstructions { destination, refund_address: None }));
        for (kind, version) in [(1, 111), (2, 196)] {
            let refund_address = Some(BitcoinAddress { version, hash: [8; 20] });
            let data = [&start[..], &[kind], &[8; 20]].concat();
            assert_eq!(decode(&data), Some(PegInInstructions { destination, refund_address }));
        }
    }

    #[test]
    fn other_data_are_invalid() {
        let start = [TAG, &[1], &[7; 20]].concat();
        let with = |tail: &[u8]| [&start[..], tail].concat();
        let of_version = |version| [TAG, &[version], &[7; 20]].concat();
        let kind_3 = with(&[&[3][..], &[8; 20]].concat());
        let long = with(&[&[1][..], &[8; 21]].concat());
        for data in [TAG.to_vec(), start[..24].to_vec(), with(&[1]), kind_3, long, of_version(0), of_version(2)] {
            assert_eq!(decode(&data), None, "{data:?}");
        }
    }
}
