//! Block headers of all versions (docs/spec/blocks.md, 4). `decode` reads the full form, `encode` writes all forms and
//! the extension of versions 1 and 2, `merged_mining` has the hash that Bitcoin miners commit to.

mod compressed;
mod decode;
mod encode;
mod merged_mining;

pub use merged_mining::{ForkDetectionData, MERGED_MINING_TAG};

use crate::chain_spec::ChainSpec;
use crate::error::{DecodeError, ExtensionError};
use crate::rlp::Item;
use crate::rules::{Rule, Rules};
use crate::{EMPTY_ROOT, EMPTY_UNCLES, rlp};
use alloy_primitives::{Address, B256, Bytes, I256, U256, keccak256};
use decode::ReceivedForm;
use std::sync::OnceLock;

/// A block header. Byte fields have the received bytes; an empty field is null in the reference. Lengths are not
/// checked unless a field says so. All fields must be set before the first call of `hash`, which is cached (a clone
/// has an empty cache).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Hash of the parent, 32 bytes in every valid block.
    pub parent_hash: Bytes,
    /// Hash of the uncle list.
    pub uncles_hash: Bytes,
    /// Beneficiary of the fees; `None` is the null address.
    pub coinbase: Option<Address>,
    /// State root after the block; before RSKIP-126 in the old format.
    pub state_root: Bytes,
    /// Root of the transactions.
    pub transactions_root: Bytes,
    /// Root of the receipts.
    pub receipts_root: Bytes,
    /// Bloom of the logs, 256 bytes in every valid block.
    pub logs_bloom: Bytes,
    /// Difficulty; `None` counts as zero but is encoded differently.
    pub difficulty: Option<U256>,
    /// Height, below 2^63.
    pub number: u64,
    /// Gas limit as received: mined headers have leading zeros, which are part of the hash.
    pub gas_limit: Bytes,
    /// Gas used by the transactions, below 2^63.
    pub gas_used: u64,
    /// Timestamp in seconds, below 2^63.
    pub timestamp: u64,
    /// Extra data.
    pub extra_data: Bytes,
    /// Fees in wei paid by the transactions of this block. An uncle can claim more than 256 bits, which saturate.
    pub paid_fees: U256,
    /// Wei for each unit of gas; can be negative in an unchecked header.
    pub minimum_gas_price: Option<I256>,
    /// Number of uncles as stated by the header, below 2^31.
    pub uncle_count: u32,
    /// Present from RSKIP-UMM on, usually empty.
    pub umm_root: Option<Bytes>,
    /// Header version 0, 1 or 2, taken from the data, not from the height (RSKIP-351, RSKIP-535).
    pub version: u8,
    /// Ends of the parallel sublists (RSKIP-144).
    pub edges: Option<Vec<i16>>,
    /// Opaque bytes of the Union Bridge (RSKIP-535).
    pub base_event: Option<Bytes>,
    /// The 80-byte Bitcoin header with the proof of work.
    pub bitcoin_header: Option<Bytes>,
    /// Merkle path from the Bitcoin coinbase to the root.
    pub merkle_proof: Option<Bytes>,
    /// The Bitcoin coinbase, whose first part is compressed into a SHA-256 midstate.
    pub bitcoin_coinbase: Option<Bytes>,
    rules: Rules,
    expects_fork_data: bool,
    /// Difficulty of a genesis block, which is encoded with the bytes of the specification.
    genesis_difficulty: Option<Bytes>,
    /// Paid fees of more than 256 bits.
    oversized_paid_fees: Option<Bytes>,
    /// `[version, extension hash]` of a header that was received in compressed form, until its extension is attached.
    received_extension_data: Option<Bytes>,
    hash: HashCache,
}

impl Header {
    /// Creates an empty header of this height: version, optional elements and flags are set, everything else must be
    /// filled in.
    pub fn new(number: u64, spec: &ChainSpec) -> Header {
        let rules = spec.rules(number);
        let is_later = |rule| number > 0 && rules.is_active(rule);
        let version = match (is_later(Rule::Rskip351), is_later(Rule::Rskip535)) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        Header {
            parent_hash: Bytes::from_static(&[0; 32]),
            uncles_hash: EMPTY_UNCLES.into(),
            coinbase: Some(Address::ZERO),
            state_root: EMPTY_ROOT.into(),
            transactions_root: EMPTY_ROOT.into(),
            receipts_root: EMPTY_ROOT.into(),
            logs_bloom: Bytes::from_static(&[0; 256]),
            difficulty: Some(U256::ZERO),
            number,
            gas_limit: Bytes::new(),
            gas_used: 0,
            timestamp: 0,
            extra_data: Bytes::new(),
            paid_fees: U256::ZERO,
            minimum_gas_price: Some(I256::ZERO),
            uncle_count: 0,
            umm_root: is_later(Rule::RskipUmm).then(Bytes::new),
            version,
            edges: (version > 0 && is_later(Rule::Rskip144)).then(Vec::new),
            base_event: (version == 2).then(Bytes::new),
            bitcoin_header: None,
            merkle_proof: None,
            bitcoin_coinbase: None,
            rules,
            expects_fork_data: expects_fork_data(number, rules, spec),
            genesis_difficulty: None,
            oversized_paid_fees: None,
            received_extension_data: None,
            hash: HashCache::default(),
        }
    }

    /// Creates the header of block 0. `state_root` is the root of the genesis state in the current format; the
    /// specification can override it.
    pub fn genesis(spec: &ChainSpec, state_root: B256) -> Header {
        let genesis = &spec.genesis;
        let gas_limit = genesis.gas_limit.to_be_bytes();
        Header {
            parent_hash: genesis.parent_hash.into(),
            coinbase: Some(genesis.coinbase),
            state_root: genesis.state_root.unwrap_or(state_root).into(),
            difficulty: rlp::read_difficulty(&genesis.difficulty, "difficulty").ok(),
            genesis_difficulty: Some(genesis.difficulty.clone()),
            oversized_paid_fees: None,
            gas_limit: Bytes::copy_from_slice(genesis_gas_limit(&gas_limit)),
            timestamp: genesis.timestamp,
            extra_data: genesis.extra_data.clone(),
            minimum_gas_price: genesis.minimum_gas_price,
            bitcoin_header: Some(genesis.bitcoin_header.clone()),
            merkle_proof: Some(genesis.merkle_proof.clone()),
            bitcoin_coinbase: Some(genesis.bitcoin_coinbase.clone()),
            ..Header::new(0, spec)
        }
    }

    /// Decodes exactly one header in full form.
    pub fn decode(raw: &[u8], spec: &ChainSpec) -> Result<Header, DecodeError> {
        Header::from_item(&rlp::decode_list(raw)?, spec)
    }

    /// Decodes a header in full form; the item must be a list.
    pub fn from_item(item: &Item<'_>, spec: &ChainSpec) -> Result<Header, DecodeError> {
        decode::decode(item, spec, ReceivedForm::Full)
    }

    /// Decodes a header in compressed form; the item must be a list. Hash and proof of work of the result are final. For
    /// versions 1 and 2 the bloom, the edges and the base event are missing until [`Header::attach_extension`].
    pub fn from_compressed_item(item: &Item<'_>, spec: &ChainSpec) -> Result<Header, DecodeError> {
        decode::decode(item, spec, ReceivedForm::Compressed)
    }

    /// Returns true if the header was received in compressed form and its extension is not attached.
    pub fn lacks_extension(&self) -> bool {
        self.received_extension_data.is_some()
    }

    /// Adds the fields of an extension in wire form, `[version, content]`, as received with the body. `None`: the body has
    /// none. The extension must have the version and the hash that the header states, otherwise the header is unchanged.
    pub fn attach_extension(&mut self, extension: Option<&Item<'_>>) -> Result<(), ExtensionError> {
        compressed::attach_extension(self, extension)
    }

    /// Returns the block hash.
    pub fn hash(&self) -> B256 {
        *self.hash.0.get_or_init(|| keccak256(self.encode_for_hash()))
    }

    /// Whether the full form can be read back, with the same hash. Headers whose version does not belong to their height cannot.
    pub fn survives_encoding(&self, spec: &ChainSpec) -> bool {
        Header::decode(&self.encode(), spec).is_ok_and(|decoded| decoded.hash() == self.hash())
    }

    /// Clears the cached hash. Required after a change of a field.
    pub fn forget_hash(&mut self) {
        self.hash = HashCache::default();
    }

    /// Returns the rules that are active at the height of the header.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the hash of the parent; `None` if it has the wrong length.
    pub fn parent(&self) -> Option<B256> {
        B256::try_from(self.parent_hash.as_ref()).ok()
    }

    /// Returns the gas limit; values of more than 32 bytes saturate.
    pub fn gas_limit_value(&self) -> U256 {
        rlp::saturating_u256(&self.gas_limit)
    }

    /// Returns the minimum gas price in wei; 0 if absent or negative.
    pub fn min_gas_price(&self) -> U256 {
        self.minimum_gas_price.filter(|price| !price.is_negative()).map_or(U256::ZERO, I256::into_raw)
    }

    /// Returns the difficulty; 0 if absent.
    pub fn difficulty_value(&self) -> U256 {
        self.difficulty.unwrap_or_default()
    }

    /// Returns the coinbase; zeros for the null address.
    pub fn coinbase_address(&self) -> Address {
        self.coinbase.unwrap_or_default()
    }

    /// Returns true if one of the three mining elements is not empty.
    pub fn has_mining_elements(&self) -> bool {
        [&self.bitcoin_header, &self.merkle_proof, &self.bitcoin_coinbase]
            .into_iter()
            .any(|element| !bytes_of(element).is_empty())
    }
}

/// Returns the bytes of an optional element; an absent element is encoded like an empty one.
fn bytes_of(element: &Option<Bytes>) -> &[u8] {
    element.as_ref().map_or(&[], |bytes| bytes.as_ref())
}

/// Encodes the gas limit of a genesis block: without leading zeros, zero as one zero byte.
fn genesis_gas_limit(bytes: &[u8]) -> &[u8] {
    match rlp::strip_zeros(bytes) {
        [] => &[0],
        digits => digits,
    }
}

/// Returns true from the height on where a block has enough ancestors for fork detection data (RSKIP-110).
fn expects_fork_data(number: u64, rules: Rules, spec: &ChainSpec) -> bool {
    number > 0 && rules.is_active(Rule::Rskip110) && number >= spec.constants.fork_detection_blocks
}

/// Lazily computed hash. Clones start empty, because a clone is usually about to be changed.
#[derive(Debug, Default)]
struct HashCache(OnceLock<B256>);

impl Clone for HashCache {
    fn clone(&self) -> Self {
        HashCache::default()
    }
}

impl PartialEq for HashCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for HashCache {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_headers_have_the_version_of_their_height() {
        let spec = ChainSpec::testnet();
        assert_eq!(Header::new(7_139_599, &spec).version, 0);
        let first = Header::new(7_139_600, &spec);
        assert_eq!((first.version, first.edges, first.base_event), (1, Some(vec![]), None));
        let second = Header::new(7_604_200, &spec);
        assert_eq!((second.version, &second.base_event), (2, &Some(Bytes::new())));
        let encoded = second.encode();
        assert_eq!(Header::decode(&encoded, &spec).unwrap().encode(), encoded);
        assert_eq!(Header::new(0, &ChainSpec::regtest()).umm_root, None);
    }

    #[test]
    fn paid_fees_above_256_bits_saturate_and_keep_their_encoding() {
        let spec = ChainSpec::regtest();
        let mut header = Header::new(5, &spec);
        header.paid_fees = U256::MAX;
        let (largest, encoded) = (header.hash(), header.encode());
        header.oversized_paid_fees = Some(Bytes::from_static(&[0xff; 33]));
        header.forget_hash();
        let decoded = Header::decode(&header.encode(), &spec).unwrap();
        assert_eq!((decoded.paid_fees, decoded.hash()), (U256::MAX, header.hash()));
        assert_eq!(decoded.encode(), header.encode());
        assert_ne!(decoded.hash(), largest);
        assert_eq!(Header::decode(&encoded, &spec).unwrap().oversized_paid_fees, None);
    }

    #[test]
    fn clones_do_not_inherit_the_hash() {
        let spec = ChainSpec::regtest();
        let header = Header::new(5, &spec);
        let mut changed = header.clone();
        assert_eq!(header.hash(), changed.hash());
        changed.timestamp = 7;
        assert_eq!(header.hash(), changed.hash(), "remembered");
        changed.forget_hash();
        assert_ne!(header.hash(), changed.hash());
    }
}
