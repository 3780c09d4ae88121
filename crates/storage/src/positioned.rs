//! Reads and writes at a given offset of a file, independent of its cursor.

use std::fs::File;
use std::io;

#[cfg(unix)]
pub(crate) use std::os::unix::fs::FileExt as PositionedFile;

#[cfg(windows)]
pub(crate) use windows::PositionedFile;

/// Announces to the system that reads of a file do not follow each other: it reads no pages ahead, which would push others out of memory.
pub(crate) fn expect_random_reads(file: &File) {
    // Without it reads are only slower.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Reads a number of bytes at an offset; fewer at the end of the file.
pub(crate) fn read_up_to(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        match read_more(file, offset + bytes.len() as u64, &mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Appends bytes from an offset of a file, up to the capacity. Returns their number. The standard library has no read into memory that
/// is not set to zero before.
#[cfg(target_os = "linux")]
fn read_more(file: &File, offset: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::pread(file, rustix::buffer::spare_capacity(bytes), offset)?)
}

#[cfg(not(target_os = "linux"))]
fn read_more(file: &File, offset: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let filled = bytes.len();
    bytes.resize(bytes.capacity(), 0);
    let read = file.read_at(bytes.get_mut(filled..).unwrap_or_default(), offset);
    bytes.truncate(filled + read.as_ref().copied().unwrap_or_default());
    read
}

/// Reads into the buffer if the system has the bytes in memory. Returns their number; `None` if it has to wait for the disk, or has no
/// such read.
#[cfg(target_os = "linux")]
pub(crate) fn read_from_memory(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
    use rustix::io::{Errno, ReadWriteFlags};
    match rustix::io::preadv2(file, &mut [io::IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::AGAIN | Errno::INTR | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads nothing: the system has no such call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read_from_memory(_file: &File, _buffer: &mut [u8], _offset: u64) -> io::Result<Option<usize>> {
    Ok(None)
}

#[cfg(windows)]
mod windows {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt;

    /// Equivalent of the trait in the standard library for Unix. The calls move the cursor, which no caller relies on.
    pub(crate) trait PositionedFile {
        /// Fills the buffer, or fails with `UnexpectedEof`.
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
        /// Reads into the buffer and returns the number of bytes, 0 at the end of the file.
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
        /// Writes the whole buffer.
        fn write_all_at(&self, buffer: &[u8], offset: u64) -> io::Result<()>;
    }

    impl PositionedFile for File {
        fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
            while !buffer.is_empty() {
                let count = self.seek_read(buffer, offset)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                buffer = buffer.split_at_mut(count).1;
                offset += count as u64;
            }
            Ok(())
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            self.seek_read(buffer, offset)
        }

        fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
            while !buffer.is_empty() {
                let count = self.seek_write(buffer, offset)?;
                if count == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                buffer = buffer.split_at(count).1;
                offset += count as u64;
            }
            Ok(())
        }
    }
}
