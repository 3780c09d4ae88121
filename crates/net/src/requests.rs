//! Common parts of the tasks that ask peers: ranges of request ids, requests that wait for answers, the loop, and the threads for
//! decoding and verification.

pub(crate) mod ids;
mod task;
mod waiting;
mod work;

pub(crate) use task::{RequestTask, RequestTools, run};
pub(crate) use waiting::WaitingRequests;
pub(crate) use work::{BackgroundWork, WorkThreads};
