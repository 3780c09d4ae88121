//! Ways back over changes of the federation: rewinds and reorganisations at each height that writes a federation, then the
//! import of the same blocks again.

use std::sync::Arc;

use rhizome_chain::Chain;
use rhizome_primitives::{B256, Network};
use serde_json::Value;

use super::{CaseFailure, CaseResult, check_block, import};
use crate::report::{SuiteReport, broken, equal};
use crate::vectors::VectorFields;

/// Slots whose change is a change of the federation.
const FEDERATIONS: [&str; 3] = ["newFederation", "oldFederation", "proposedFederation"];
/// Number of blocks between the fork and the change.
const BEFORE: u64 = 3;
/// Number of blocks of the other branch. The recorded branch is longer after one block more.
const BRANCH: u64 = 8;
/// Number of recorded blocks that the other branch replaces.
const REPLACED: u64 = BRANCH - 2;

/// Goes back below each change of the federation, highest first, and finally imports the chain to its end again.
pub(super) fn check(chain: &Arc<Chain>, json: &Value, raws: &[Vec<u8>], report: &mut SuiteReport) -> CaseResult {
    let recorded = RecordedChain { chain, blocks: json.member("blocks")?.items()?, raws };
    if chain.spec().network != Network::Regtest {
        return Ok(());
    }
    for height in recorded.changes()?.into_iter().rev() {
        report.case(&format!("reorganisation over block {height}"), || {
            recorded.reorganise(height.saturating_sub(BEFORE))
        });
    }
    report.case("import again after the last rewind", || {
        let last = recorded.blocks.len() as u64;
        recorded.import_up_to(last)?;
        recorded.check_head(last)
    });
    Ok(())
}

struct RecordedChain<'j> {
    chain: &'j Arc<Chain>,
    /// From height 1 on.
    blocks: &'j [Value],
    raws: &'j [Vec<u8>],
}

impl RecordedChain<'_> {
    /// Returns the heights of blocks that change a federation, in order. Skips heights that the fork at an earlier one covers,
    /// and heights with too few blocks after them.
    fn changes(&self) -> Result<Vec<u64>, CaseFailure> {
        let names = FEDERATIONS.map(|name| B256::left_padding_from(name.as_bytes()).to_string());
        let mut heights = Vec::new();
        for block in self.blocks {
            let slots = block.member("bridgeCells")?;
            let height = block.member("number")?.number()?;
            let is_covered = heights.last().is_some_and(|last| height <= last + REPLACED - BEFORE);
            let has_room = height + BRANCH <= self.blocks.len() as u64;
            if has_room && !is_covered && names.iter().any(|name| slots.get(name).is_some()) {
                heights.push(height);
            }
        }
        Ok(heights)
    }

    /// Replaces the blocks after `fork` by mined ones and then by the recorded ones again.
    fn reorganise(&self, fork: u64) -> CaseResult {
        self.rewind(fork)?;
        let mut branch = Vec::new();
        for _ in 0..BRANCH {
            let mined = self.chain.mine(0).map_err(|error| broken("mining", error))?;
            branch.push(mined.block.encode());
        }
        let tip = self.chain.head().hash();
        self.rewind(fork)?;
        self.import_up_to(fork + REPLACED)?;
        self.check_head(fork + REPLACED)?;
        for raw in branch {
            import(self.chain, &raw)?;
        }
        equal("head on the mined branch", tip, self.chain.head().hash())?;
        self.import_range(fork + REPLACED, fork + BRANCH + 1)?;
        self.check_head((fork + BRANCH + 1).min(self.blocks.len() as u64))
    }

    fn rewind(&self, height: u64) -> CaseResult {
        self.chain.rewind(height).map_err(|error| broken("rewind", error))?;
        equal("height after the rewind", height, self.chain.head().number())
    }

    /// Imports the recorded blocks after the head.
    fn import_up_to(&self, height: u64) -> CaseResult {
        self.import_range(self.chain.head().number(), height)
    }

    fn import_range(&self, after: u64, last: u64) -> CaseResult {
        let count = last.saturating_sub(after) as usize;
        for raw in self.raws.iter().skip(after as usize).take(count) {
            let imported = import(self.chain, raw)?;
            if !imported.name().starts_with("IMPORTED") {
                return Err(imported.explain(broken("result", imported.name())));
            }
        }
        Ok(())
    }

    fn check_head(&self, height: u64) -> CaseResult {
        let Some(block) = height.checked_sub(1).and_then(|index| self.blocks.get(index as usize)) else {
            return Ok(());
        };
        equal("head", block.member("hash")?.parsed::<B256>()?, self.chain.head().hash())?;
        check_block(self.chain, block)
    }
}
