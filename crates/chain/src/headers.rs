//! Headers ahead of their blocks: the best header chain, each header verified, kept on disk (docs/spec/p2p-additions.md, C.1
//! and C.2).
//!
//! Headers name no uncles, so the difficulty of a header chain is a lower bound: that of the last stored block below it, plus
//! the difficulties of the headers. The importer decides about blocks.

mod header_run;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rhizome_pow::check_header;
use rhizome_primitives::{B256, Header, U256, rlp};
use rhizome_storage::HeaderWrite;

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::config::ChainConfig;
use crate::error::ChainError;
use crate::head::publisher::HeadPublisher;
use crate::import::invalid_blocks::InvalidBlocks;

pub use header_run::{HeaderFault, HeaderRun};

/// Headers ahead of their blocks that are held in memory, the last ones. More are ahead only before a state is taken over.
const MAX_HELD: usize = 131_072;
/// Number of blocks after which the rows of their headers are deleted.
const DELETED_TOGETHER: u64 = 4_096;

/// A verified header with its position.
#[derive(Debug)]
pub struct ChainedHeader {
    /// The header. In compressed form if its block is not stored.
    pub header: Header,
    /// Its hash.
    pub hash: B256,
    /// Lower bound of the difficulty of the chain up to and including it.
    pub difficulty: U256,
}

/// The best header chain above the stored blocks.
pub struct HeaderChain {
    archive: Arc<Archive>,
    publisher: Arc<HeadPublisher>,
    invalid: Arc<InvalidBlocks>,
    config: Arc<ChainConfig>,
    /// Headers without a block, ascending. The parent of the first one is a stored block.
    branch: RwLock<VecDeque<Arc<ChainedHeader>>>,
    /// Height below which rows were deleted. Held while rows and the branch change together.
    deleted: Mutex<u64>,
}

impl HeaderChain {
    /// Reads the headers that the last run left.
    pub(crate) fn open(
        config: Arc<ChainConfig>,
        archive: Arc<Archive>,
        publisher: Arc<HeadPublisher>,
        invalid: Arc<InvalidBlocks>,
    ) -> Result<HeaderChain, ChainError> {
        let branch = RwLock::new(stored_branch(&archive)?);
        Ok(HeaderChain { archive, publisher, invalid, config, branch, deleted: Mutex::new(0) })
    }

    /// Returns the last header ahead of its block; `None` if there is none.
    pub fn tip(&self) -> Option<Arc<ChainedHeader>> {
        self.branch.read().back().map(Arc::clone)
    }

    /// Returns the number of headers ahead of their blocks.
    pub fn len(&self) -> usize {
        self.branch.read().len()
    }

    /// Whether no header is ahead of its block.
    pub fn is_empty(&self) -> bool {
        self.branch.read().is_empty()
    }

    /// Returns the number of the best validated header: that of the tip, or of the head if the tip is not heavier.
    pub fn best_number(&self) -> u64 {
        let head = self.publisher.head();
        match self.tip() {
            Some(tip) if tip.difficulty > head.record.total_difficulty => tip.header.number,
            _ => head.number(),
        }
    }

    /// Returns the first header without a block.
    pub fn first(&self) -> Option<Arc<ChainedHeader>> {
        self.branch.read().front().map(Arc::clone)
    }

    /// Returns the header at a height, of a header ahead of its block.
    pub fn at(&self, number: u64) -> Option<Arc<ChainedHeader>> {
        let branch = self.branch.read();
        let first = branch.front()?.header.number;
        branch.get(usize::try_from(number.checked_sub(first)?).ok()?).map(Arc::clone)
    }

    /// Returns a header by hash and number: one ahead of its block, or that of a stored block.
    pub fn find(&self, number: u64, hash: &B256) -> Result<Option<Arc<ChainedHeader>>, ChainError> {
        if let Some(header) = self.at(number).filter(|header| header.hash == *hash) {
            return Ok(Some(header));
        }
        // A cache may still know a deleted block, so the database decides.
        if !self.archive.store.has_block(hash)? {
            return Ok(None);
        }
        let block = self.archive.known_ancestor(hash)?;
        let (header, difficulty) = (Header::clone(&block.header), block.total_difficulty);
        Ok(Some(Arc::new(ChainedHeader { header, hash: *hash, difficulty }))
            .filter(|found| found.header.number == number))
    }

    /// Whether a block or its header is known, and not known to be invalid.
    pub fn has(&self, number: u64, hash: &B256) -> Result<bool, ChainError> {
        let is_ahead = self.at(number).is_some_and(|header| header.hash == *hash);
        Ok(is_ahead || self.archive.store.has_block(hash)?)
    }

    /// Whether a block was found invalid.
    pub fn is_known_invalid(&self, hash: &B256) -> bool {
        self.invalid.verdict(hash).is_some()
    }

    /// Checks a run of headers against its parent, the checkpoints and the blocks that were found invalid.
    pub fn attach(&self, parent: &ChainedHeader, run: HeaderRun) -> Result<Vec<Arc<ChainedHeader>>, HeaderFault> {
        let (spec, now) = (&self.config.spec, self.config.clock.now());
        if let Some((lowest, _)) = run.headers.first() {
            if lowest.parent() != Some(parent.hash) {
                return Err(HeaderFault::Link { number: lowest.number });
            }
            let number = lowest.number;
            check_header(lowest, &parent.header, spec, now).map_err(|rule| HeaderFault::Rule { number, rule })?;
        }
        if let Some(verdict) = self.invalid.verdict(&parent.hash) {
            return Err(HeaderFault::KnownInvalid { number: parent.header.number, reason: verdict.to_string() });
        }
        let mut difficulty = parent.difficulty;
        let mut attached = Vec::with_capacity(run.headers.len());
        for (header, hash) in run.headers {
            let number = header.number;
            if let Some(verdict) = self.invalid.verdict(&hash) {
                return Err(HeaderFault::KnownInvalid { number, reason: verdict.to_string() });
            }
            if let Some(expected) = spec.contradicted_checkpoint(number, &hash) {
                return Err(HeaderFault::Checkpoint { number, expected, found: hash });
            }
            difficulty = difficulty.saturating_add(header.difficulty_value());
            attached.push(Arc::new(ChainedHeader { header, hash, difficulty }));
        }
        Ok(attached)
    }

    /// Whether headers weigh more than the best chain above their parent. Difficulties of headers are compared with those of
    /// headers; equal ones count as more if `wins_ties`: uncles may decide.
    pub fn is_heavier(&self, headers: &[Arc<ChainedHeader>], wins_ties: bool) -> Result<bool, ChainError> {
        let Some(first) = headers.first() else { return Ok(false) };
        let sum = |headers: &mut dyn Iterator<Item = U256>| headers.fold(U256::ZERO, U256::saturating_add);
        let new = sum(&mut headers.iter().map(|header| header.header.difficulty_value()));
        let (head, tip) = (self.publisher.head(), self.tip());
        let lowest = self.first().map_or(0, |first| first.header.number);
        if lowest > head.number() + 1 && first.header.number <= lowest {
            // The branch leaves the chain below the headers that are held.
            return Ok(false);
        }
        let mut own = U256::ZERO;
        let mut numbers = first.header.number..=head.number();
        if let Some(tip) = tip.filter(|tip| tip.difficulty > head.record.total_difficulty) {
            let branch = self.branch.read();
            let above = branch.iter().filter(|header| header.header.number >= first.header.number);
            own = sum(&mut above.map(|header| header.header.difficulty_value()));
            let base = branch.front().map_or(tip.header.number, |base| base.header.number);
            numbers = first.header.number..=base.saturating_sub(1);
        }
        for number in numbers {
            // Enough is enough: a long branch is not walked to its end.
            if own > new {
                break;
            }
            if let Some(block) = self.archive.main_record(number)? {
                own = own.saturating_add(block.block.header.difficulty_value());
            }
        }
        Ok(new > own || (wins_ties && new == own))
    }

    /// Makes verified headers the end of the best header chain, and writes them. Their parent is in the chain or a stored block;
    /// headers above it are dropped.
    pub fn adopt(&self, headers: &[Arc<ChainedHeader>]) -> Result<(), ChainError> {
        let _changing = self.deleted.lock();
        self.write_end(headers)
    }

    /// Writes headers and makes them the end of the branch. The caller holds `deleted`.
    fn write_end(&self, headers: &[Arc<ChainedHeader>]) -> Result<(), ChainError> {
        let (Some(first), Some(last)) = (headers.first(), headers.last()) else { return Ok(()) };
        let encodings: Vec<Vec<u8>> = headers.iter().map(|header| header.header.encode_compressed()).collect();
        let rows = headers.iter().zip(&encodings).map(|(header, encoding)| HeaderWrite {
            number: header.header.number,
            hash: header.hash,
            difficulty: header.difficulty,
            encoding,
        });
        self.archive.store.write_headers(&rows.collect::<Vec<_>>(), (last.header.number, last.hash))?;
        let mut branch = self.branch.write();
        branch.retain(|header| header.header.number < first.header.number);
        // Headers of another branch that ends at a stored block.
        if branch.back().is_some_and(|parent| Some(parent.hash) != first.header.parent()) {
            branch.clear();
        }
        branch.extend(headers.iter().map(Arc::clone));
        while branch.len() > MAX_HELD {
            branch.pop_front();
        }
        Ok(())
    }

    /// Removes the first headers if their blocks are stored.
    pub fn skip_stored(&self) -> Result<(), ChainError> {
        while let Some(first) = self.first()
            && self.archive.store.has_block(&first.hash)?
        {
            self.advance(first.header.number)?;
        }
        Ok(())
    }

    /// Removes headers whose blocks are stored now, up to a height.
    pub fn advance(&self, number: u64) -> Result<(), ChainError> {
        let mut deleted = self.deleted.lock();
        let mut branch = self.branch.write();
        while branch.front().is_some_and(|header| header.header.number <= number) {
            branch.pop_front();
        }
        drop(branch);
        if number.saturating_sub(*deleted) >= DELETED_TOGETHER {
            self.archive.store.delete_headers_below(number)?;
            *deleted = number;
        }
        Ok(())
    }

    /// Removes the headers up to a block that has become the head, and computes the difficulties of the others from that block's.
    pub(crate) fn rebase(&self, head: &BlockRecord) -> Result<(), ChainError> {
        self.advance(head.number())?;
        // Headers that arrive meanwhile follow afterwards.
        let _changing = self.deleted.lock();
        let mut difficulty = head.total_difficulty;
        let branch: Vec<Arc<ChainedHeader>> = self.branch.read().iter().map(Arc::clone).collect();
        let with_difficulty = |chained: Arc<ChainedHeader>| {
            difficulty = difficulty.saturating_add(chained.header.difficulty_value());
            Arc::new(ChainedHeader { header: chained.header.clone(), hash: chained.hash, difficulty })
        };
        self.write_end(&branch.into_iter().map(with_difficulty).collect::<Vec<_>>())
    }

    /// Adds a number, modulo 2^256, to the difficulties of all headers, as it was added to those of all blocks.
    pub(crate) fn correct_difficulties(&self, correction: U256) {
        let _changing = self.deleted.lock();
        for chained in &mut *self.branch.write() {
            let difficulty = chained.difficulty.wrapping_add(correction);
            *chained = Arc::new(ChainedHeader { header: chained.header.clone(), hash: chained.hash, difficulty });
        }
    }

    /// Removes the headers from a height on: a block there is invalid, or the chain is not heavier.
    pub fn forget_from(&self, number: u64) -> Result<(), ChainError> {
        let deleted = self.deleted.lock();
        let mut branch = self.branch.write();
        branch.retain(|header| header.header.number < number);
        let head = self.publisher.head();
        let tip = branch.back().map_or((head.number(), head.hash()), |tip| (tip.header.number, tip.hash));
        drop(branch);
        self.archive.store.write_headers(&[], tip)?;
        drop(deleted);
        Ok(())
    }
}

/// Returns the headers from the first one without a block up to the stored tip. A header that is missing ends the chain: all of
/// it is dropped.
fn stored_branch(archive: &Archive) -> Result<VecDeque<Arc<ChainedHeader>>, ChainError> {
    let mut branch = VecDeque::new();
    let mut next = archive.store.header_tip()?;
    while let Some((number, hash)) = next
        && !archive.store.has_block(&hash)?
    {
        let stored = archive.store.header(number, &hash)?;
        let Some(stored) = stored else { return Ok(VecDeque::new()) };
        if branch.len() == MAX_HELD {
            // All others are ahead, too, if there is no block yet.
            let is_new = archive.store.highest_number()?.unwrap_or_default() == 0;
            return Ok(if is_new { branch } else { VecDeque::new() });
        }
        let decoded =
            rlp::decode_list(&stored.encoding).and_then(|item| Header::from_compressed_item(&item, &archive.spec));
        let header = decoded.map_err(|source| ChainError::StoredBlock { hash, source })?;
        let parent = header.parent();
        branch.push_front(Arc::new(ChainedHeader { header, hash, difficulty: stored.difficulty }));
        let Some(below) = number.checked_sub(1).zip(parent) else { return Ok(VecDeque::new()) };
        next = Some(below);
    }
    Ok(branch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, DataDir};
    use rhizome_primitives::ChainSpec;
    use std::sync::atomic::{AtomicU64, Ordering};

    const NOW: u64 = 1_700_000_000;
    const BLOCKS: u64 = 100;

    fn open() -> Arc<Chain> {
        let config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..config }).unwrap()
    }

    #[test]
    fn headers_that_arrive_during_a_rebase_are_kept() {
        let (source, chain) = (open(), open());
        for _ in 0..BLOCKS {
            source.mine(NOW).unwrap();
        }
        let genesis = chain.head().hash();
        let rebases = AtomicU64::new(0);
        let adopt_all = || {
            let mut parent = chain.headers().find(0, &genesis).unwrap().unwrap();
            for number in 1..=BLOCKS {
                // The next rebase has just begun.
                let before = rebases.load(Ordering::Relaxed);
                while rebases.load(Ordering::Relaxed) == before {
                    std::thread::yield_now();
                }
                let header = source.main_block(number).unwrap().unwrap().block.header.clone();
                let run = HeaderRun::verify(vec![header], chain.spec(), NOW).unwrap();
                let attached = chain.headers().attach(&parent, run).unwrap();
                chain.headers().adopt(&attached).unwrap();
                parent = Arc::clone(&attached[0]);
            }
        };
        std::thread::scope(|scope| {
            let adopting = scope.spawn(adopt_all);
            while !adopting.is_finished() {
                rebases.fetch_add(1, Ordering::Relaxed);
                chain.headers().rebase(&chain.head().record).unwrap();
            }
        });
        let numbers: Vec<u64> = chain.headers().branch.read().iter().map(|header| header.header.number).collect();
        assert!(numbers.iter().copied().eq(1..=BLOCKS), "{numbers:?}");
        assert_eq!(chain.headers().tip().map(|tip| tip.hash), Some(source.head().hash()));
    }
}
