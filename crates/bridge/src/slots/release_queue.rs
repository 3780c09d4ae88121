//! The queue of peg-out requests (docs/spec/bridge.md, 3.3.4).

use super::access::{SlotAccess, decode_elements};
use super::keys::{QUEUE_WITH_HASH, SlotKey};
use super::slot::SlotEncoding;
use crate::error::Result;
use rhizome_primitives::{B256, Rule, rlp};

/// A queued peg-out request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ReleaseRequest {
    /// Hash of the P2PKH address to pay.
    pub(crate) destination: [u8; 20],
    pub(crate) satoshis: u64,
    /// The transaction that made the request, since RSKIP-146.
    pub(crate) hash: Option<B256>,
}

/// The requests of both slots: those without hash, then those with hash (since RSKIP-146).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReleaseQueue(pub(crate) Vec<ReleaseRequest>);

impl ReleaseQueue {
    /// Encodes either the requests with hash or the requests without hash.
    pub(crate) fn encode(&self, has_hashes: bool) -> Vec<u8> {
        let mut items = Vec::new();
        for request in self.0.iter().filter(|request| request.hash.is_some() == has_hashes) {
            rlp::put_bytes(&mut items, &request.destination);
            rlp::put_u64(&mut items, request.satoshis);
            if let Some(hash) = &request.hash {
                rlp::put_bytes(&mut items, hash.as_slice());
            }
        }
        rlp::list(&items)
    }
}

impl SlotEncoding for ReleaseQueue {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        let mut requests = load_requests(slots, key, false)?;
        if slots.has(Rule::Rskip146) {
            requests.extend(load_requests(slots, &QUEUE_WITH_HASH, true)?);
        }
        Ok(Self(requests))
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode(false))?;
        if slots.has(Rule::Rskip146) {
            slots.write(&QUEUE_WITH_HASH, self.encode(true))?;
        }
        Ok(())
    }
}

fn load_requests(slots: &mut SlotAccess<'_>, key: &SlotKey, has_hashes: bool) -> Result<Vec<ReleaseRequest>> {
    Ok(slots.decoded(&key.word(), |bytes| decode(bytes, has_hashes))?.unwrap_or_default())
}

fn decode(bytes: &[u8], has_hashes: bool) -> Option<Vec<ReleaseRequest>> {
    let items = decode_elements(bytes)?;
    let chunks = items.chunks(if has_hashes { 3 } else { 2 });
    let request = |items: &[rlp::Item<'_>]| {
        let (destination, satoshis, hash) = match items {
            [destination, satoshis] if !has_hashes => (destination, satoshis, None),
            [destination, satoshis, hash] if has_hashes => {
                (destination, satoshis, Some(B256::try_from(hash.bytes()).ok()?))
            }
            _ => return None,
        };
        let satoshis = rlp::read_u64(satoshis.bytes(), u64::MAX, "amount").ok()?;
        Some(ReleaseRequest { destination: destination.bytes().try_into().ok()?, satoshis, hash })
    };
    chunks.map(request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_survive_a_round_trip() {
        let request = |hash| ReleaseRequest { destination: [1; 20], satoshis: 7, hash };
        let queue = ReleaseQueue(vec![request(None), request(Some(B256::repeat_byte(9)))]);
        assert_eq!(decode(&queue.encode(false), false).unwrap(), queue.0[..1]);
        assert_eq!(decode(&queue.encode(true), true).unwrap(), queue.0[1..]);
        assert_eq!(decode(&[0xc0], true), Some(vec![]));
        assert_eq!(decode(&[0xc1, 1], true), None);
        assert_eq!(decode(&queue.encode(true), false), None);
    }
}
