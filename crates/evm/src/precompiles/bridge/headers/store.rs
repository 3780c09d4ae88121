//! The header store (bridge chapters 5.1, 5.2, 5.6): one cell for each header, one for the best, an index by height.
//!
//! Headers are written at once, so that they survive a call that fails; the index is written by the save.

use super::super::cells;
use super::super::constants::FirstBlock;
use super::super::invocation::Invocation;
use super::{Failure, Refusal, Result, display_hash};
use crate::error::ExecError;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{B256, Bytes, Rule, U256, rlp};

/// Bytes of the chain work until RSKIP-454 and from then on.
const OLD_WORK_SIZE: usize = 12;
const WORK_SIZE: usize = 32;
/// Headers between two looks at the deadline.
const STEPS_PER_LOOK: i32 = 256;

/// A header with its place in the chain.
#[derive(Clone, PartialEq, Eq)]
pub(in super::super) struct StoredHeader {
    /// Of the chain up to and including it.
    pub(super) work: U256,
    pub(in super::super) height: i32,
    pub(super) header: BitcoinHeader,
}

impl StoredHeader {
    /// Display order.
    pub(super) fn hash(&self) -> B256 {
        display_hash(self.header.hash())
    }

    fn first(block: &FirstBlock) -> Option<StoredHeader> {
        let header = BitcoinHeader::parse(&block.header).ok()?;
        Some(StoredHeader { work: block.work, height: block.height, header })
    }

    fn decode(bytes: &[u8]) -> Option<StoredHeader> {
        let work_size = match bytes.len() {
            96 => OLD_WORK_SIZE,
            116 => WORK_SIZE,
            _ => return None,
        };
        let (work, rest) = bytes.split_at_checked(work_size)?;
        let (height, header) = rest.split_first_chunk()?;
        let header = BitcoinHeader::parse(header).ok()?;
        Some(StoredHeader { work: U256::from_be_slice(work), height: i32::from_be_bytes(*height), header })
    }

    /// None if the work does not fit into the old form.
    fn encode(&self, has_long_work: bool) -> Option<Vec<u8>> {
        let work: [u8; WORK_SIZE] = self.work.to_be_bytes();
        let digits = match has_long_work {
            true => work.as_slice(),
            false => {
                let (excess, digits) = work.split_at(WORK_SIZE - OLD_WORK_SIZE);
                if excess.iter().any(|byte| *byte != 0) {
                    return None;
                }
                digits
            }
        };
        Some([digits, &self.height.to_be_bytes(), self.header.as_bytes()].concat())
    }
}

impl Invocation<'_, '_> {
    /// The best header. Opens the store: one that is empty gets its first blocks.
    pub(in super::super) fn best_header(&mut self) -> Result<StoredHeader> {
        let head = self.stored(&cells::CHAIN_HEAD.key)?;
        if self.memory.has_opened_headers {
            return head.ok_or(Failure::Call);
        }
        self.memory.has_opened_headers = true;
        let constants = self.constants;
        let malformed = || Failure::Call;
        let genesis = StoredHeader::first(&constants.genesis).ok_or_else(malformed)?;
        let mut head = match head {
            Some(head) => head,
            None => {
                self.start_with(genesis.clone())?;
                genesis.clone()
            }
        };
        if head.hash() == genesis.hash() {
            // The creation time of the active federation selects the checkpoint.
            self.require_genesis_federation()?;
            if let Some(checkpoint) = &constants.checkpoint {
                head = StoredHeader::first(checkpoint).ok_or_else(malformed)?;
                self.start_with(head.clone())?;
            }
        }
        Ok(head)
    }

    fn start_with(&mut self, first: StoredHeader) -> Result<()> {
        let result = self.put(&first).and_then(|()| self.set_head(&first));
        result.map_err(|refusal| match refusal {
            Refusal::Bad => Failure::Call,
            Refusal::Failure(failure) => failure,
        })
    }

    /// Where the store begins once it was opened.
    pub(super) fn lowest_height(&self) -> i32 {
        self.constants.checkpoint.as_ref().map_or(self.constants.genesis.height, |checkpoint| checkpoint.height)
    }

    /// The stored header with this hash (display order).
    pub(super) fn header(&mut self, hash: &B256) -> Result<Option<StoredHeader>> {
        self.stored(&U256::from_be_bytes(hash.0))
    }

    pub(super) fn parent(&mut self, child: &StoredHeader) -> Result<Option<StoredHeader>> {
        self.header(&display_hash(child.header.previous()))
    }

    fn stored(&mut self, key: &U256) -> Result<Option<StoredHeader>> {
        let Some(bytes) = self.read(key)? else { return Ok(None) };
        let header = StoredHeader::decode(&bytes);
        header.map(Some).ok_or_else(|| self.missing("a cell of the header store", 2))
    }

    pub(super) fn put(&mut self, header: &StoredHeader) -> std::result::Result<(), Refusal> {
        let value = header.encode(self.has(Rule::Rskip454)).ok_or(Refusal::Bad)?;
        Ok(self.write(U256::from_be_bytes(header.hash().0), value)?)
    }

    pub(super) fn set_head(&mut self, header: &StoredHeader) -> std::result::Result<(), Refusal> {
        let value = header.encode(self.has(Rule::Rskip454)).ok_or(Refusal::Bad)?;
        self.write(cells::CHAIN_HEAD.key, value)?;
        self.index(header);
        Ok(())
    }

    pub(super) fn index(&mut self, header: &StoredHeader) {
        if self.has(Rule::Rskip199) {
            self.memory.index.push((header.height, header.hash()));
        }
    }

    /// The header of the main chain at a height; bad if the height is out of reach.
    pub(super) fn main_chain_header(&mut self, height: i32) -> std::result::Result<Option<StoredHeader>, Refusal> {
        let best = self.best_header()?.height;
        let depth = best.wrapping_sub(height);
        if depth < 0 {
            return Err(Refusal::Bad);
        }
        if self.has(Rule::Rskip199) {
            let (index_height, search_depth) = (self.constants.index_height, self.constants.search_depth);
            let limit = if best - index_height > search_depth { index_height } else { best - search_depth };
            if height < limit {
                return Err(Refusal::Bad);
            }
            if let Some(found) = self.indexed(height)? {
                return Ok(Some(found));
            }
        }
        self.header_at_depth(depth)
    }

    /// What the stored index leads to; entries of this invocation do not count.
    fn indexed(&mut self, height: i32) -> Result<Option<StoredHeader>> {
        let Some(bytes) = self.read(&cells::height_key(height))? else { return Ok(None) };
        let hash = |bytes: &Bytes| B256::try_from(rlp::decode_all(bytes).ok()?.first()?.bytes()).ok();
        let hash = hash(&bytes).ok_or_else(|| self.missing("btcBlockHeight", 2))?;
        self.header(&hash)
    }

    /// Walks down from the best header; none where the store ends.
    pub(super) fn header_at_depth(&mut self, depth: i32) -> std::result::Result<Option<StoredHeader>, Refusal> {
        let best = self.best_header()?;
        let mut cursor = best.clone();
        for step in 0..depth {
            if step % STEPS_PER_LOOK == 0 && self.ctx.deadline.has_passed() {
                return Err(Failure::Fatal(ExecError::DeadlineExceeded).into());
            }
            match self.parent(&cursor)? {
                Some(parent) => cursor = parent,
                None => return Ok(None),
            }
        }
        if cursor.height == best.height - depth { Ok(Some(cursor)) } else { Err(Refusal::Bad) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::constants::constants;
    use super::*;
    use rhizome_primitives::Network;

    #[test]
    fn both_forms_are_read_back() {
        let constants = constants(Network::Mainnet).unwrap();
        let mut header = StoredHeader::first(constants.checkpoint.as_ref().unwrap()).unwrap();
        for has_long_work in [false, true] {
            let encoded = header.encode(has_long_work).unwrap();
            assert!(StoredHeader::decode(&encoded) == Some(header.clone()));
            assert!(StoredHeader::decode(&encoded[1..]).is_none());
        }
        header.work = U256::from(1) << 96;
        assert!(header.encode(false).is_none() && header.encode(true).is_some());
    }

    #[test]
    fn first_blocks_have_the_known_hashes() {
        let hash = |block| StoredHeader::first(block).unwrap().hash().to_string();
        let known = [
            (Network::Mainnet, "0x000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
            (Network::Testnet, "0x000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
            (Network::Regtest, "0x0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
        ];
        for (network, genesis) in known {
            assert_eq!(hash(&constants(network).unwrap().genesis), genesis);
        }
        let checkpoint = constants(Network::Testnet).unwrap().checkpoint.as_ref().unwrap();
        assert_eq!(hash(checkpoint), "0x000000000000001aa547c01c17edae35e21dd63fd7e6627daedf997bd3a54627");
    }
}
