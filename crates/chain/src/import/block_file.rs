//! Files of blocks, one block per line: `number,hash,totalDifficulty,block`, the number decimal, the rest hex without prefix.
//! ExportBlocks of the reference node writes them, its ImportBlocks reads them.

use std::io::{self, BufRead, Read, Write};
use std::ops::ControlFlow;

use rhizome_primitives::{B256, Block, ChainSpec, U256, hex};

use crate::archive::Archive;
use crate::error::{BlockDecodeError, ChainError, ImportError};
use crate::import::feed::{PreparedItem, SourceItem, counted_bytes, feed};
use crate::import::importer::Importer;
use crate::import::invalid_block::InvalidBlock;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::BlockReport;

/// Much larger than any block. Another file may have no line ends at all.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Error that ended the import of a file. The blocks of the lines before stay imported.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct BlockFileError {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub fault: LineFault,
}

/// Fault of a line.
#[derive(Debug, thiserror::Error)]
pub enum LineFault {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The line is longer than any block.
    #[error("longer than {} bytes", MAX_LINE_BYTES)]
    TooLong,
    /// The line does not have four fields.
    #[error("{count} fields instead of number,hash,totalDifficulty,block")]
    Fields {
        /// Fields found.
        count: usize,
    },
    /// A field is not a number, hash or hex text.
    #[error("the {field} is not {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Expected content.
        expected: &'static str,
    },
    /// The last field is not a block.
    #[error("not a block: {0}")]
    Decode(#[from] BlockDecodeError),
    /// The line or the archive states another number than its block has.
    #[error("the stated number is {stated}, the block has {actual}")]
    Number {
        /// The stated one.
        stated: u64,
        /// In the block.
        actual: u64,
    },
    /// The line or the archive states another hash than its block has.
    #[error("the stated hash is {stated}, the block has {actual}")]
    Hash {
        /// The stated one.
        stated: B256,
        /// Of the block.
        actual: B256,
    },
    /// The line or the archive states another total difficulty than its block has on this chain.
    #[error("the stated total difficulty is {stated}, the block has {actual}")]
    TotalDifficulty {
        /// The stated one.
        stated: U256,
        /// Of the block.
        actual: U256,
    },
    /// The parent of the block is not stored: the file belongs to another chain or begins too high.
    #[error("block {number} does not connect: its parent {parent} is unknown")]
    NoParent {
        /// Number of the block.
        number: u64,
        /// Hash of its parent.
        parent: B256,
    },
    /// The block breaks a rule.
    #[error("block {number} is invalid: {reason}")]
    Invalid {
        /// Number of the block.
        number: u64,
        /// The rule.
        reason: Box<InvalidBlock>,
    },
    /// The node failed, or does not know a rule that it would need.
    #[error(transparent)]
    Import(Box<ImportError>),
}

impl From<ImportError> for LineFault {
    fn from(error: ImportError) -> Self {
        Self::Import(Box::new(error))
    }
}

/// A block of a file after its import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedLine {
    /// The line, from 1.
    pub line: u64,
    /// Number of the block.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// State root in its header, or 32 zero bytes where that field is not a hash.
    pub state_root: B256,
    /// Number of its transactions, REMASC included.
    pub transactions: usize,
    /// Gas that it used.
    pub gas_used: u64,
    /// Outcome of the import.
    pub result: LineResult,
}

/// Outcome of the import of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineResult {
    /// The block became the best block.
    Best,
    /// The block is stored beside the best chain.
    Side,
    /// The block was already stored.
    Known,
}

/// The fields of a line.
struct BlockFileLine {
    number: u64,
    hash: B256,
    total_difficulty: U256,
    raw: Vec<u8>,
}

/// A block, with the hash and the total difficulty that its source names.
pub(crate) struct ParsedLine {
    pub(crate) block: Block,
    pub(crate) hash: B256,
    pub(crate) total_difficulty: U256,
}

/// Report about a line, except the outcome of its block.
struct LineNote {
    number: u64,
    hash: B256,
    parent: B256,
    state_root: B256,
    transactions: usize,
    gas_used: u64,
    total_difficulty: U256,
}

impl SourceItem for Result<BlockFileLine, LineFault> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |line| counted_bytes(&line.raw))
    }
}

/// Imports the blocks of a file. `on_line` gets each result and may end the import. Returns the number of lines whose blocks are
/// on disk.
pub(crate) fn import(
    importer: &Importer,
    file: impl BufRead,
    on_line: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<u64, BlockFileError> {
    let spec = &importer.steps.config.spec;
    let parse = |line: Result<BlockFileLine, LineFault>| line?.decode(spec);
    import_parsed(importer, BlockFileLines { file, line: Vec::new() }, parse, on_line)
}

/// Imports blocks that name their total difficulty. Nothing is imported behind a fault.
pub(crate) fn import_parsed<T: SourceItem>(
    importer: &Importer,
    items: impl Iterator<Item = T>,
    parse: impl Fn(T) -> Result<ParsedLine, LineFault> + Sync,
    mut on_line: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<u64, BlockFileError> {
    let mut count = 0;
    let prepare = |item: T| match parse(item).and_then(|parsed| prepare_line(importer, parsed)) {
        Ok((note, block)) => PreparedItem { note: Ok(note), block: Some(block) },
        Err(fault) => PreparedItem { note: Err(fault), block: None },
    };
    let report = |note: Result<LineNote, LineFault>, report| {
        let line = match note.and_then(|note| note.imported(count + 1, report)) {
            Ok(line) => line,
            Err(fault) => return ControlFlow::Break(Some(fault)),
        };
        count += 1;
        on_line(&line).map_break(|()| None)
    };
    let fed = feed(importer, BlockOrigin::File, items.map(Some), true, prepare, report);
    let fault = fed.unwrap_or_else(|error| Some(Some(ImportError::from(error).into())));
    fault.flatten().map_or(Ok(count), |fault| Err(BlockFileError { line: count + 1, fault }))
}

fn prepare_line(importer: &Importer, parsed: ParsedLine) -> Result<(LineNote, PreparedBlock), LineFault> {
    let steps = &importer.steps;
    let ParsedLine { block, hash, total_difficulty } = parsed;
    let note = LineNote::new(&block, hash, total_difficulty);
    let mut prepared = PreparedBlock::new(block);
    prepared.claimed_total_difficulty = Some(total_difficulty);
    // A file that was imported in part begins with many stored blocks: those are not worth the work.
    if !steps.archive.store.has_block(&hash).map_err(ImportError::from)? {
        prepared = prepared.with_matching_transactions(&steps.config.spec)?;
    }
    Ok((note, prepared))
}

/// Writes the blocks of the best chain from `from` to `to`, both included, as lines. Returns the number of lines.
pub(crate) fn export(
    archive: &Archive,
    from: u64,
    to: u64,
    file: &mut impl Write,
    mut on_block: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, ExportError> {
    let mut count = 0;
    for number in from..=to {
        let hash = archive.store.main_hash(number).map_err(ChainError::from)?;
        let hash = hash.ok_or(ChainError::MissingHeight { number })?;
        let stored = archive.store.block(&hash).map_err(ChainError::from)?;
        let stored = stored.ok_or(ChainError::MissingBlock { hash })?;
        let difficulty = signed_bytes(stored.total_difficulty);
        let (hash, difficulty, raw) = (hex::encode(hash), hex::encode(difficulty), hex::encode(&stored.raw));
        writeln!(file, "{number},{hash},{difficulty},{raw}")?;
        count += 1;
        if on_block(number).is_break() {
            break;
        }
    }
    file.flush()?;
    Ok(count)
}

impl LineNote {
    fn new(block: &Block, hash: B256, total_difficulty: U256) -> Self {
        let header = &block.header;
        Self {
            number: header.number,
            hash,
            parent: header.parent().unwrap_or_default(),
            state_root: B256::try_from(header.state_root.as_ref()).unwrap_or_default(),
            transactions: block.transactions.len(),
            gas_used: header.gas_used,
            total_difficulty,
        }
    }

    fn imported(self, line: u64, report: BlockReport) -> Result<ImportedLine, LineFault> {
        let Self { number, hash, parent, state_root, transactions, gas_used, total_difficulty: stated } = self;
        let outcome = match report {
            BlockReport::Done(result) => result?,
            BlockReport::WrongTotalDifficulty { actual } => return Err(LineFault::TotalDifficulty { stated, actual }),
            // Reported behind a failed block only, where the import has ended.
            BlockReport::Cancelled => ImportOutcome::NoParent,
        };
        let result = match outcome {
            ImportOutcome::ImportedBest => LineResult::Best,
            ImportOutcome::ImportedNotBest => LineResult::Side,
            ImportOutcome::Exists => LineResult::Known,
            ImportOutcome::NoParent => return Err(LineFault::NoParent { number, parent }),
            ImportOutcome::Invalid(reason) => return Err(LineFault::Invalid { number, reason: Box::new(reason) }),
        };
        Ok(ImportedLine { line, number, hash, state_root, transactions, gas_used, result })
    }
}

/// Error that ended an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The file could not be written.
    #[error("the file cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// Returns the bytes of a difficulty like the reference: with a leading zero if the top bit is set.
fn signed_bytes(number: U256) -> Vec<u8> {
    let mut bytes = number.to_be_bytes_trimmed_vec();
    if bytes.first().is_none_or(|first| *first >= 0x80) {
        bytes.insert(0, 0);
    }
    bytes
}

impl BlockFileLine {
    fn parse(line: &str) -> Result<Self, LineFault> {
        let fields = line.trim_end().split(',');
        // A line can be 64 MB of commas.
        let first: Vec<&str> = fields.clone().take(5).collect();
        let [number, hash, total_difficulty, raw] = first.as_slice() else {
            return Err(LineFault::Fields { count: fields.count() });
        };
        let field = |field, expected| LineFault::Field { field, expected };
        let number = number.parse().map_err(|_unreadable| field("number", "a decimal number"))?;
        let hash = hash.parse().map_err(|_unreadable| field("hash", "a hash of 32 bytes in hex"))?;
        let total_difficulty = U256::from_str_radix(total_difficulty, 16);
        let total_difficulty = total_difficulty.map_err(|_unreadable| field("total difficulty", "a hex number"))?;
        let raw = hex::decode(raw).map_err(|_unreadable| field("block", "hex"))?;
        Ok(Self { number, hash, total_difficulty, raw })
    }

    fn decode(self, spec: &ChainSpec) -> Result<ParsedLine, LineFault> {
        let Self { number, hash, total_difficulty, raw } = self;
        let block = Block::decode(&raw, spec).map_err(BlockDecodeError::from)?;
        if block.header.number != number {
            return Err(LineFault::Number { stated: number, actual: block.header.number });
        }
        if block.hash() != hash {
            return Err(LineFault::Hash { stated: hash, actual: block.hash() });
        }
        Ok(ParsedLine { block, hash, total_difficulty })
    }
}

/// Reads the lines of a file, of bounded length. Ends after a failure.
struct BlockFileLines<R> {
    file: R,
    /// Memory for the text of a line: the blocks under way take half as much as their lines.
    line: Vec<u8>,
}

impl<R: BufRead> Iterator for BlockFileLines<R> {
    type Item = Result<BlockFileLine, LineFault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line.clear();
        match (&mut self.file).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line) {
            Err(error) => Some(Err(error.into())),
            Ok(0) => None,
            Ok(length) if length as u64 == MAX_LINE_BYTES => Some(Err(LineFault::TooLong)),
            Ok(_) => {
                let line = str::from_utf8(&self.line).map_err(|_not_text| LineFault::Fields { count: 1 });
                Some(line.and_then(BlockFileLine::parse))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difficulties_are_written_as_signed_numbers() {
        assert_eq!(signed_bytes(U256::ZERO), [0]);
        assert_eq!(signed_bytes(U256::from(0x7f)), [0x7f]);
        assert_eq!(signed_bytes(U256::from(0x80)), [0, 0x80]);
        assert_eq!(signed_bytes(U256::from(0x0103)), [1, 3]);
    }

    #[test]
    fn malformed_lines_are_described() {
        let spec = ChainSpec::regtest();
        let fault = |line: &str| match BlockFileLine::parse(line).and_then(|line| line.decode(&spec)) {
            Err(fault) => fault.to_string(),
            Ok(_) => String::new(),
        };
        assert_eq!(fault("{"), "1 fields instead of number,hash,totalDifficulty,block");
        assert_eq!(fault(",,,,,"), "6 fields instead of number,hash,totalDifficulty,block");
        assert_eq!(fault("x,00,01,c0"), "the number is not a decimal number");
        assert_eq!(fault("1,00,01,c0"), "the hash is not a hash of 32 bytes in hex");
        let hash = "00".repeat(32);
        assert_eq!(fault(&format!("1,{hash},zz,c0")), "the total difficulty is not a hex number");
        assert_eq!(fault(&format!("1,{hash},01,c")), "the block is not hex");
        assert!(fault(&format!("1,{hash},01,c0")).starts_with("not a block"));
    }
}
