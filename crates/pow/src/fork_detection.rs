//! Fork detection data (RSKIP-110): twelve bytes about the last 449 blocks, which miners append to the hash for merged
//! mining so that Bitcoin blocks reveal a hidden fork.

use crate::block_lookup::{BlockLookup, LookUpError};
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::header::ForkDetectionData;
use rhizome_primitives::{ChainSpec, Header, HeaderError, Rule};
use std::sync::Arc;

/// Number of ancestors that the data need, genesis included.
pub const REQUIRED_ANCESTORS: u64 = 449;

/// Distance between sampled blocks.
const STRIDE: u64 = 64;

/// Number of sampled blocks, one byte each.
const SAMPLES: u64 = 7;

/// Number of most recent blocks whose uncles are counted.
const UNCLE_WINDOW: u64 = 32;

/// Why the fork detection data of a header are invalid.
#[derive(Debug, thiserror::Error)]
pub enum ForkDetectionError {
    /// The coinbase contains no data after the hash for merged mining.
    #[error("the coinbase carries no fork detection data")]
    Missing(#[source] HeaderError),
    /// Fewer than 449 ancestors are known.
    #[error("fewer than {REQUIRED_ANCESTORS} ancestors are known")]
    UnknownAncestors,
    /// The data differ from those computed from the ancestors.
    #[error("fork detection data is {found:02x?}, expected {expected:02x?}")]
    Different {
        /// Data in the coinbase.
        found: ForkDetectionData,
        /// Data computed from the ancestors.
        expected: ForkDetectionData,
    },
    /// The block store failed.
    #[error("look-up of an ancestor failed")]
    LookUp(#[source] LookUpError),
}

/// Returns the data for a child of `parent`; `None` if an ancestor is unknown, or the uncle count is negative.
pub fn fork_detection_data(
    parent: &Arc<Header>,
    blocks: &dyn BlockLookup,
) -> Result<Option<ForkDetectionData>, LookUpError> {
    let best = parent.number;
    let (Some(_), Some(child)) = (best.checked_sub(REQUIRED_ANCESTORS - 1), best.checked_add(1)) else {
        return Ok(None);
    };
    // From the most recent block down. Each look-up starts at the block that the previous one has found.
    let mut cursor = Arc::clone(parent);
    let mut at = |number: u64| -> Result<Option<Arc<Header>>, LookUpError> {
        if cursor.number != number {
            // Starts at the parent: the header contains its hash, while the hash of the block must be computed.
            let Some(below) = cursor.parent() else { return Ok(None) };
            let Some(found) = blocks.ancestor(&below, number)? else { return Ok(None) };
            cursor = found;
        }
        Ok(Some(Arc::clone(&cursor)))
    };
    let latest_sample = best - best % STRIDE;
    let mut samples = Vec::new();
    let mut uncles: i32 = 0;
    for distance in 0..REQUIRED_ANCESTORS {
        let number = best - distance;
        let is_sample = number <= latest_sample && number.is_multiple_of(STRIDE) && (samples.len() as u64) < SAMPLES;
        if !is_sample && distance >= UNCLE_WINDOW {
            continue;
        }
        let Some(ancestor) = at(number)? else { return Ok(None) };
        if distance < UNCLE_WINDOW {
            uncles = uncles.wrapping_add(ancestor.uncle_count.cast_signed());
        }
        if is_sample {
            let Some(byte) = sample(&ancestor) else { return Ok(None) };
            samples.push(byte);
        }
    }
    // The sum wraps in 32 bits; a negative sum gives no data. The number is cut to its low 32 bits.
    let Ok(uncles) = u8::try_from(uncles.min(i32::from(u8::MAX))) else { return Ok(None) };
    let tail = [uncles].into_iter().chain((child as u32).to_be_bytes());
    let mut data = [0; 12];
    for (target, source) in data.iter_mut().zip(samples.into_iter().chain(tail)) {
        *target = source;
    }
    Ok(Some(data))
}

/// Returns the least significant byte of the Bitcoin block hash; `None` for the genesis block, which has no Bitcoin header.
fn sample(ancestor: &Header) -> Option<u8> {
    let header = BitcoinHeader::parse(ancestor.bitcoin_header.as_deref()?).ok()?;
    header.hash().first().copied()
}

/// Rule 16: from RSKIP-110 on, above number 449, the coinbase must contain the data computed from the ancestors.
pub fn check_fork_detection(
    header: &Header,
    spec: &ChainSpec,
    blocks: &dyn BlockLookup,
) -> Result<(), ForkDetectionError> {
    if !spec.rules(header.number).is_active(Rule::Rskip110) || header.number <= spec.constants.fork_detection_blocks {
        return Ok(());
    }
    let found = header.fork_detection_data().map_err(ForkDetectionError::Missing)?;
    let parent = header.parent().ok_or(ForkDetectionError::UnknownAncestors)?;
    let parent = blocks.header(&parent).map_err(ForkDetectionError::LookUp)?;
    let parent = parent.ok_or(ForkDetectionError::UnknownAncestors)?;
    let expected = fork_detection_data(&parent, blocks).map_err(ForkDetectionError::LookUp)?;
    let expected = expected.ok_or(ForkDetectionError::UnknownAncestors)?;
    match found {
        Some(found) if found != expected => Err(ForkDetectionError::Different { found, expected }),
        _ => Ok(()),
    }
}
