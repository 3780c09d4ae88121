use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rhizome_chain::{BlockSource, NumberedBlock};
use rhizome_primitives::{B256, U256};

use crate::best_chain::{ChainBlock, ChainScan};
use crate::block_table::BlockTable;
use crate::error::RskjError;
use crate::lock::TableLock;

/// Rows of a scan between two reports.
const ROWS_PER_REPORT: u64 = 1024;

/// Fault of a table without its log.
pub(crate) const NO_LOG: &str = "the log does not exist";

/// The heaviest chain of a data directory of rskj, from its genesis.
pub struct RskjDirectory {
    table: BlockTable,
    /// By number.
    blocks: Vec<ChainBlock>,
    dir: PathBuf,
    _lock: TableLock,
}

impl RskjDirectory {
    /// Opens a data directory (`database.dir`) whose node does not run, and finds the heaviest chain of a network. Reads all
    /// blocks once; keeps 96 bytes for each meanwhile, and 64 for each block of the chain afterwards. `on_rows` gets the number of
    /// rows that were read, now and then, and may end it: then there is no directory.
    pub fn open(
        dir: &Path,
        genesis: B256,
        mut on_rows: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Self>, RskjError> {
        let blocks_dir = dir.join("blocks");
        if !blocks_dir.join("CURRENT").is_file() {
            return Err(RskjError::NotADirectory { dir: dir.to_owned() });
        }
        let lock = TableLock::take(&blocks_dir)?;
        let table = BlockTable::open(&blocks_dir)?;
        let mut scan = ChainScan::default();
        let mut rows: u64 = 0;
        let mut is_ended = false;
        table.scan(&mut |row| {
            scan.add(&blocks_dir, &row)?;
            rows += 1;
            let flow = if rows.is_multiple_of(ROWS_PER_REPORT) { on_rows(rows) } else { ControlFlow::Continue(()) };
            is_ended = flow.is_break();
            Ok(flow)
        })?;
        if is_ended {
            return Ok(None);
        }
        let blocks = scan.heaviest_chain(&blocks_dir, genesis)?;
        Ok(Some(Self { table, blocks, dir: blocks_dir, _lock: lock }))
    }
}

impl BlockSource for RskjDirectory {
    type Error = RskjError;

    fn last(&self) -> u64 {
        (self.blocks.len() as u64).saturating_sub(1)
    }

    fn hash(&self, number: u64) -> Result<Option<B256>, RskjError> {
        Ok(usize::try_from(number).ok().and_then(|number| self.blocks.get(number)).map(|block| block.hash))
    }

    fn block(&self, number: u64) -> Result<NumberedBlock, RskjError> {
        let block = usize::try_from(number).ok().and_then(|number| self.blocks.get(number));
        let block = block.ok_or_else(|| RskjError::damaged(&self.dir, format!("there is no block {number}")))?;
        let raw = self.table.read(&block.hash, block.location)?;
        Ok(NumberedBlock { number, total_difficulty: U256::from(block.total_difficulty), raw })
    }
}

/// Returns the numbers of all logs in a folder, ascending.
pub(crate) fn log_numbers(dir: &Path) -> Result<Vec<u64>, RskjError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).map_err(RskjError::read(dir))? {
        let name = entry.map_err(RskjError::read(dir))?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
