//! How deep a Bitcoin transaction is (RSKIP-122, bridge chapter 5.7).

use super::super::abi::Arguments;
use super::super::constants::BitcoinRules;
use super::super::invocation::Invocation;
use super::store::StoredHeader;
use super::{Answer, Failure, Refusal, Result, code};
use rhizome_bitcoin::{BitcoinHeader, display, merkle};
use rhizome_primitives::{B256, Rule, U256, b256, hex};

const BASE_GAS: u64 = 27_000;
const GAS_PER_BLOCK: u64 = 315;
const GAS_PER_HASH: u64 = 144;
const DEPTH_LIMIT: i32 = 4320;
const BRANCH_LIMIT: usize = 32;
const UNKNOWN_BLOCK: i64 = -1;
const OTHER_BRANCH: i64 = -2;
const OUT_OF_REACH: i64 = -3;
const TOO_OLD: i64 = -4;
const OTHER_ROOT: i64 = -5;

/// The block of the testnet in which a header counts that was never stored, and that header.
const EXCEPTION_NUMBER: u64 = 5_148_285;
const EXCEPTION_HASH: B256 = b256!("00000000e8e7b540df01a7067e020fd7e2026bf86289def2283a35120c1af379");
const EXCEPTION_HEIGHT: i32 = 2_817_125;
const EXCEPTION_WORK: U256 = U256::from_limbs([0xb5fb_cd96_9312_a77c, 0xdde, 0, 0]);
const EXCEPTION_HEADER: [u8; 80] = hex!(
    "000000203b5d178405c4e6e7dc07d63d6de5db1342044791721654760c00000000000000796cf6743a036300b43fb3abe6703d04a7999751b6d5"
    "744f20327d1175320bd37b954e66ffff001d56dc11ce"
);

impl Invocation<'_, '_> {
    /// Gas of a call. Opens the store.
    pub(in super::super) fn confirmations_price(&mut self, arguments: Arguments<'_>) -> Result<u64> {
        let (Some(block), Some(branch)) = (arguments.word_at(1), arguments.words(3)) else { return Ok(BASE_GAS) };
        let best = self.best_header()?.height;
        let Some(block) = self.confirmed_block(B256::from(block))? else { return Ok(BASE_GAS) };
        let depth = best.wrapping_sub(block.height).max(0);
        if depth > DEPTH_LIMIT {
            return Ok(BASE_GAS);
        }
        Ok(BASE_GAS + GAS_PER_BLOCK * u64::from(depth.unsigned_abs()) + GAS_PER_HASH * branch.len() as u64)
    }

    /// Hashes in display order, the deepest of the branch first; bit i of the path: hash i stands on the left.
    pub(in super::super) fn confirmations(
        &mut self,
        transaction: [u8; 32],
        block: [u8; 32],
        path: i32,
        branch: &[[u8; 32]],
    ) -> Result<Answer> {
        // A negative path counts as having no bits.
        let bits = (i32::BITS - path.max(0).leading_zeros()) as usize;
        if branch.len() > BRANCH_LIMIT || bits > branch.len() {
            return Err(Failure::Call);
        }
        let best = self.best_header()?.height;
        let Some(block) = self.confirmed_block(B256::from(block))? else { return Ok(code(UNKNOWN_BLOCK)) };
        if best.wrapping_sub(block.height).max(0) > DEPTH_LIMIT {
            return Ok(code(TOO_OLD));
        }
        match self.main_chain_header(block.height) {
            Ok(found) if found.as_ref() == Some(&block) => {}
            Ok(_) => return Ok(code(OTHER_BRANCH)),
            Err(Refusal::Bad) => return Ok(code(OUT_OF_REACH)),
            Err(Refusal::Failure(failure)) => return Err(failure),
        }
        let mut node = display(transaction);
        for (index, hash) in branch.iter().enumerate() {
            let is_right = path >> index & 1 == 1;
            let (left, right) = if is_right { (display(*hash), node) } else { (node, display(*hash)) };
            node = merkle::parent(&left, &right).map_err(|_looks_like_a_transaction| Failure::Call)?;
        }
        let is_root = node == block.header.merkle_root()
            || self.has(Rule::Rskip143) && self.witness_root(&block.hash())? == Some(display(node));
        Ok(code(if is_root { i64::from(best) - i64::from(block.height) + 1 } else { OTHER_ROOT }))
    }

    fn confirmed_block(&mut self, hash: B256) -> Result<Option<StoredHeader>> {
        let is_exception = self.ctx.env.number == EXCEPTION_NUMBER
            && hash == EXCEPTION_HASH
            && self.constants.bitcoin == BitcoinRules::Testnet;
        if is_exception {
            let header = BitcoinHeader::parse(&EXCEPTION_HEADER).map_err(|_malformed| Failure::Call)?;
            return Ok(Some(StoredHeader { work: EXCEPTION_WORK, height: EXCEPTION_HEIGHT, header }));
        }
        self.header(&hash)
    }
}
