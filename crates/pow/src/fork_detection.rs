//! Fork detection data (RSKIP-110): twelve bytes about the last 449 blocks that miners put behind the hash for merged
//! mining, so that a hidden fork can be seen in Bitcoin.

use crate::ancestry::{Ancestry, LookUpError};
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::header::ForkDetectionData;
use rhizome_primitives::{ChainSpec, Header, HeaderError, Rule};
use std::sync::Arc;

/// Ancestors that the data needs, the genesis included.
pub const REQUIRED_ANCESTORS: u64 = 449;

/// Distance between the blocks that give one byte each.
const STRIDE: u64 = 64;

/// How many blocks give one byte each.
const SAMPLES: u64 = 7;

/// How many of the last blocks have their uncles counted.
const UNCLE_WINDOW: u64 = 32;

/// Why the fork detection data of a header is wrong.
#[derive(Debug, thiserror::Error)]
pub enum ForkDetectionError {
    /// The coinbase does not carry the data behind the hash for merged mining.
    #[error("the coinbase carries no fork detection data")]
    Missing(#[source] HeaderError),
    /// Fewer than 449 ancestors are known.
    #[error("fewer than {REQUIRED_ANCESTORS} ancestors are known")]
    UnknownAncestors,
    /// Other data than the ancestors give.
    #[error("fork detection data is {found:02x?}, expected {expected:02x?}")]
    Different {
        /// In the coinbase.
        found: ForkDetectionData,
        /// From the ancestors.
        expected: ForkDetectionData,
    },
    /// The store failed.
    #[error("look-up of an ancestor failed")]
    LookUp(#[source] LookUpError),
}

/// The data that a child of `parent` carries; none when the ancestors are not known far enough back.
pub fn fork_detection_data(
    parent: &Arc<Header>,
    ancestry: &dyn Ancestry,
) -> Result<Option<ForkDetectionData>, LookUpError> {
    let best = parent.number;
    let (Some(_), Some(child)) = (best.checked_sub(REQUIRED_ANCESTORS - 1), best.checked_add(1)) else {
        return Ok(None);
    };
    // From the newest to the oldest, each look-up starting where the last one ended.
    let mut cursor = Arc::clone(parent);
    let mut at = |number: u64| -> Result<Option<Arc<Header>>, LookUpError> {
        if cursor.number != number {
            // Its parent rather than itself: that hash is written in the header, its own would have to be computed.
            let Some(below) = cursor.parent() else { return Ok(None) };
            let Some(found) = ancestry.ancestor(&below, number)? else { return Ok(None) };
            cursor = found;
        }
        Ok(Some(Arc::clone(&cursor)))
    };
    let newest_sample = best - best % STRIDE;
    let mut samples = Vec::new();
    let mut uncles: i32 = 0;
    for distance in 0..REQUIRED_ANCESTORS {
        let number = best - distance;
        let is_sample = number <= newest_sample && number.is_multiple_of(STRIDE) && (samples.len() as u64) < SAMPLES;
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
    // The sum wraps in 32 bits, and there are no data for a negative one. The number keeps its low 32 bits.
    let Ok(uncles) = u8::try_from(uncles.min(i32::from(u8::MAX))) else { return Ok(None) };
    let tail = [uncles].into_iter().chain((child as u32).to_be_bytes());
    let mut data = [0; 12];
    for (target, source) in data.iter_mut().zip(samples.into_iter().chain(tail)) {
        *target = source;
    }
    Ok(Some(data))
}

/// Least significant byte of the Bitcoin block hash; the genesis has no Bitcoin header to take it from.
fn sample(ancestor: &Header) -> Option<u8> {
    let header = BitcoinHeader::parse(ancestor.bitcoin_header.as_deref()?).ok()?;
    header.hash().first().copied()
}

/// Rule 16: from RSKIP-110 on, above number 449, the coinbase must carry exactly the data that the ancestors give.
pub fn check_fork_detection(
    header: &Header,
    spec: &ChainSpec,
    ancestry: &dyn Ancestry,
) -> Result<(), ForkDetectionError> {
    if !spec.rules(header.number).is_active(Rule::Rskip110) || header.number <= spec.constants.fork_detection_blocks {
        return Ok(());
    }
    let found = header.fork_detection_data().map_err(ForkDetectionError::Missing)?;
    let parent = header.parent().ok_or(ForkDetectionError::UnknownAncestors)?;
    let parent = ancestry.header(&parent).map_err(ForkDetectionError::LookUp)?;
    let parent = parent.ok_or(ForkDetectionError::UnknownAncestors)?;
    let expected = fork_detection_data(&parent, ancestry).map_err(ForkDetectionError::LookUp)?;
    let expected = expected.ok_or(ForkDetectionError::UnknownAncestors)?;
    match found {
        Some(found) if found != expected => Err(ForkDetectionError::Different { found, expected }),
        _ => Ok(()),
    }
}
