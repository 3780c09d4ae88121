//! Names of streams and subjects. All have the genesis hash, so chains that share a server do not mix.

use rhizome_primitives::{B256, hex};

/// Prefix of the names of all streams.
pub(crate) const STREAM_PREFIX: &str = "rhizome_";

/// Names of one chain.
#[derive(Debug, Clone)]
pub(crate) struct ChainNames {
    genesis: String,
}

impl ChainNames {
    pub(crate) fn new(genesis: &B256) -> Self {
        Self { genesis: hex::encode(genesis) }
    }

    /// Returns the stream of the block log.
    pub(crate) fn blocks(&self) -> String {
        format!("{STREAM_PREFIX}{}_blocks", self.genesis)
    }

    /// Returns the stream of transactions.
    pub(crate) fn transactions(&self) -> String {
        format!("{STREAM_PREFIX}{}_txs", self.genesis)
    }

    /// Returns the stream of changes.
    pub(crate) fn changes_stream(&self) -> String {
        format!("{STREAM_PREFIX}{}_changes", self.genesis)
    }

    /// Returns the subject of changes.
    pub(crate) fn changes(&self) -> String {
        format!("rhizome.{}.changes", self.genesis)
    }

    /// Returns the stream of the lease.
    pub(crate) fn lease_stream(&self) -> String {
        format!("{STREAM_PREFIX}{}_lease", self.genesis)
    }

    /// Returns the subject of the lease.
    pub(crate) fn lease(&self) -> String {
        format!("rhizome.{}.lease", self.genesis)
    }

    /// Returns the subject of a block.
    pub(crate) fn block(&self, hash: &B256) -> String {
        format!("rhizome.{}.block.{}", self.genesis, hex::encode(hash))
    }

    /// Returns the subjects of all blocks.
    pub(crate) fn all_blocks(&self) -> String {
        format!("rhizome.{}.block.*", self.genesis)
    }

    /// Returns the subject of a transaction.
    pub(crate) fn transaction(&self, hash: &B256) -> String {
        format!("rhizome.{}.tx.{}", self.genesis, hex::encode(hash))
    }

    /// Returns the subjects of all transactions.
    pub(crate) fn all_transactions(&self) -> String {
        format!("rhizome.{}.tx.*", self.genesis)
    }

    /// Returns the subject of the head of a node.
    pub(crate) fn head(&self, node: &str) -> String {
        format!("rhizome.{}.head.{node}", self.genesis)
    }

    /// Returns the subjects of the heads of all nodes.
    pub(crate) fn all_heads(&self) -> String {
        format!("rhizome.{}.head.*", self.genesis)
    }
}

/// Returns the hash at the end of a subject.
pub(crate) fn hash_of(subject: &str) -> Option<B256> {
    let digits = subject.rsplit('.').next().filter(|digits| digits.len() == 64)?;
    hex::decode(digits).ok().and_then(|bytes| B256::try_from(bytes.as_slice()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_read_back_from_a_subject() {
        let names = ChainNames::new(&B256::repeat_byte(1));
        let hash = B256::repeat_byte(0xab);
        assert_eq!(hash_of(&names.block(&hash)), Some(hash));
        assert_eq!(names.block(&hash), format!("rhizome.{}.block.{}", "01".repeat(32), "ab".repeat(32)));
        assert_eq!(hash_of("rhizome.01.block.ab"), None);
    }
}
