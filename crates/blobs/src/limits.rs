use std::time::Duration;

use object_store::{BackoffConfig, ClientOptions, RetryConfig};

/// Time-outs and retries of a location on the network.
#[derive(Debug, Clone, Copy)]
pub struct BlobLimits {
    /// Longest time for a connection.
    pub connect: Duration,
    /// Longest time for one request with its answer.
    pub request: Duration,
    /// Number of times that a failed request is sent again. 0 for none.
    pub retries: usize,
    /// Time for a call with all its retries. A call ends at the latest one request later.
    pub retry_time: Duration,
}

impl Default for BlobLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(60),
            retries: 4,
            retry_time: Duration::from_secs(120),
        }
    }
}

impl BlobLimits {
    pub(crate) fn client(&self) -> ClientOptions {
        ClientOptions::new().with_connect_timeout(self.connect).with_timeout(self.request).with_allow_http(true)
    }

    pub(crate) fn retry(&self) -> RetryConfig {
        RetryConfig {
            max_retries: self.retries,
            retry_timeout: self.retry_time,
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(5),
                base: 2.,
            },
        }
    }

    /// Returns the longest time of a call.
    pub(crate) fn call(&self) -> Duration {
        self.retry_time.saturating_add(self.request)
    }
}
