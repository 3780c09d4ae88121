//! Block header precompile (0x01000010; RSKIP-119, RSKIP-536): header fields of the ancestors of the executing block.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use crate::block_env::AncestorBlock;
use rhizome_primitives::abi::{self, selector};
use rhizome_primitives::rlp::signed_bytes;
use rhizome_primitives::{Address, I256, Rule, Rules, U256};
use std::sync::Arc;

/// Depth from which ancestors are not available.
const DEPTH_LIMIT: u16 = 4000;
/// Prefix of the merged mining hash in the coinbase transaction of the Bitcoin block.
const TAG: &[u8; 9] = b"RSKBLOCK:";
const TAGGED_HASH_LENGTH: usize = 32;

pub(super) struct BlockHeader;

#[derive(Clone, Copy)]
enum HeaderField {
    Coinbase,
    Hash,
    MergedMiningTags,
    MinimumGasPrice,
    GasLimit,
    GasUsed,
    Difficulty,
    BitcoinHeader,
    UncleCoinbase(I256),
    DifficultyWithUncles,
    CumulativeWork,
}

impl HeaderField {
    /// Parses the requested field and depth.
    fn parse(input: &[u8], rules: &Rules) -> Option<(Self, I256)> {
        let (method, arguments) = selector(input)?;
        let field = match method {
            0x243e_7d36 => Self::Coinbase,
            0x2cce_81aa => Self::Hash,
            0x5ca0_53dd => Self::MergedMiningTags,
            0x1f1d_b3ba => Self::MinimumGasPrice,
            0x08a0_6364 => Self::GasLimit,
            0x06ac_702b => Self::GasUsed,
            0x9319_a35b => Self::Difficulty,
            0x3073_c6eb => Self::BitcoinHeader,
            0xabcd_8984 => Self::UncleCoinbase(arguments.integer(1)?),
            0x579e_e593 if rules.is_active(Rule::Rskip536) => Self::DifficultyWithUncles,
            0x096c_8196 if rules.is_active(Rule::Rskip536) => Self::CumulativeWork,
            _ => return None,
        };
        Some((field, arguments.integer(0)?))
    }

    /// Returns the bytes of the field. `None` is the `null` of the reference, if the header does not have the field.
    fn read(self, block: &AncestorBlock) -> Result<Option<Vec<u8>>, PrecompileFailure> {
        let header = &block.header;
        let bytes = match self {
            Self::Coinbase => address_bytes(header.coinbase),
            Self::Hash => block.hash.to_vec(),
            Self::MergedMiningTags => {
                let coinbase = header.bitcoin_coinbase.as_deref().filter(|bytes| !bytes.is_empty());
                coinbase.and_then(|bytes| merged_mining_tags(bytes)).ok_or(PrecompileFailure::Failed)?.to_vec()
            }
            Self::MinimumGasPrice => {
                let price = header.minimum_gas_price;
                price.map(|price| signed_bytes(&price.into_raw(), price.is_negative())).unwrap_or_default()
            }
            Self::GasLimit => return Ok(non_empty(&header.gas_limit)),
            Self::GasUsed => signed_bytes(&U256::from(header.gas_used), false),
            Self::Difficulty => signed_bytes(&header.difficulty.ok_or(PrecompileFailure::Failed)?, false),
            Self::BitcoinHeader => return Ok(header.bitcoin_header.as_deref().and_then(|bytes| non_empty(bytes))),
            Self::UncleCoinbase(index) => match i16::try_from(index).map(usize::try_from) {
                Err(_) => Vec::new(),
                Ok(Err(_)) => return Err(PrecompileFailure::Failed),
                Ok(Ok(index)) => address_bytes(block.uncles.get(index).and_then(|uncle| uncle.coinbase)),
            },
            Self::DifficultyWithUncles => {
                let uncles = block.uncles.iter().map(|uncle| uncle.difficulty_value());
                signed_bytes(&uncles.fold(header.difficulty_value(), U256::saturating_add), false)
            }
            Self::CumulativeWork => signed_bytes(&block.total_difficulty, false),
        };
        Ok(Some(bytes))
    }
}

impl Precompile for BlockHeader {
    fn required_gas(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(HeaderField::parse(input, &ctx.rules).map_or(0, |_| 4000 + 2 * input.len() as u64))
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let (field, depth) = HeaderField::parse(input, &ctx.rules).ok_or(PrecompileFailure::Failed)?;
        let value = match i16::try_from(depth).map(u16::try_from) {
            Err(_) => Some(Vec::new()),
            Ok(Err(_)) => return Err(PrecompileFailure::Failed),
            Ok(Ok(depth)) => match ancestor(depth, ctx)? {
                Some(block) => field.read(&block)?,
                None => Some(Vec::new()),
            },
        };
        Ok(value.map_or(PrecompileOutput::NoValue, |bytes| PrecompileOutput::Output(abi::encode_bytes(&bytes))))
    }
}

/// Returns the ancestor at a depth; depth 0 is the parent. The genesis block is only available as the parent.
fn ancestor(depth: u16, ctx: &PrecompileContext<'_>) -> Result<Option<Arc<AncestorBlock>>, PrecompileFailure> {
    let Some(parent) = ctx.env.number.checked_sub(1) else { return Ok(None) };
    let depth_blocks = u64::from(depth);
    if depth >= DEPTH_LIMIT || depth_blocks > 0 && parent <= depth_blocks {
        return Ok(None);
    }
    Ok(ctx.ancestry.ancestor(parent - depth_blocks)?)
}

fn address_bytes(address: Option<Address>) -> Vec<u8> {
    address.map(|address| address.to_vec()).unwrap_or_default()
}

fn non_empty(bytes: &[u8]) -> Option<Vec<u8>> {
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

/// Returns the bytes after the last tag and its hash: empty without a tag, `None` if the hash is truncated.
fn merged_mining_tags(coinbase: &[u8]) -> Option<&[u8]> {
    match coinbase.windows(TAG.len()).rposition(|window| window == TAG) {
        Some(position) => coinbase.get(position + TAG.len() + TAGGED_HASH_LENGTH..),
        None => Some(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-bh-", 48);
    }

    #[test]
    fn finds_merged_mining_tags() {
        let hash = [7; TAGGED_HASH_LENGTH];
        assert_eq!(merged_mining_tags(b"no tag here"), Some(&[][..]));
        assert_eq!(merged_mining_tags(&[&TAG[..], &hash].concat()), Some(&[][..]));
        assert_eq!(merged_mining_tags(&[&TAG[..], &hash, TAG, &hash, &[1, 2]].concat()), Some(&[1, 2][..]));
        assert_eq!(merged_mining_tags(&[&TAG[..], &hash[1..]].concat()), None);
    }
}
