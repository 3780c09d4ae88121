//! Frames to a socket.

use crate::close_reason::CloseReason;
use crate::traffic::NetworkTraffic;
use rhizome_wire::session::{FrameEncoder, FrameError};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

/// Capacity of the buffer that is kept between messages.
const KEPT_CAPACITY: usize = 64 * 1_024;

/// Writing half of a connection.
pub(crate) struct FrameWriter {
    socket: OwnedWriteHalf,
    encoder: FrameEncoder,
    traffic: Arc<NetworkTraffic>,
    output: Vec<u8>,
    written: usize,
}

impl FrameWriter {
    pub(crate) fn new(socket: OwnedWriteHalf, encoder: FrameEncoder, traffic: Arc<NetworkTraffic>) -> FrameWriter {
        FrameWriter { socket, encoder, traffic, output: Vec::new(), written: 0 }
    }

    /// Appends a message to the bytes to write.
    pub(crate) fn put(&mut self, code: u8, payload: &[u8]) -> Result<(), FrameError> {
        self.encoder.encode(code, payload, &mut self.output)?;
        self.traffic.sent.count(code, payload);
        Ok(())
    }

    /// Returns the number of bytes to write.
    pub(crate) fn unwritten(&self) -> usize {
        self.output.len() - self.written
    }

    /// Writes all bytes. A call after a cancelled one continues.
    pub(crate) async fn flush(&mut self) -> std::io::Result<()> {
        while self.written < self.output.len() {
            let written = self.socket.write(&self.output[self.written..]).await?;
            if written == 0 {
                return Err(std::io::ErrorKind::WriteZero.into());
            }
            self.written += written;
        }
        self.output.clear();
        self.output.shrink_to(KEPT_CAPACITY);
        self.written = 0;
        Ok(())
    }

    /// Sends the Disconnect of a reason, if it has one, and closes. Takes at most `time`.
    pub(crate) async fn close(mut self, reason: &CloseReason, time: Duration) {
        let Some(code) = reason.disconnect_reason() else { return };
        if self.put(rhizome_wire::session::codes::DISCONNECT, &code.encode()).is_ok() {
            let farewell = async {
                self.flush().await?;
                self.socket.shutdown().await
            };
            let _result_is_irrelevant = tokio::time::timeout(time, farewell).await;
        }
    }
}
