//! Reading direction of a connection: frames within their time limits and the budget of the peer.

use super::Peer;
use super::byte_source::ByteSource;
use super::frame_clock::FrameClock;
use crate::close_reason::CloseReason;
use crate::options::Limits;
use crate::traffic::NetworkTraffic;
use rhizome_wire::session::{DecodedFrame, Dialogue, FrameDecoder, Incoming};
use std::sync::Arc;
use std::time::Instant;

/// Bytes that a message counts for at least: short ones cost more than their bytes.
const LEAST_CHARGE: usize = 1 << 10;

/// Decoder of one connection with its socket.
pub(crate) struct FrameReader {
    source: ByteSource,
    decoder: FrameDecoder,
    dialogue: Dialogue,
    traffic: Arc<NetworkTraffic>,
    /// `None` between frames.
    clock: Option<FrameClock>,
}

impl FrameReader {
    pub(super) fn new(
        source: ByteSource,
        decoder: FrameDecoder,
        dialogue: Dialogue,
        traffic: Arc<NetworkTraffic>,
    ) -> FrameReader {
        FrameReader { source, decoder, dialogue, traffic, clock: None }
    }

    /// Accepts frames of any size from here on.
    pub(super) fn allow_large_frames(&mut self) {
        self.decoder.allow_large_frames();
    }

    /// Reads the next message before the peer has a budget.
    pub(super) async fn first(&mut self, limits: &Limits) -> Result<Incoming, CloseReason> {
        let frame = self.frame(limits, |_bytes| {}).await?;
        Ok(self.dialogue.receive(frame)?)
    }

    /// Reads the next message as soon as the budget of the peer allows it. Returns it with its length.
    pub(super) async fn next(&mut self, peer: &Peer, limits: &Limits) -> Result<(Incoming, usize), CloseReason> {
        let before = Instant::now();
        if peer.inbox.ready().await
            && let Some(clock) = &mut self.clock
        {
            clock.resume(before.elapsed(), Instant::now());
        }
        let frame = self.frame(limits, |bytes| peer.traffic.received_bytes(bytes)).await?;
        let length = frame.payload().len();
        peer.inbox.charge_bytes(length.max(LEAST_CHARGE));
        Ok((self.dialogue.receive(frame)?, length))
    }

    async fn frame(&mut self, limits: &Limits, mut count: impl FnMut(usize)) -> Result<DecodedFrame, CloseReason> {
        loop {
            let decoder = &mut self.decoder;
            if let Some(frame) = self.source.take(|input| decoder.decode(input))? {
                self.clock = None;
                self.traffic.received.count(frame.code, frame.payload());
                return Ok(frame);
            }
            let read = if self.decoder.is_inside_frame() {
                let clock = self.clock.get_or_insert_with(|| FrameClock::start(Instant::now()));
                let deadline = clock.deadline(limits);
                let read = tokio::time::timeout_at(deadline.into(), self.source.fill()).await;
                let bytes = read.unwrap_or(Ok(0))?;
                clock.excuse(deadline, Instant::now());
                clock.add(bytes);
                if !clock.is_fast(limits, Instant::now()) {
                    return Err(CloseReason::Slow);
                }
                bytes
            } else {
                self.source.fill().await?
            };
            count(read);
        }
    }
}
