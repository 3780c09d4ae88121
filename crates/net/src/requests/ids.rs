//! Ids of requests. The range of an id names the task that sent the request, so that its answer finds the way back.

/// First id of requests for a state.
pub(crate) const STATE: u64 = 1 << 48;
/// First id of requests for older blocks.
pub(crate) const OLDER_BLOCKS: u64 = 1 << 49;

/// Task that sends requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requester {
    /// Synchronization of headers and blocks.
    Sync,
    /// Download of a state.
    Snap,
    /// Download of older blocks.
    OlderBlocks,
}

/// Returns the task that has sent a request, or would have.
pub(crate) fn requester(id: u64) -> Requester {
    match id {
        OLDER_BLOCKS.. => Requester::OlderBlocks,
        STATE.. => Requester::Snap,
        _ => Requester::Sync,
    }
}
