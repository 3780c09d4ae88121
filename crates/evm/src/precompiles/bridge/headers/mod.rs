//! The Bitcoin headers that the Bridge knows (bridge chapter 5): what is submitted, and what is asked.

mod chain;
mod confirmations;
mod store;
mod target;

use super::constants::{HEADER_DEPTH_LIMIT, SECONDS_BETWEEN_HEADERS};
use super::federation::{code, word};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{B256, Rule, Rules, hex};
use store::StoredHeader;

const HEADER_SIZE: usize = 80;
/// With some transactions behind it, until RSKIP-124.
const OLD_HEADER_SIZE: usize = 85;
const TOO_SOON: i64 = -1;
const TOO_OLD: i64 = -2;
const NO_PARENT: i64 = -3;
const KNOWN: i64 = -4;
const NOT_A_HEADER: i64 = -20;
const NOT_ADDED: i64 = -99;
/// Entries of a block locator are at most one more.
const LOCATOR_SIZE: usize = 100;

/// Gas of `receiveHeaders` with so many headers.
pub(super) fn receive_price(rules: &Rules, count: usize) -> u64 {
    let (base, step) = match (rules.is_active(Rule::Rskip124), rules.is_active(Rule::Rskip132)) {
        (false, _) => (22_000, 0),
        (true, false) => (66_000, 1_650),
        (true, true) => (25_000, 3_500),
    };
    step * (count as u64).saturating_sub(1) + base
}

/// Why a header is not added; everything that was wrong with it is the same to the caller.
enum Refusal {
    Bad,
    Failure(Failure),
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal::Failure(error.into())
    }
}

impl Invocation<'_, '_> {
    pub(super) fn receive_headers(&mut self, headers: &[&[u8]]) -> Result<Answer> {
        let is_public = self.has(Rule::Rskip124) && !self.has(Rule::Rskip200);
        if !is_public {
            self.require_member()?;
        }
        let longest = if self.has(Rule::Rskip124) { HEADER_SIZE } else { OLD_HEADER_SIZE };
        if !headers.iter().all(|header| (HEADER_SIZE..=longest).contains(&header.len())) {
            return Err(Failure::Argument);
        }
        let parse = |header: &&[u8]| BitcoinHeader::parse(header).map_err(|_malformed| Failure::Argument);
        let headers = headers.iter().map(parse).collect::<Result<Vec<_>>>()?;
        self.best_header()?;
        for header in headers {
            let parent = self.header(&display_hash(header.previous()))?;
            if parent.as_ref().is_some_and(|parent| self.has_excessive_work(parent)) {
                break;
            }
            match self.add_header(header) {
                Ok(()) | Err(Refusal::Bad) => {}
                Err(Refusal::Failure(failure)) => return Err(failure),
            }
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn receive_header(&mut self, header: &[u8]) -> Result<Answer> {
        if header.len() != HEADER_SIZE {
            return Ok(code(NOT_A_HEADER));
        }
        let header = BitcoinHeader::parse(header).map_err(|_malformed| Failure::Call)?;
        let best = self.best_header()?;
        if self.header(&display_hash(header.hash()))?.is_some() {
            return Ok(code(KNOWN));
        }
        let now = self.ctx.env.timestamp;
        let last = self.read_u64(super::cells::HEADERS_TIMESTAMP)?;
        if last.is_some_and(|last| i128::from(now) - i128::from(last) < i128::from(SECONDS_BETWEEN_HEADERS)) {
            return Ok(code(TOO_SOON));
        }
        let Some(parent) = self.header(&display_hash(header.previous()))? else { return Ok(code(NO_PARENT)) };
        if best.height.wrapping_sub(parent.height.wrapping_add(1)) > HEADER_DEPTH_LIMIT {
            return Ok(code(TOO_OLD));
        }
        if self.has_excessive_work(&parent) {
            return Ok(code(NOT_ADDED));
        }
        match self.add_header(header) {
            Ok(()) => {
                self.memory.headers_timestamp = Some(now);
                Ok(code(0))
            }
            Err(Refusal::Bad) => Ok(code(NOT_ADDED)),
            Err(Refusal::Failure(failure)) => Err(failure),
        }
    }

    /// The chain work of a child would not fit into the old form of a cell (mainnet, until RSKIP-434).
    fn has_excessive_work(&self, parent: &StoredHeader) -> bool {
        let limit = self.constants.excessive_work_height;
        limit.is_some_and(|limit| parent.height.wrapping_add(1) >= limit) && !self.has(Rule::Rskip434)
    }

    pub(super) fn best_height(&mut self) -> Result<Answer> {
        Ok(code(i64::from(self.best_header()?.height)))
    }

    /// The height of the lowest header; nothing is opened for it.
    pub(super) fn initial_height(&mut self) -> Result<Answer> {
        self.require_genesis_federation()?;
        Ok(word(u64::from(self.lowest_height().unsigned_abs())))
    }

    pub(super) fn best_header_bytes(&mut self) -> Result<Answer> {
        Ok(bytes_of(Some(self.best_header()?)))
    }

    pub(super) fn header_by_hash(&mut self, hash: [u8; 32]) -> Result<Answer> {
        self.best_header()?;
        Ok(bytes_of(self.header(&B256::from(hash))?))
    }

    pub(super) fn header_by_height(&mut self, height: i32) -> Result<Answer> {
        self.best_header()?;
        match self.main_chain_header(height) {
            Ok(found) => Ok(bytes_of(found)),
            Err(Refusal::Bad) => Ok(bytes_of(None)),
            Err(Refusal::Failure(failure)) => Err(failure),
        }
    }

    pub(super) fn parent_by_hash(&mut self, hash: [u8; 32]) -> Result<Answer> {
        self.best_header()?;
        let Some(child) = self.header(&B256::from(hash))? else { return Ok(bytes_of(None)) };
        Ok(bytes_of(self.parent(&child)?))
    }

    pub(super) fn hash_at_depth(&mut self, depth: i32) -> Result<Answer> {
        let best = self.best_header()?;
        if depth < 0 || depth > best.height - self.lowest_height() {
            return Err(Failure::Call);
        }
        match self.header_at_depth(depth) {
            Ok(Some(header)) => Ok(Answer::Bytes(header.hash().to_vec())),
            Ok(None) | Err(Refusal::Bad) => Err(Failure::Call),
            Err(Refusal::Failure(failure)) => Err(failure),
        }
    }

    /// Hashes of the main chain at growing distances, from the best one to the lowest.
    pub(super) fn block_locator(&mut self) -> Result<Answer> {
        let best = self.best_header()?;
        let lowest = self.lowest_height();
        let mut texts = vec![hex::encode(best.hash()).into_bytes()];
        let mut cursor = best.clone();
        let mut distance = 1_i32;
        while best.height > lowest && texts.len() <= LOCATOR_SIZE {
            let wanted = best.height.saturating_sub(distance).max(lowest);
            while cursor.height > wanted {
                cursor = self.parent(&cursor)?.ok_or(Failure::Call)?;
            }
            texts.push(hex::encode(cursor.hash()).into_bytes());
            if wanted == lowest {
                break;
            }
            distance = distance.saturating_mul(2);
        }
        Ok(Answer::Texts(texts))
    }
}

fn bytes_of(header: Option<StoredHeader>) -> Answer {
    Answer::Bytes(header.map(|header| header.header.as_bytes().to_vec()).unwrap_or_default())
}

/// From wire order to the order in which the Bridge keeps hashes.
fn display_hash(digest: [u8; 32]) -> B256 {
    B256::from(rhizome_bitcoin::display(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_of_headers() {
        let old = Rules::none();
        let middle = old.with(Rule::Rskip124);
        let new = middle.with(Rule::Rskip132);
        assert_eq!([0, 1, 3].map(|count| receive_price(&old, count)), [22_000; 3]);
        assert_eq!([0, 1, 3].map(|count| receive_price(&middle, count)), [66_000, 66_000, 69_300]);
        assert_eq!([0, 1, 3].map(|count| receive_price(&new, count)), [25_000, 25_000, 32_000]);
    }
}
