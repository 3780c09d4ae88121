//! Writes to folders on disk. object_store does not sync: after a loss of power a renamed file may be empty.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// End of the name of a file that is being replaced. object_store has the same form for its unfinished files, and lists neither.
const STAGED: &str = "#0";

/// Writes a whole file in place of an earlier one. After a crash or a loss of power the file is the earlier or the new one.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let staged = folder.join(format!("{name}{STAGED}"));
    let written = File::create(&staged).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&staged, folder.join(name)));
    if replaced.is_err() {
        // The first error counts.
        drop(fs::remove_file(&staged));
    }
    replaced.and_then(|()| sync(folder))
}

/// Waits until a file and its name are on disk.
pub(crate) fn sync_file(folder: &Path, name: &str) -> io::Result<()> {
    sync(&folder.join(name))?;
    sync(folder)
}

/// Removes files that killed writers left unfinished. `is_own` takes the name of the finished file.
pub(crate) fn remove_unfinished(folder: &Path, is_own: &dyn Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let unfinished = name.to_str().and_then(|name| name.split_once('#'));
        if unfinished
            .is_some_and(|(name, number)| is_own(name) && number.bytes().all(|character| character.is_ascii_digit()))
        {
            fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Folders cannot be opened as files.
#[cfg(not(unix))]
fn sync(path: &Path) -> io::Result<()> {
    if path.is_dir() { Ok(()) } else { fs::OpenOptions::new().write(true).open(path)?.sync_all() }
}
