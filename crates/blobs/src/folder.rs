//! Files of a folder on disk. Written files are synced: after a loss of power a renamed file could be empty otherwise.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Between the name of a file and the number of its unfinished versions.
const STAGED: char = '#';

/// Number of the unfinished version of a file that is written at once. Files in parts count from 1.
const WHOLE: u32 = 0;

/// A folder. All names are those of files directly in it.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

/// Identity of the content of a file. Two reads with the same identity are of the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    /// Length, in bytes.
    pub(crate) length: u64,
    /// Last change, in nanoseconds since 1970.
    modified: u128,
    /// Number of the file in its file system, which a replacement changes. 0 on Windows.
    number: u64,
}

impl Folder {
    /// Returns a folder. Fails if it is missing.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        match fs::metadata(&path)?.is_dir() {
            true => Ok(Self(path)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens a file. Fails for pipes and devices: their reads may never end.
    fn open_file(&self, name: &str) -> io::Result<File> {
        let path = self.path(name)?;
        match fs::metadata(&path)?.is_file() {
            true => File::open(path),
            false => Err(io::Error::other("not a regular file")),
        }
    }

    /// Reads at most `most` bytes from the start of a file.
    pub(crate) fn read_start(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a range, shorter at the end of the file, and returns the identity of the file.
    pub(crate) fn read_range(&self, name: &str, range: Range<u64>) -> io::Result<(FileIdentity, Vec<u8>)> {
        let mut file = self.open_file(name)?;
        let identity = FileIdentity::of(&file.metadata()?);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start))?;
        file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok((identity, bytes))
    }

    /// Lists the finished files with their lengths, at most `most + 1`.
    pub(crate) fn list(&self, most: usize) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let metadata = match fs::metadata(entry.path()) {
                Ok(metadata) => metadata,
                // Removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if metadata.is_file() && unfinished(&name).is_none() && files.len() <= most {
                files.push((name, metadata.len()));
            }
        }
        Ok(files)
    }

    /// Writes a whole file in place of an earlier one. After a crash or a loss of power the file is the earlier or the new one.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.staged(name, WHOLE)?;
        let mut staged = StagedFile::new(self, name, File::create(&path)?, path);
        staged.write(bytes)?;
        staged.finish()
    }

    /// Starts a file that is written in parts.
    pub(crate) fn stage(&self, name: &str) -> io::Result<StagedFile> {
        let mut number = WHOLE;
        loop {
            number += 1;
            let path = self.staged(name, number)?;
            match File::create_new(&path) {
                Ok(file) => return Ok(StagedFile::new(self, name, file, path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name)?)
    }

    /// Removes files that killed writers left unfinished. `is_own` takes the name of the finished file.
    pub(crate) fn remove_unfinished(&self, is_own: &dyn Fn(&str) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            if name.to_str().and_then(unfinished).is_some_and(is_own) {
                fs::remove_file(self.0.join(name))?;
            }
        }
        Ok(())
    }

    /// Returns the path of a file. A name that leads out of the folder belongs to no file.
    fn path(&self, name: &str) -> io::Result<PathBuf> {
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            (Some(Component::Normal(file)), None) if file == name => Ok(self.0.join(name)),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn staged(&self, name: &str, number: u32) -> io::Result<PathBuf> {
        self.path(name).map(|_finished| self.0.join(format!("{name}{STAGED}{number}")))
    }
}

impl FileIdentity {
    fn of(metadata: &fs::Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = 0;
        Self { length: metadata.len(), modified: modified.unwrap_or_default().as_nanos(), number }
    }
}

/// An unfinished file, removed when dropped. Readers see the earlier version until it is finished.
pub(crate) struct StagedFile {
    folder: Folder,
    name: String,
    /// The open file and its path, until it has its final name.
    staged: Option<(File, PathBuf)>,
}

impl StagedFile {
    fn new(folder: &Folder, name: &str, file: File, path: PathBuf) -> Self {
        Self { folder: folder.clone(), name: name.to_owned(), staged: Some((file, path)) }
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.staged.as_mut().map_or(Ok(()), |(file, _path)| file.write_all(bytes))
    }

    /// Puts the file in place of an earlier one. Both file and name are on disk afterwards.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some((file, path)) = &self.staged {
            file.sync_all()?;
            fs::rename(path, self.folder.path(&self.name)?)?;
        }
        self.staged = None;
        sync(&self.folder.0)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some((file, path)) = self.staged.take() {
            drop(file);
            // The error that ended the writer counts.
            drop(fs::remove_file(path));
        }
    }
}

/// Returns the name of the finished file if `name` is of an unfinished one.
fn unfinished(name: &str) -> Option<&str> {
    let (finished, number) = name.split_once(STAGED)?;
    number.bytes().all(|character| character.is_ascii_digit()).then_some(finished)
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Folders cannot be opened as files.
#[cfg(not(unix))]
fn sync(_folder: &Path) -> io::Result<()> {
    Ok(())
}
