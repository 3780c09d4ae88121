//! Headers from block objects of the RPC interface. A header is accepted if its fields have the hash that the object states.
//!
//! Not covered by the hash (RSKIP-92): the coinbase of the Bitcoin block and its Merkle proof.

use rhizome_primitives::{B256, Bytes, ChainSpec, EMPTY_ROOT, Header, I256, Transaction, U256};
use rhizome_trie::list_root;
use serde::Deserialize;

use crate::call::RemoteCall;
use crate::error::ForkError;

/// Uncles that the header of an uncle can count. Its object does not list them.
const MAX_UNCLES: u32 = 10;
/// Lengths of gas limits in bytes besides the shortest form.
const GAS_LIMIT_LENGTHS: [usize; 3] = [4, 8, 32];

/// A block or uncle object, without transactions. Absent members are fields that the header does not have.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockObject {
    number: String,
    hash: String,
    parent_hash: String,
    sha3_uncles: String,
    logs_bloom: String,
    transactions_root: String,
    state_root: String,
    receipts_root: String,
    miner: Option<String>,
    difficulty: String,
    total_difficulty: Option<String>,
    extra_data: String,
    gas_limit: String,
    gas_used: String,
    timestamp: String,
    #[serde(default)]
    uncles: Vec<String>,
    minimum_gas_price: Option<String>,
    bitcoin_merged_mining_header: Option<String>,
    bitcoin_merged_mining_coinbase_transaction: Option<String>,
    bitcoin_merged_mining_merkle_proof: Option<String>,
    paid_fees: Option<String>,
    rsk_pte_edges: Option<Vec<i16>>,
    base_event: Option<String>,
}

/// A block object as values.
#[derive(Debug, Clone)]
pub(crate) struct RemoteBlock {
    /// Hash, computed from the header.
    pub(crate) hash: B256,
    pub(crate) header: Header,
    /// Hash of each uncle.
    pub(crate) uncles: Vec<B256>,
    pub(crate) total_difficulty: U256,
}

/// Fields of a header that the object does not show exactly.
#[derive(Clone)]
struct Variant {
    gas_limit: Bytes,
    transactions_root: Bytes,
    uncle_count: u32,
}

impl BlockObject {
    /// Returns the hash that the object states.
    pub(crate) fn stated_hash(&self, call: &RemoteCall) -> Result<B256, ForkError> {
        hash_of(call, &self.hash)
    }

    /// Whether the object is that of the genesis block, whose header the interface does not show exactly.
    pub(crate) fn is_genesis(&self, call: &RemoteCall) -> Result<bool, ForkError> {
        Ok(number(call, &self.number)?.is_zero())
    }

    /// Reads the object of a block. `spec`: the specification of the remote chain.
    pub(crate) fn block(&self, call: &RemoteCall, spec: &ChainSpec) -> Result<RemoteBlock, ForkError> {
        let uncles = self.uncles.iter().map(|hash| hash_of(call, hash)).collect::<Result<Vec<B256>, _>>()?;
        let count = u32::try_from(uncles.len()).unwrap_or(u32::MAX);
        let header = self.header(call, spec, count..=count)?;
        let total_difficulty = self.total_difficulty.as_deref().map(|text| number(call, text)).transpose()?;
        let hash = header.hash();
        Ok(RemoteBlock { hash, header, uncles, total_difficulty: total_difficulty.unwrap_or_default() })
    }

    /// Reads the object of an uncle, which must have a hash.
    pub(crate) fn uncle(&self, call: &RemoteCall, spec: &ChainSpec, expected: &B256) -> Result<Header, ForkError> {
        let header = self.header(call, spec, 0..=MAX_UNCLES)?;
        match header.hash() == *expected {
            true => Ok(header),
            false => Err(ForkError::HeaderHash { number: header.number, hash: *expected }),
        }
    }

    fn header(
        &self,
        call: &RemoteCall,
        spec: &ChainSpec,
        uncles: std::ops::RangeInclusive<u32>,
    ) -> Result<Header, ForkError> {
        let small = |text: &str| {
            u64::try_from(number(call, text)?)
                .ok()
                .filter(|value| *value < 1 << 63)
                .ok_or_else(|| call.malformed("a number"))
        };
        let data = |text: &str| bytes(call, text);
        let element = |text: &Option<String>| -> Result<Option<Bytes>, ForkError> {
            let read = text.as_deref().map(data).transpose()?;
            Ok(read.filter(|bytes| !bytes.is_empty()))
        };
        let height = small(&self.number)?;
        let expected = hash_of(call, &self.hash)?;
        let mut header = Header::new(height, spec);
        header.parent_hash = data(&self.parent_hash)?;
        header.uncles_hash = data(&self.sha3_uncles)?;
        let coinbase = self.miner.as_deref().map(|text| text.parse().or(Err(call.malformed("an address"))));
        header.coinbase = coinbase.transpose()?;
        header.state_root = data(&self.state_root)?;
        header.receipts_root = data(&self.receipts_root)?;
        header.logs_bloom = data(&self.logs_bloom)?;
        header.difficulty = Some(number(call, &self.difficulty)?);
        header.gas_used = small(&self.gas_used)?;
        header.timestamp = small(&self.timestamp)?;
        header.extra_data = data(&self.extra_data)?;
        header.paid_fees = self.paid_fees.as_deref().map(|text| number(call, text)).transpose()?.unwrap_or_default();
        let price = self.minimum_gas_price.as_deref().map(|text| number(call, text)).transpose()?;
        header.minimum_gas_price = price.map(I256::from_raw);
        header.edges = self.rsk_pte_edges.clone();
        // An empty base event is shown as null.
        if let Some(event) = &self.base_event {
            header.base_event = Some(data(event)?);
        }
        header.bitcoin_header = element(&self.bitcoin_merged_mining_header)?;
        header.merkle_proof = element(&self.bitcoin_merged_mining_merkle_proof)?;
        header.bitcoin_coinbase = element(&self.bitcoin_merged_mining_coinbase_transaction)?;
        let root = data(&self.transactions_root)?;
        for variant in self.variants(number(call, &self.gas_limit)?, root, height, uncles) {
            header.gas_limit = variant.gas_limit;
            header.transactions_root = variant.transactions_root;
            header.uncle_count = variant.uncle_count;
            header.forget_hash();
            if header.hash() == expected {
                return Ok(header);
            }
        }
        Err(ForkError::HeaderHash { number: height, hash: expected })
    }

    /// Returns the variants of the fields that are shown in another form: a gas limit has leading zeros in some headers, and a node may
    /// leave out the only transaction of a block, that of REMASC.
    fn variants(
        &self,
        gas_limit: U256,
        root: Bytes,
        height: u64,
        uncles: std::ops::RangeInclusive<u32>,
    ) -> impl Iterator<Item = Variant> {
        let shortest = gas_limit.to_be_bytes_trimmed_vec();
        let signed = [&[0], shortest.as_slice()].concat();
        let padded = GAS_LIMIT_LENGTHS.into_iter().filter(|length| *length > shortest.len());
        let padded = padded.map(|length| [vec![0; length - shortest.len()], shortest.clone()].concat());
        let limits: Vec<Bytes> = [shortest.clone(), signed].into_iter().chain(padded).map(Bytes::from).collect();
        let mut roots = vec![root];
        if roots.first().is_some_and(|root| root.as_ref() == EMPTY_ROOT.as_slice()) {
            let remasc = Transaction::remasc(height);
            roots.extend(list_root([remasc.encoded().as_ref()].into_iter(), false).ok().map(Bytes::from));
        }
        uncles.flat_map(move |uncle_count| {
            let (limits, roots) = (limits.clone(), roots.clone());
            roots.into_iter().flat_map(move |transactions_root| {
                limits.clone().into_iter().map(move |gas_limit| Variant {
                    gas_limit,
                    transactions_root: transactions_root.clone(),
                    uncle_count,
                })
            })
        })
    }
}

/// Reads a quantity.
pub(crate) fn number(call: &RemoteCall, text: &str) -> Result<U256, ForkError> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty());
    let read = digits.and_then(|digits| U256::from_str_radix(digits, 16).ok());
    read.ok_or_else(|| call.malformed("a quantity is expected"))
}

/// Reads bytes.
pub(crate) fn bytes(call: &RemoteCall, text: &str) -> Result<Bytes, ForkError> {
    let digits = text.strip_prefix("0x").ok_or_else(|| call.malformed("bytes are expected"))?;
    rhizome_primitives::hex::decode(digits).map(Bytes::from).or(Err(call.malformed("bytes are expected")))
}

/// Reads a hash.
pub(crate) fn hash_of(call: &RemoteCall, text: &str) -> Result<B256, ForkError> {
    B256::try_from(bytes(call, text)?.as_ref()).or(Err(call.malformed("a hash is expected")))
}
