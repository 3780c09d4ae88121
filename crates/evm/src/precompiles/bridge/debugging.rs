//! Views for clients: what is registered, and the states in lists (bridge chapters 2.4 and 11.2).

use super::cells;
use super::federation::code;
use super::invocation::Invocation;
use super::union::flag;
use super::{Answer, Failure, Result};
use rhizome_primitives::{B256, Bytes, Rule, hex, rlp};

/// A list in a list: of transactions that wait for signatures, there are none.
const NO_TRANSACTIONS: [u8; 2] = [0xc1, 0xc0];

impl Invocation<'_, '_> {
    /// The height at which a Bitcoin transaction was registered; its id in hexadecimal text, display order.
    fn processed_height(&mut self, id: &[u8]) -> Result<Option<u64>> {
        let is_lower_case = id.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let id = hex::decode(id).ok().filter(|_| is_lower_case).and_then(|id| <[u8; 32]>::try_from(id).ok());
        let id = id.ok_or(Failure::Call)?;
        if self.memory.processed.is_none() {
            let bytes = self.read(&cells::PROCESSED.key)?;
            let map = bytes.map_or(Some(Vec::new()), |bytes| cells::read_processed_map(&bytes));
            let map = map.ok_or_else(|| self.missing(cells::PROCESSED.name, cells::PROCESSED.stage))?;
            self.memory.processed = Some(map);
        }
        let map = self.memory.processed.iter().flatten();
        if let Some((_, height)) = map.clone().find(|(known, _)| *known == id) {
            return Ok(Some(*height));
        }
        if !self.has(Rule::Rskip134) {
            return Ok(None);
        }
        self.read_u64(cells::Cell { key: cells::processed_key(&id), ..cells::PROCESSED })
    }

    pub(super) fn processed_height_answer(&mut self, id: &[u8]) -> Result<Answer> {
        let height = self.processed_height(id)?;
        Ok(code(height.map_or(-1, |height| height as i64)))
    }

    pub(super) fn is_processed(&mut self, id: &[u8]) -> Result<Answer> {
        Ok(flag(self.processed_height(id)?.is_some()))
    }

    /// The witness root that was registered for a Bitcoin block.
    pub(super) fn witness_root(&mut self, block: &B256) -> Result<Option<[u8; 32]>> {
        let Some(bytes) = self.read(&cells::coinbase_key(block))? else { return Ok(None) };
        let root = |bytes: &Bytes| match cells::elements(bytes)?.as_slice() {
            [root] => root.bytes().try_into().ok(),
            _ => None,
        };
        root(&bytes).map(Some).ok_or_else(|| self.missing("coinbaseInformation", 5))
    }

    pub(super) fn has_witness_root(&mut self, block: &B256) -> Result<Answer> {
        Ok(flag(self.witness_root(block)?.is_some()))
    }

    pub(super) fn release_state(&mut self) -> Result<Answer> {
        self.read_signatures()?;
        Ok(Answer::Bytes(NO_TRANSACTIONS.to_vec()))
    }

    pub(super) fn svp_state(&mut self) -> Result<Answer> {
        self.require_absent(cells::SVP_SPEND_WAITING)?;
        Ok(Answer::Bytes(NO_TRANSACTIONS.to_vec()))
    }

    pub(super) fn whole_state(&mut self) -> Result<Answer> {
        let best = self.best_header()?.height;
        self.read_active_coins()?;
        self.read_signatures()?;
        let queue = self.shown_queue()?;
        self.read_confirmations()?;
        let next = self.next_peg_out_height()?;
        let mut next_height = Vec::new();
        rlp::put_u64(&mut next_height, next);
        let mut items = Vec::new();
        rlp::put_u64(&mut items, u64::try_from(best).unwrap_or_default());
        for part in [&[0xc0][..], &[0xc0], &queue, &[0xc0], &next_height] {
            rlp::put_bytes(&mut items, part);
        }
        Ok(Answer::Bytes(rlp::list(&items)))
    }
}
