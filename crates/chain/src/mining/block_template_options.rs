use rhizome_primitives::U256;

/// Settings of block templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTemplateOptions {
    /// Whether a change of the pool outdates the template. Otherwise the next refresh or head adds transactions.
    pub follows_pool: bool,
    /// Fees below this, in wei, are never notified.
    pub notified_fees: U256,
    /// Seconds between two submissions. 0: no limit.
    pub submission_interval: u64,
    /// Seconds after which a template is built again, to renew its time and its transactions.
    pub refresh_seconds: u64,
}

impl Default for BlockTemplateOptions {
    fn default() -> Self {
        Self { follows_pool: false, notified_fees: U256::ZERO, submission_interval: 0, refresh_seconds: 60 }
    }
}
