use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::thread;

use rhizome_chain::{Chain, ImportedLine, NumberedBlock};
use rhizome_primitives::{B256, rlp};

use crate::download::Downloads;
use crate::error::ArchiveError;
use crate::index::{BLOCKS_PER_GROUP, PartKind};
use crate::open_archive::OpenArchive;

/// Result of an import.
#[derive(Debug, Default)]
pub struct ImportedBlocks {
    /// Number of the first block that was read.
    pub first: u64,
    /// Number of blocks that are on disk now, those included that were there before.
    pub blocks: u64,
    /// Failures of archives that another archive replaced.
    pub refused: Vec<ArchiveError>,
}

/// Imports the blocks above the head from archives of the network of a chain. The importer checks each block as one from a peer,
/// and its total difficulty. `on_block` gets each result and may stop; `is_stopped` is asked while no block arrives. After a stop
/// or a kill the next import continues.
///
/// All archives are read at once; the others replace an archive that fails or is damaged, up to where they end. If a block is
/// refused, each archive is read alone, the heaviest first: their branches may differ, and only one of them may have the invalid
/// block.
pub fn import(
    chain: &Chain,
    archives: &[OpenArchive],
    is_stopped: &dyn Fn() -> bool,
    mut on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<ImportedBlocks, ArchiveError> {
    let genesis = chain.main_hash(0)?.unwrap_or_default();
    for archive in archives {
        archive.check_network(chain.spec().chain_id.into(), genesis)?;
    }
    let (mut first, mut blocks, mut is_ended) = (None, 0, false);
    let mut import_all = |archives: &[&OpenArchive]| {
        let imported = import_together(chain, archives, is_stopped, &mut |line| {
            first = Some(first.map_or(line.number, |first: u64| first.min(line.number)));
            blocks += 1;
            let flow = on_block(line);
            is_ended |= flow.is_break();
            flow
        });
        let done = ImportedBlocks { first: first.unwrap_or_default(), blocks, refused: Vec::new() };
        (imported, done, is_ended || is_stopped())
    };
    let mut heaviest_first: Vec<&OpenArchive> = archives.iter().collect();
    heaviest_first.sort_by_key(|archive| Reverse(archive.manifest().total_difficulty()));
    let mut readable = heaviest_first.clone();
    let mut refused = Vec::new();
    let fault = loop {
        match import_all(&readable) {
            (Ok(replaced), done, _) => {
                refused.extend(replaced);
                return Ok(ImportedBlocks { refused, ..done });
            }
            (Err(fault), ..) if fault.is_refused_block() && archives.len() > 1 => break fault,
            (Err(ArchiveError::Unavailable { first, last, faults }), _, is_ended) => {
                refused.extend(faults);
                // No archive with these blocks can be read, but others end below.
                readable.retain(|archive| archive.manifest().last() < Some(last));
                if readable.is_empty() || is_ended {
                    return Err(ArchiveError::Unavailable { first, last, faults: refused });
                }
            }
            (Err(error), ..) => return Err(error),
        }
    };
    let mut imported = None;
    for archive in heaviest_first {
        let (alone, done, is_ended) = import_all(&[archive]);
        match alone {
            Ok(replaced) => {
                refused.extend(replaced);
                imported = Some(done);
            }
            Err(error) if error.is_of_archive() => refused.push(error),
            Err(error) => return Err(error),
        }
        if is_ended {
            break;
        }
    }
    imported.map(|done| ImportedBlocks { refused, ..done }).ok_or(fault)
}

/// Imports from archives of one branch, all at once. Returns the failures of archives that another archive replaced.
fn import_together(
    chain: &Chain,
    archives: &[&OpenArchive],
    is_stopped: &dyn Fn() -> bool,
    on_block: &mut dyn FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<Vec<ArchiveError>, ArchiveError> {
    let first = archives.first().ok_or(ArchiveError::NoArchive)?;
    let last = archives.iter().filter_map(|archive| archive.manifest().last()).max();
    let last = last.ok_or_else(|| ArchiveError::NoBlocks { location: first.name().to_owned() })?;
    if chain.head().number() >= last {
        return Ok(Vec::new());
    }
    let first = first_group(chain, archives)? * BLOCKS_PER_GROUP;
    let downloads = Downloads::new(archives, first, last);
    let mut fault = None;
    // File of each group that was read.
    let mut files = Vec::new();
    let imported = thread::scope(|scope| {
        downloads.start(scope);
        // A panic of the import must end the threads, too.
        let _stop = StopAtEnd(&downloads);
        let groups = std::iter::from_fn(|| match downloads.next(is_stopped)? {
            Ok(group) => Some(group),
            Err(error) => {
                fault = Some(error);
                None
            }
        });
        let groups = groups.inspect(|group| files.push(group.file.clone()));
        let blocks = groups.flat_map(|group| {
            group.blocks.into_iter().zip(group.first..).map(|(block, number)| NumberedBlock {
                number,
                total_difficulty: block.total_difficulty,
                raw: block.raw(),
            })
        });
        chain.import_numbered(blocks, on_block)
    });
    archives.iter().for_each(|archive| archive.resume());
    imported.map_err(|source| {
        let position = source.line.saturating_sub(1);
        let file = usize::try_from(position / BLOCKS_PER_GROUP).ok().and_then(|group| files.get(group));
        ArchiveError::Import { file: file.cloned().unwrap_or_default(), number: first + position, source }
    })?;
    let mut refused = downloads.into_faults();
    if let Some(ArchiveError::Unavailable { faults, .. }) = &mut fault {
        faults.append(&mut refused);
    }
    fault.map_or(Ok(refused), Err)
}

struct StopAtEnd<'a, 'b>(&'a Downloads<'b>);

impl Drop for StopAtEnd<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Returns the highest group whose parent block is on the best chain: the group of the head, or a lower one if the head is on
/// another branch than the archive.
fn first_group(chain: &Chain, archives: &[&OpenArchive]) -> Result<u64, ArchiveError> {
    let mut group = (chain.head().number() + 1) / BLOCKS_PER_GROUP;
    let mut step = 1;
    while group > 0 && !is_connected(chain, archives, group)? {
        group = group.saturating_sub(step);
        step *= 2;
    }
    Ok(group)
}

/// Whether the first block of a group has its parent on the best chain, as the first archive that answers has it.
fn is_connected(chain: &Chain, archives: &[&OpenArchive], group: u64) -> Result<bool, ArchiveError> {
    let first = group * BLOCKS_PER_GROUP;
    let mut faults = Vec::new();
    for archive in archives {
        match archive.group(first, &[PartKind::Headers]) {
            Ok(Some(read)) => {
                let parent = read.blocks.first().and_then(|block| parent_of(&block.header));
                return Ok(parent.is_some() && parent == chain.main_hash(first - 1)?);
            }
            Ok(None) => {}
            Err(error) => faults.push(error),
        }
    }
    if faults.is_empty() { Ok(false) } else { Err(ArchiveError::Unavailable { first, last: first, faults }) }
}

/// Returns the first field of an encoded header.
fn parent_of(header: &[u8]) -> Option<B256> {
    let header = rlp::decode_list(header).ok()?;
    let parent = header.elements("header").ok()?.next()?.ok()?;
    parent.bytes().try_into().ok()
}
