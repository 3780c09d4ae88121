use std::ops::ControlFlow;
use std::thread;

use rhizome_chain::{Chain, ImportedLine, NumberedBlock};

use crate::download::Downloads;
use crate::error::ArchiveError;
use crate::index::{BLOCKS_PER_GROUP, PartKind};
use crate::open_archive::OpenArchive;

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedBlocks {
    /// Number of the first block that was read.
    pub first: u64,
    /// Number of blocks that are on disk now, those included that were there before.
    pub blocks: u64,
}

/// Imports the blocks above the head from archives of the network of a chain. All archives are read at once; the others
/// replace a failing or damaged archive. The importer checks each block as one from a peer, and the total difficulties.
/// `on_block` gets each result and may stop; `is_stopped` is asked while no block arrives. The archives cannot be read afterwards. After a stop or a kill the next import continues.
pub fn import(
    chain: &Chain,
    archives: &[OpenArchive],
    is_stopped: &dyn Fn() -> bool,
    mut on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<ImportedBlocks, ArchiveError> {
    let last = archives.iter().filter_map(|archive| archive.manifest().last()).max();
    let last = last.ok_or(ArchiveError::NoArchive)?;
    let genesis = chain.main_hash(0)?.unwrap_or_default();
    for archive in archives {
        archive.check_network(chain.spec().chain_id.into(), genesis)?;
    }
    let first = first_group(chain, archives)? * BLOCKS_PER_GROUP;
    if chain.head().number() >= last {
        return Ok(ImportedBlocks { first, blocks: 0 });
    }
    let downloads = Downloads::new(archives, first, last);
    let mut fault = None;
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
        let blocks = groups.flat_map(|group| {
            group.blocks.into_iter().zip(group.first..).map(|(block, number)| NumberedBlock {
                number,
                total_difficulty: block.total_difficulty,
                raw: block.raw(),
            })
        });
        chain.import_numbered(blocks, &mut on_block)
    });
    let blocks = imported.map_err(|source| ArchiveError::Import { number: first + source.line - 1, source })?;
    fault.map_or(Ok(ImportedBlocks { first, blocks }), Err)
}

struct StopAtEnd<'a, 'b>(&'a Downloads<'b>);

impl Drop for StopAtEnd<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Returns the highest group whose parent block is on the best chain: the group of the head, or a lower one if the head is on
/// another branch than the archive.
fn first_group(chain: &Chain, archives: &[OpenArchive]) -> Result<u64, ArchiveError> {
    let mut group = (chain.head().number() + 1) / BLOCKS_PER_GROUP;
    let mut step = 1;
    while group > 0 && !is_connected(chain, archives, group)? {
        group = group.saturating_sub(step);
        step *= 2;
    }
    Ok(group)
}

/// Whether the first block of a group has its parent on the best chain, as the first archive that answers has it.
fn is_connected(chain: &Chain, archives: &[OpenArchive], group: u64) -> Result<bool, ArchiveError> {
    let first = group * BLOCKS_PER_GROUP;
    for archive in archives {
        // The download reports a failing archive.
        let Ok(Some(read)) = archive.group(first, &[PartKind::Headers]) else { continue };
        let parent = read.blocks.first().and_then(|block| parent_of(&block.header));
        return Ok(parent.is_some() && parent == chain.main_hash(first - 1)?);
    }
    Ok(false)
}

/// Returns the first field of an encoded header.
fn parent_of(header: &[u8]) -> Option<rhizome_primitives::B256> {
    let header = rhizome_primitives::rlp::decode_list(header).ok()?;
    let parent = header.elements("header").ok()?.next()?.ok()?;
    parent.bytes().try_into().ok()
}
