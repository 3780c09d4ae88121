//! Confirmations of a Bitcoin transaction (RSKIP-122; docs/spec/bridge.md, 5.7).

use super::HeaderFailure;
use super::store::{best_header, header, main_chain_header};
use crate::coinbase_information::witness_root;
use crate::constants::BitcoinRules;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::return_value::ReturnValue;
use crate::slots::stored_header::StoredHeader;
use crate::storage::Storage;
use rhizome_bitcoin::{BitcoinHeader, display, merkle};
use rhizome_primitives::{B256, Rule, U256, abi::Arguments, b256, hex};

const BASE_GAS: u64 = 27_000;
const GAS_PER_BLOCK: u64 = 315;
const GAS_PER_HASH: u64 = 144;
const DEPTH_LIMIT: i32 = 4320;
const BRANCH_LIMIT: usize = 32;
const UNKNOWN_BLOCK: i64 = -1;
const NOT_ON_MAIN_CHAIN: i64 = -2;
const OUT_OF_REACH: i64 = -3;
const TOO_OLD: i64 = -4;
const DIFFERENT_ROOT: i64 = -5;

/// The RSK block of the testnet in which a header that was never stored is valid.
const EXCEPTION_NUMBER: u64 = 5_148_285;
/// The header that is valid in that block.
const EXCEPTION_HASH: B256 = b256!("00000000e8e7b540df01a7067e020fd7e2026bf86289def2283a35120c1af379");
const EXCEPTION_HEIGHT: i32 = 2_817_125;
const EXCEPTION_WORK: U256 = U256::from_limbs([0xb5fb_cd96_9312_a77c, 0xdde, 0, 0]);
const EXCEPTION_HEADER: [u8; 80] = hex!(
    "000000203b5d178405c4e6e7dc07d63d6de5db1342044791721654760c00000000000000796cf6743a036300b43fb3abe6703d04a7999751b6d5"
    "744f20327d1175320bd37b954e66ffff001d56dc11ce"
);

/// Returns the gas of a call. Opens the store.
pub(crate) fn price(storage: &mut Storage<'_>, ctx: &CallContext<'_>, arguments: Arguments<'_>) -> Result<u64> {
    let (Some(block), Some(branch)) = (arguments.word_at(1), arguments.words(3)) else { return Ok(BASE_GAS) };
    let best = best_header(storage, ctx)?.height;
    let Some(block) = confirmed_block(storage, ctx, B256::from(block))? else { return Ok(BASE_GAS) };
    let depth = best.wrapping_sub(block.height).max(0);
    if depth > DEPTH_LIMIT {
        return Ok(BASE_GAS);
    }
    Ok(BASE_GAS + GAS_PER_BLOCK * u64::from(depth.unsigned_abs()) + GAS_PER_HASH * branch.len() as u64)
}

/// Returns the number of confirmations, or a negative code. Hashes are in display order, the deepest of the branch first.
/// Bit i of the path is set if hash i is the left child.
pub(crate) fn confirmations(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    transaction: [u8; 32],
    block: [u8; 32],
    path: i32,
    branch: &[[u8; 32]],
) -> Result<ReturnValue> {
    // A negative path counts as a path without bits.
    let bits = (i32::BITS - path.max(0).leading_zeros()) as usize;
    if branch.len() > BRANCH_LIMIT || bits > branch.len() {
        return Err(MethodFailure::Rejected);
    }
    let best = best_header(storage, ctx)?.height;
    let Some(block) = confirmed_block(storage, ctx, B256::from(block))? else {
        return Ok(ReturnValue::code(UNKNOWN_BLOCK));
    };
    if best.wrapping_sub(block.height).max(0) > DEPTH_LIMIT {
        return Ok(ReturnValue::code(TOO_OLD));
    }
    match main_chain_header(storage, ctx, block.height) {
        Ok(found) if found.as_ref() == Some(&block) => {}
        Ok(_) => return Ok(ReturnValue::code(NOT_ON_MAIN_CHAIN)),
        Err(HeaderFailure::Invalid) => return Ok(ReturnValue::code(OUT_OF_REACH)),
        Err(HeaderFailure::Method(failure)) => return Err(failure),
    }
    let mut node = display(transaction);
    for (index, hash) in branch.iter().enumerate() {
        let is_right = path >> index & 1 == 1;
        let (left, right) = if is_right { (display(*hash), node) } else { (node, display(*hash)) };
        node = merkle::parent(&left, &right).map_err(|_looks_like_a_transaction| MethodFailure::Rejected)?;
    }
    let is_root = node == block.header.merkle_root()
        || ctx.has(Rule::Rskip143) && witness_root(storage, &block.hash())? == Some(display(node));
    let count = i64::from(best) - i64::from(block.height) + 1;
    Ok(ReturnValue::code(if is_root { count } else { DIFFERENT_ROOT }))
}

fn confirmed_block(storage: &mut Storage<'_>, ctx: &CallContext<'_>, hash: B256) -> Result<Option<StoredHeader>> {
    let is_exception = ctx.call.block_number == EXCEPTION_NUMBER
        && hash == EXCEPTION_HASH
        && ctx.constants.bitcoin == BitcoinRules::Testnet;
    if is_exception {
        let header = BitcoinHeader::parse(&EXCEPTION_HEADER).map_err(|_malformed| MethodFailure::Rejected)?;
        return Ok(Some(StoredHeader { work: EXCEPTION_WORK, height: EXCEPTION_HEIGHT, header }));
    }
    header(storage, &hash)
}
