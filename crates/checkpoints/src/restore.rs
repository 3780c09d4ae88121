use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rhizome_chain::{Chain, ChainConfig, ChainError, DataDir, StateHistory};
use rhizome_primitives::B256;
use rhizome_storage::RestoreFolder;
use rhizome_trie::MemoryNodes;

use crate::create::read_range;
use crate::error::CheckpointError;
use crate::manifest::CheckpointFile;
use crate::open_checkpoint::OpenCheckpoint;
use crate::piece::{FilePiece, piece_hash, pieces};
use crate::transfer::{PieceBytes, Transferred, transfer};

type OnTransfer<'a> = &'a (dyn Fn(Transferred) -> ControlFlow<()> + Sync);

/// Makes a checkpoint the database of a data directory that has none. `config` has the settings of its node. A run that was stopped
/// continues; until the end no node can open the directory. Returns the bytes that were transferred.
pub fn restore_new(
    checkpoint: &OpenCheckpoint,
    dir: &Path,
    config: &ChainConfig,
    report: OnTransfer<'_>,
) -> Result<Transferred, CheckpointError> {
    check_settings(checkpoint, config)?;
    let folder = RestoreFolder::of_new(dir)?;
    let transferred = fill(checkpoint, &folder, config, report)?;
    folder.take_over()?;
    Ok(transferred)
}

/// Downloads a checkpoint beside the database that this process has open in `dir`. It takes the place of the database when the chain
/// adopts it, or at the next start. Returns the bytes that were transferred.
pub fn restore_beside(
    checkpoint: &OpenCheckpoint,
    dir: &Path,
    config: &ChainConfig,
    report: OnTransfer<'_>,
) -> Result<Transferred, CheckpointError> {
    check_settings(checkpoint, config)?;
    fill(checkpoint, &RestoreFolder::of_open(dir)?, config, report)
}

/// Fails unless a node with these settings can open the database. Reads nothing.
fn check_settings(checkpoint: &OpenCheckpoint, config: &ChainConfig) -> Result<(), CheckpointError> {
    let manifest = checkpoint.manifest();
    let (genesis, _trie) =
        rhizome_trie::genesis(&config.spec, Arc::new(MemoryNodes::default())).map_err(ChainError::from)?;
    if (manifest.chain_id, manifest.genesis) != (config.spec.chain_id, genesis.hash()) {
        let (chain_id, genesis) = (manifest.chain_id, manifest.genesis);
        return Err(CheckpointError::Network { file: checkpoint.address(), chain_id, genesis });
    }
    let (found, expected) = (manifest.versions(), config.proven_blocks.node_versions());
    if found != expected {
        return Err(CheckpointError::Proofs { file: checkpoint.address(), found, expected });
    }
    Ok(())
}

fn fill(
    checkpoint: &OpenCheckpoint,
    folder: &RestoreFolder,
    config: &ChainConfig,
    report: OnTransfer<'_>,
) -> Result<Transferred, CheckpointError> {
    let target = folder.unverified();
    let files = &checkpoint.manifest().files;
    prepare(&target, files)?;
    let all: Vec<FilePiece<'_>> = files.iter().flat_map(pieces).collect();
    let transferred = transfer(&all, checkpoint.manifest().bytes(), |piece| fetch(checkpoint, &target, piece), report)?;
    sync(&target, files)?;
    check_head(checkpoint, folder.verified()?, config)?;
    folder.complete()?;
    Ok(transferred)
}

/// Removes files of another checkpoint, and creates those of this one with their length.
fn prepare(target: &Path, files: &[CheckpointFile]) -> Result<(), CheckpointError> {
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut folders = vec![(target.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let failed = |error| CheckpointError::file(&folder, error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if !names.contains(name.as_str()) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
    }
    for file in files {
        let path = target.join(&file.name);
        let create = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            File::options().create(true).truncate(false).write(true).open(&path)?.set_len(file.bytes)
        };
        create().map_err(|error| CheckpointError::file(&path, error))?;
    }
    Ok(())
}

/// Puts a piece into its file, unless an earlier run did.
fn fetch(checkpoint: &OpenCheckpoint, target: &Path, piece: &FilePiece<'_>) -> Result<PieceBytes, CheckpointError> {
    let path = target.join(&piece.file.name);
    let length = piece.length;
    if piece_hash(&read_range(&path, piece.offset, length)?) == piece.hash {
        return Ok(PieceBytes { length, moved: 0 });
    }
    let bytes = checkpoint.read(piece)?;
    let write = || {
        let mut file = File::options().write(true).open(&path)?;
        file.seek(SeekFrom::Start(piece.offset))?;
        file.write_all(&bytes)
    };
    write().map_err(|error| CheckpointError::file(&path, error))?;
    Ok(PieceBytes { length, moved: length })
}

/// Waits until all files and their names are on the disk.
fn sync(target: &Path, files: &[CheckpointFile]) -> Result<(), CheckpointError> {
    let mut folders = BTreeSet::from([target.to_path_buf()]);
    for file in files {
        let path = target.join(&file.name);
        folders.extend(path.parent().map(Path::to_path_buf));
        let synced = File::options().write(true).open(&path).and_then(|file| file.sync_all());
        synced.map_err(|error| CheckpointError::file(&path, error))?;
    }
    // Windows cannot open folders, and journals names itself.
    for folder in folders.iter().filter(|_| cfg!(unix)) {
        let synced: io::Result<()> = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| CheckpointError::file(folder, error))?;
    }
    Ok(())
}

/// Opens a restored database for reading and compares its head, and the root of its trie, with the manifest.
fn check_head(checkpoint: &OpenCheckpoint, dir: &Path, config: &ChainConfig) -> Result<(), CheckpointError> {
    let manifest = checkpoint.manifest();
    let other = |what| CheckpointError::Head { file: checkpoint.address(), what };
    let mut settings = ChainConfig::new(Arc::clone(&config.spec), DataDir::ReadOnly(dir.to_path_buf()));
    settings.proven_blocks = config.proven_blocks;
    settings.history = StateHistory::Archive;
    let chain = Chain::open(settings)?;
    let record = Arc::clone(&chain.head().record);
    if (record.number(), record.hash) != (manifest.number, manifest.hash) {
        return Err(other("head"));
    }
    let trie = chain.state_trie(&record)?;
    if record.state_root != manifest.state_root || trie.root_hash() != record.state_root {
        return Err(other("state root"));
    }
    // Reads the root node, which is compared with the root.
    trie.get(B256::ZERO.as_slice()).map_err(ChainError::from)?;
    Ok(())
}
