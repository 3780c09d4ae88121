//! The blocks that a reorganization by command deletes, to put them back if the command fails.

use std::sync::Arc;

use rhizome_storage::ChangeSet;

use crate::archive::record::BlockRecord;
use crate::error::{ChainError, ImportError};
use crate::import::head_writer::HeadWriter;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::rewind::rewind;
use crate::import::state_change::restore_state;
use crate::mining::MineError;
use crate::txpool::PooledTransaction;

/// The blocks above a height of the best chain, and the pool.
pub(crate) struct ReplacedBranch {
    height: u64,
    /// Ascending, each with the changes by hand of the state after it.
    blocks: Vec<(Arc<BlockRecord>, ChangeSet)>,
    /// Senders in no order, nonces ascending.
    pool: Vec<Arc<PooledTransaction>>,
}

impl ReplacedBranch {
    /// Reads what a way back to the block at `height` deletes.
    pub(crate) fn read(writer: &HeadWriter, height: u64) -> Result<Self, ChainError> {
        let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
        let numbers = height.saturating_add(1)..=publisher.head().number();
        let blocks = numbers.map(|number| {
            let record = archive.main_record(number)?.ok_or(ChainError::MissingHeight { number })?;
            let replaced = archive.store.replaced_state(&record.hash)?;
            Ok((record, replaced.map(|replaced| replaced.changes).unwrap_or_default()))
        });
        let blocks = blocks.collect::<Result<_, ChainError>>()?;
        let pool = publisher.pool();
        Ok(Self { height, blocks, pool: [pool.pending(), pool.queued()].concat() })
    }

    /// Goes back to the height, imports the blocks again and refills the pool.
    pub(crate) fn put_back(self, writer: &mut HeadWriter) -> Result<(), MineError> {
        rewind(writer, self.height).map_err(ImportError::from)?;
        for (record, changes) in self.blocks {
            let hash = record.hash;
            match writer.import(PreparedBlock::new(record.block.clone()), BlockOrigin::Mined)? {
                ImportOutcome::ImportedBest => restore_state(writer, &hash, &changes).map_err(ImportError::from)?,
                ImportOutcome::Invalid(invalid) => return Err(MineError::Invalid(invalid)),
                ImportOutcome::ImportedNotBest | ImportOutcome::Exists | ImportOutcome::NoParent => {
                    return Err(MineError::NotBest { hash });
                }
            }
        }
        let pool = writer.steps.publisher.pool();
        for pooled in self.pool {
            // The state is that of the first admission. A transaction that is outdated meanwhile stays out.
            let _rejection = pool.add(pooled.transaction.clone());
        }
        Ok(())
    }
}
