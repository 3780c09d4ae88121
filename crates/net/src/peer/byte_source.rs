//! Bytes from a socket in a buffer of fixed size.

use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;

const CAPACITY: usize = 16 * 1_024;

/// Reading half of a connection with the bytes that were read and not used.
pub(crate) struct ByteSource {
    socket: OwnedReadHalf,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl ByteSource {
    pub(crate) fn new(socket: OwnedReadHalf) -> ByteSource {
        ByteSource { socket, buffer: vec![0; CAPACITY].into(), start: 0, end: 0 }
    }

    /// Lets `step` take bytes from the front of the unused ones.
    pub(crate) fn take<T>(&mut self, step: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut unused = &self.buffer[self.start..self.end];
        let result = step(&mut unused);
        self.start = self.end - unused.len();
        result
    }

    /// Reads more bytes after all were used. Returns their number. Cancellation loses nothing.
    pub(crate) async fn fill(&mut self) -> std::io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let read = self.socket.read(&mut self.buffer[self.end..]).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(read)
    }
}
