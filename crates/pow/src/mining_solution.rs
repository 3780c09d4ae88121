//! Mining: the target, the solution of a miner, and the search for a proof of low difficulty.

use rhizome_bitcoin::coinbase::{self, TAG, compress, last_position, tagged_hash};
use rhizome_bitcoin::merkle::{proof_of_siblings, root_of, siblings_of_first};
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{BitcoinBlock, BitcoinHeader, Digest, MessageError, display};
use rhizome_primitives::header::ForkDetectionData;
use rhizome_primitives::{B256, Bytes, ChainSpec, Header, HeaderError, Rule, U256};

/// Version of synthetic Bitcoin blocks.
const BITCOIN_VERSION: u32 = 0x2000_0000;

/// Offset of the hash in a coinbase without tag: the position of an absent tag, -1, plus the length of the tag.
const UNTAGGED_HASH_AT: usize = TAG.len() - 1;

/// Easiest compact target of Bitcoin's own regtest.
const BITCOIN_REGTEST_BITS: u32 = 0x207f_ffff;

/// Returns the maximum hash of a difficulty: 2^256 / difficulty. Difficulties below 3 count as 3.
pub fn target(difficulty: U256) -> U256 {
    let divisor = difficulty.max(U256::from(3));
    // 2^256 = divisor * quotient of (2^256 - 1) + remainder + 1.
    let (quotient, remainder) = U256::MAX.div_rem(divisor);
    if remainder.wrapping_add(U256::ONE) == divisor { quotient.saturating_add(U256::ONE) } else { quotient }
}

/// Returns the maximum hash for a header. Blocks of a fork need no work.
pub(crate) fn required_target(header: &Header, spec: &ChainSpec) -> U256 {
    if spec.fork_block.is_some() { U256::MAX } else { target(header.difficulty_value()) }
}

/// Why a solution is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MiningSolutionError {
    /// The bytes are not a Bitcoin block, header or transaction.
    #[error("not a Bitcoin message")]
    Message(#[from] MessageError),
    /// The list of Merkle hashes is empty; it must start with the id of the coinbase.
    #[error("the list of Merkle hashes is empty")]
    NoHashes,
    /// The coinbase is too short to contain a hash for merged mining.
    #[error("the coinbase carries no hash for merged mining")]
    NoTag,
}

/// The parts of a solved Bitcoin block that a header needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MiningSolution {
    header: BitcoinHeader,
    coinbase: Vec<u8>,
    /// Id of the coinbase and its siblings up to the root, wire order.
    branch: Vec<Digest>,
    transaction_count: u32,
}

impl MiningSolution {
    /// Reads a solution from a Bitcoin block.
    pub fn from_block(block: &[u8]) -> Result<Self, MiningSolutionError> {
        let block = BitcoinBlock::parse(block)?;
        Self::from_ids(block.header, block.coinbase, &block.transaction_ids)
    }

    /// Reads a solution from an 80-byte header, the coinbase, and all transaction ids in display order, coinbase first.
    pub fn from_transactions(header: &[u8], coinbase: &[u8], ids: &[Digest]) -> Result<Self, MiningSolutionError> {
        let ids: Vec<Digest> = ids.iter().map(|id| display(*id)).collect();
        Self::from_ids(BitcoinHeader::parse(header)?, read_coinbase(coinbase)?, &ids)
    }

    /// Reads a solution from an 80-byte header, the coinbase, and its Merkle branch in wire order: the id of the coinbase,
    /// then the siblings.
    pub fn from_branch(
        header: &[u8],
        coinbase: &[u8],
        branch: &[Digest],
        transaction_count: u32,
    ) -> Result<Self, MiningSolutionError> {
        if branch.is_empty() {
            return Err(MiningSolutionError::NoHashes);
        }
        let header = BitcoinHeader::parse(header)?;
        Ok(Self { header, coinbase: read_coinbase(coinbase)?, branch: branch.to_vec(), transaction_count })
    }

    fn from_ids(header: BitcoinHeader, coinbase: Vec<u8>, ids: &[Digest]) -> Result<Self, MiningSolutionError> {
        let first = *ids.first().ok_or(MiningSolutionError::NoHashes)?;
        let branch = [vec![first], siblings_of_first(ids)].concat();
        // A Bitcoin message cannot hold 2^32 transactions.
        Ok(Self { header, coinbase, branch, transaction_count: ids.len() as u32 })
    }

    /// Returns the hash for merged mining of the block that is solved: the 32 bytes after the last tag. Without a tag the
    /// reference reads the bytes from the ninth on and reports them when it rejects the solution.
    pub fn hash_for_merged_mining(&self) -> Result<B256, MiningSolutionError> {
        let hash = match last_position(&self.coinbase, TAG) {
            Some(_) => tagged_hash(&self.coinbase),
            None => self.coinbase.get(UNTAGGED_HASH_AT..).and_then(|rest| rest.first_chunk().copied()),
        };
        hash.map(B256::from).ok_or(MiningSolutionError::NoTag)
    }

    /// Returns the Merkle proof element: a list of siblings if `short` (RSKIP-92 is active), otherwise a partial tree.
    pub fn merkle_proof(&self, short: bool) -> Vec<u8> {
        if short {
            return proof_of_siblings(self.branch.get(1..).unwrap_or_default());
        }
        PartialTree::of_first_leaf(&self.branch, self.transaction_count).encode()
    }

    /// Writes the three mining elements into a header that was not hashed before. Does not check the proof of work: see
    /// [`crate::proof_of_work`].
    pub fn complete(&self, header: &mut Header, spec: &ChainSpec) {
        let short = spec.rules(header.number).is_active(Rule::Rskip92);
        header.bitcoin_header = Some(Bytes::copy_from_slice(self.header.as_bytes()));
        header.merkle_proof = Some(Bytes::from(self.merkle_proof(short)));
        header.bitcoin_coinbase = Some(Bytes::from(compress(&self.coinbase)));
    }
}

/// Reads a coinbase and removes its witness, which the id does not cover.
fn read_coinbase(bytes: &[u8]) -> Result<Vec<u8>, MiningSolutionError> {
    Ok(rhizome_bitcoin::message::strip_witness(bytes)?)
}

/// Why no proof of work was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The header has no hash for merged mining.
    #[error("the header has no hash for merged mining")]
    NoHash(#[from] HeaderError),
    /// The header needs fork detection data, and the argument is absent.
    #[error("fork detection data are missing")]
    NoForkData,
    /// All attempts were above the target.
    #[error("no proof of work found in {attempts} attempts")]
    Exhausted {
        /// Number of Bitcoin headers tried.
        attempts: u32,
    },
}

/// Finds a proof of work of low difficulty and writes it into the header: a synthetic Bitcoin block that contains only a
/// coinbase and has the timestamp of the header. `fork_data` is the result of [`crate::fork_detection_data`], required if the
/// header has such data. At the lowest difficulty about one attempt in three succeeds.
pub fn solve(
    header: &mut Header,
    fork_data: Option<ForkDetectionData>,
    spec: &ChainSpec,
    max_attempts: u32,
) -> Result<(), SolveError> {
    if header.expects_fork_detection_data() && fork_data.is_none() {
        return Err(SolveError::NoForkData);
    }
    let hash = header.hash_for_mining_with(&fork_data.unwrap_or_default())?;
    let target = required_target(header, spec);
    let coinbase = coinbase::synthetic(&hash.0, 0);
    let id = coinbase::transaction_id(&coinbase);
    let time = u32::try_from(header.timestamp).unwrap_or(u32::MAX);
    let candidate =
        BitcoinHeader::new(BITCOIN_VERSION, Digest::default(), root_of(&[id]), time, BITCOIN_REGTEST_BITS, 0);
    for nonce in 0..max_attempts {
        let candidate = candidate.with_nonce(nonce);
        if U256::from_be_bytes(display(candidate.hash())) <= target {
            MiningSolution { header: candidate, coinbase, branch: vec![id], transaction_count: 1 }
                .complete(header, spec);
            return Ok(());
        }
    }
    Err(SolveError::Exhausted { attempts: max_attempts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_at_the_edges() {
        assert_eq!(target(U256::ZERO), target(U256::from(3)));
        assert_eq!(target(U256::from(4)), U256::ONE << 254);
        assert_eq!(target(U256::from(3)), U256::MAX / U256::from(3));
        assert_eq!(target(U256::MAX), U256::ONE);
    }

    #[test]
    fn blocks_of_a_fork_need_no_work() {
        let spec = ChainSpec::mainnet().forked_at(8_000_000);
        let mut header = Header::new(8_000_001, &spec);
        header.difficulty = Some(U256::MAX);
        assert!(!header.expects_fork_detection_data());
        solve(&mut header, None, &spec, 1).unwrap();
        crate::proof_of_work(&header, &spec).unwrap();
        crate::proof_of_work(&header, &ChainSpec::mainnet()).unwrap_err();
        assert_eq!(crate::difficulty(&spec, 8_000_001, 2_000, 0, 1_000, U256::from(77)), U256::from(77));
    }
}
