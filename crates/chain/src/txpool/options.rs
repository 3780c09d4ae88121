/// Settings of a pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// Blocks after which a transaction is dropped.
    pub outdated_blocks: u64,
    /// Seconds after which a transaction is dropped. `None`: never.
    pub outdated_seconds: Option<u64>,
    /// Whether transactions of accounts that send too much are rejected.
    pub has_rate_limiter: bool,
    /// Maximum number of transactions.
    pub max_transactions: usize,
    /// Maximum size of all transactions, in bytes.
    pub max_bytes: usize,
    /// Whether, on development networks, a transaction with too much gas for the next block is rejected. The reference compares
    /// with the best block only, so some of its transactions are never mined.
    pub fits_next_block: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            outdated_blocks: 10,
            outdated_seconds: Some(650),
            has_rate_limiter: true,
            max_transactions: 50_000,
            max_bytes: 128 << 20,
            fits_next_block: true,
        }
    }
}
