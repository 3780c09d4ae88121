//! Blocks that were stored without the accounts of their inner calls: they are executed again, each on the state before it.

use std::sync::Arc;

use rhizome_evm::{Deadline, execute_block_with_inner_accounts};
use rhizome_primitives::B256;
use rhizome_storage::{CallIndex, CallPlan, InnerAccounts};

use crate::archive::ancestry::ChainAncestry;
use crate::archive::historical_state::HistoricalState;
use crate::error::{ChainError, ImportError};
use crate::import::importer::Importer;
use crate::import::steps::ImportSteps;

/// Blocks that a step executes, at most: the end of the node waits for a step.
const EXECUTED_PER_STEP: usize = 64;
/// Blocks of a step, at most, including blocks that have a row or are left out.
const BLOCKS_PER_STEP: u64 = 1024;

/// Adds the inner calls of some blocks to the address index. Returns false if none is missing any more.
pub(crate) fn add_missing(importer: &Importer) -> Result<bool, ImportError> {
    let Some(plan) = plan(&importer.steps)? else { return Ok(false) };
    // Nothing moves the head during a job. An outdated plan is dropped.
    importer.run(move |writer| match CallIndex::new(&writer.steps.archive.store) {
        Some(index) => Ok::<_, ChainError>(index.write(plan)?),
        None => Ok(false),
    })??;
    Ok(true)
}

fn plan(steps: &ImportSteps) -> Result<Option<CallPlan>, ImportError> {
    let store = &steps.archive.store;
    let Some(index) = CallIndex::new(store) else { return Ok(None) };
    // Old states are not given up meanwhile.
    let _pruning = steps.archive.pruning.lock();
    let branch = store.branch();
    let missing = index.missing()?;
    let Some(missing) = missing.filter(|missing| !missing.is_empty()) else { return Ok(None) };
    let oldest = store.oldest_state();
    let end = missing.end.min(missing.start.saturating_add(BLOCKS_PER_STEP));
    let mut plan = CallPlan { next: missing.start, missing, complete_from: 0, branch, blocks: Vec::new() };
    while plan.next < end && plan.blocks.len() < EXECUTED_PER_STEP {
        let number = plan.next;
        let Some(hash) = store.main_hash(number)? else {
            // The head went back: later blocks are indexed when they are written.
            plan.next = plan.missing.end;
            break;
        };
        plan.next += 1;
        if store.inner_accounts(&hash)?.is_some() {
            continue;
        }
        if number <= oldest {
            plan.complete_from = plan.next;
            continue;
        }
        plan.blocks.push((number, hash, inner_accounts(steps, hash)?));
    }
    Ok(Some(plan))
}

/// Executes a block of the best chain.
fn inner_accounts(steps: &ImportSteps, hash: B256) -> Result<InnerAccounts, ImportError> {
    let archive = &steps.archive;
    let record = archive.known_record(&hash)?;
    let parent = archive.known_record(&record.parent().ok_or(ChainError::MissingBlock { hash })?)?;
    let state = Arc::new(HistoricalState::new(Arc::clone(archive), &parent));
    let ancestry = ChainAncestry::new(Arc::clone(archive), parent.number(), parent.hash);
    let (spec, deadline) = (&archive.spec, Deadline::none());
    let executed =
        execute_block_with_inner_accounts(spec, &record.block, record.senders(), state, &ancestry, &deadline);
    let outcome = executed.map_err(|source| ImportError::Execution { number: record.number(), block: hash, source })?;
    Ok(InnerAccounts::of(outcome.inner_accounts.unwrap_or_default()))
}
