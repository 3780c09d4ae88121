//! Decoding of the full and of the compressed form of a header.

use super::{HashCache, Header, expects_fork_data, genesis_gas_limit};
use crate::EMPTY_ROOT;
use crate::chain_spec::ChainSpec;
use crate::error::DecodeError;
use crate::rlp::{self, Item};
use crate::rules::{Rule, Rules};
use alloy_primitives::{Address, Bytes, U256};
use std::mem;

/// Number of elements up to and including the uncle count.
const FIXED_ELEMENTS: usize = 16;
const MINING_ELEMENTS: usize = 3;
/// With UMM root, version, edges and base event.
const MAX_ELEMENTS: usize = FIXED_ELEMENTS + 4 + MINING_ELEMENTS;
const BITCOIN_HEADER_BYTES: usize = 80;
const TESTNET_CHAIN_ID: u8 = 31;
/// Some testnet blocks after RSKIP-535 have no base event; below this height they are accepted.
const BASE_EVENT_RECOVERY_END: u64 = 7_800_000;

/// Form of a header on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReceivedForm {
    Full,
    /// Versions 1 and 2 have their extension data in place of the bloom, and no version, edges and base event.
    Compressed,
}

/// Decodes a header; the item must be a list.
pub(super) fn decode(item: &Item<'_>, spec: &ChainSpec, form: ReceivedForm) -> Result<Header, DecodeError> {
    // One copy of the encoding; the fields are slices of it.
    let buffer = Bytes::copy_from_slice(item.encoding());
    let mut elements = HeaderElements::new(&buffer)?;
    let count = elements.left();
    if count < FIXED_ELEMENTS {
        return Err(DecodeError::ElementCount { what: "header", got: count });
    }
    let parent_hash = elements.take();
    let uncles_hash = elements.take();
    let coinbase = read_coinbase(&elements.take())?;
    let state_root = elements.take_root();
    let transactions_root = elements.take_root();
    let receipts_root = elements.take_root();
    let mut logs_bloom = elements.take();
    let difficulty_bytes = elements.take();
    let number = elements.take_number("number", i64::MAX as u64)?;
    let gas_limit = elements.take();
    let gas_used = elements.take_number("gas used", i64::MAX as u64)?;
    let timestamp = elements.take_number("timestamp", i64::MAX as u64)?;
    let extra_data = elements.take();
    let paid_fees = elements.take();
    let minimum_gas_price = match elements.take() {
        price if price.is_empty() => None,
        price => Some(rlp::read_signed(&price, "minimum gas price")?),
    };
    let uncle_count = elements.take_number("uncle count", i32::MAX as u64)? as u32;

    let rules = spec.rules(number);
    check_count(count, number, rules, spec.chain_id, form)?;
    let umm_root = rules.is_active(Rule::RskipUmm).then(|| elements.take());
    let mut received_extension_data = None;
    let Versioned { version, edges, base_event } = match form {
        ReceivedForm::Full => Versioned::read(&mut elements, rules)?,
        ReceivedForm::Compressed => Versioned::of_extension_data(&logs_bloom, rules)?,
    };
    if version > 0 && logs_bloom.is_empty() {
        return Err(DecodeError::Missing("logs bloom"));
    }
    if version > 0 && form == ReceivedForm::Compressed {
        received_extension_data = Some(mem::take(&mut logs_bloom));
    }
    let mut header = Header {
        parent_hash,
        uncles_hash,
        coinbase,
        state_root,
        transactions_root,
        receipts_root,
        logs_bloom,
        difficulty: match difficulty_bytes.as_ref() {
            [] => None,
            bytes => Some(rlp::read_difficulty(bytes, "difficulty")?),
        },
        number,
        gas_limit,
        gas_used,
        timestamp,
        extra_data,
        paid_fees: rlp::saturating_u256(&paid_fees),
        minimum_gas_price,
        uncle_count,
        umm_root,
        version,
        edges,
        base_event,
        bitcoin_header: None,
        merkle_proof: None,
        bitcoin_coinbase: None,
        rules,
        expects_fork_data: expects_fork_data(number, rules, spec),
        genesis_difficulty: None,
        oversized_paid_fees: Some(rlp::strip_zeros(&paid_fees))
            .filter(|digits| digits.len() > size_of::<U256>())
            .map(Bytes::copy_from_slice),
        received_extension_data,
        hash: HashCache::default(),
    };
    if elements.left() > 0 {
        read_mining_elements(&mut header, &mut elements)?;
    }
    if number == 0 {
        become_genesis(&mut header, difficulty_bytes)?;
    }
    Ok(header)
}

fn read_mining_elements(header: &mut Header, elements: &mut HeaderElements<'_>) -> Result<(), DecodeError> {
    let bitcoin_header = elements.take();
    if header.number > 0 && header.rules.is_active(Rule::Rskip98) && bitcoin_header.len() != BITCOIN_HEADER_BYTES {
        return Err(DecodeError::FieldLength { field: "bitcoin header", got: bitcoin_header.len() });
    }
    header.bitcoin_header = Some(bitcoin_header).filter(|bytes| !bytes.is_empty());
    header.merkle_proof = Some(elements.take());
    header.bitcoin_coinbase = Some(elements.take()).filter(|bytes| !bytes.is_empty());
    Ok(())
}

/// Block 0 is special: several elements have fixed values regardless of the data, and the difficulty keeps its
/// bytes.
fn become_genesis(header: &mut Header, difficulty: Bytes) -> Result<(), DecodeError> {
    if header.coinbase.is_none() {
        return Err(DecodeError::Missing("coinbase"));
    }
    header.transactions_root = EMPTY_ROOT.into();
    header.receipts_root = EMPTY_ROOT.into();
    header.gas_limit = Bytes::copy_from_slice(genesis_gas_limit(&header.gas_limit));
    header.paid_fees = U256::ZERO;
    header.oversized_paid_fees = None;
    header.uncle_count = 0;
    header.umm_root = None;
    header.version = 0;
    header.edges = None;
    header.base_event = None;
    header.received_extension_data = None;
    header.genesis_difficulty = Some(difficulty);
    Ok(())
}

/// Elements that RSKIP-351 and later rules added to the full form.
#[derive(Default)]
struct Versioned {
    version: u8,
    edges: Option<Vec<i16>>,
    base_event: Option<Bytes>,
}

impl Versioned {
    fn read(elements: &mut HeaderElements<'_>, rules: Rules) -> Result<Versioned, DecodeError> {
        if !rules.is_active(Rule::Rskip351) {
            return Ok(Versioned::default());
        }
        let version = match elements.take().first() {
            Some(&version @ (1 | 2)) => version,
            Some(_) => 0,
            None => return Err(DecodeError::Missing("version")),
        };
        let has_edges = rules.is_active(Rule::Rskip144) && elements.left() > 0;
        let edges = has_edges.then(|| read_edges(&elements.take()));
        let base_event = match elements.left() {
            _ if !rules.is_active(Rule::Rskip535) => None,
            0 | MINING_ELEMENTS => Some(Bytes::new()),
            _ => Some(elements.take()),
        };
        // Version 1 has no base event and drops it.
        Ok(Versioned { version, edges, base_event: base_event.filter(|_| version != 1) })
    }

    /// Reads the version from the extension data of the compressed form; edges and base event come with the body.
    fn of_extension_data(data: &[u8], rules: Rules) -> Result<Versioned, DecodeError> {
        if !rules.is_active(Rule::Rskip351) {
            return Ok(Versioned::default());
        }
        let first = rlp::decode_list(data)?.elements("extension data")?.next();
        let version = match first.transpose()?.and_then(|item| item.bytes().first().copied()) {
            Some(version @ (1 | 2)) => version,
            Some(_) => 0,
            None => return Err(DecodeError::Missing("version")),
        };
        Ok(Versioned { version, ..Versioned::default() })
    }
}

/// Decodes pairs of bytes, little-endian; an odd last byte is dropped.
pub(super) fn read_edges(bytes: &[u8]) -> Vec<i16> {
    bytes.as_chunks::<2>().0.iter().map(|&pair| i16::from_le_bytes(pair)).collect()
}

fn read_coinbase(bytes: &[u8]) -> Result<Option<Address>, DecodeError> {
    match bytes {
        [] => Ok(None),
        _ => Address::try_from(bytes)
            .map(Some)
            .map_err(|_wrong_length| DecodeError::FieldLength { field: "coinbase", got: bytes.len() }),
    }
}

/// Elements of a header as slices of the buffer, in order. Their count is checked before.
struct HeaderElements<'a> {
    buffer: &'a Bytes,
    items: std::vec::IntoIter<Item<'a>>,
}

impl<'a> HeaderElements<'a> {
    fn new(buffer: &'a Bytes) -> Result<HeaderElements<'a>, DecodeError> {
        let (list, _) = Item::first(buffer)?;
        // Counted first: a list of many empty elements takes far more memory than its bytes.
        let mut count = 0;
        for element in list.elements("header")? {
            element?;
            count += 1;
        }
        if count > MAX_ELEMENTS {
            return Err(DecodeError::ElementCount { what: "header", got: count });
        }
        Ok(HeaderElements { buffer, items: list.list("header")?.into_iter() })
    }

    fn left(&self) -> usize {
        self.items.len()
    }

    fn take(&mut self) -> Bytes {
        self.items.next().map(|item| self.buffer.slice_ref(item.bytes())).unwrap_or_default()
    }

    /// An empty root decodes as the root of an empty trie.
    fn take_root(&mut self) -> Bytes {
        Some(self.take()).filter(|root| !root.is_empty()).unwrap_or_else(|| EMPTY_ROOT.into())
    }

    fn take_number(&mut self, field: &'static str, max: u64) -> Result<u64, DecodeError> {
        rlp::read_u64(&self.take(), max, field)
    }
}

fn check_count(count: usize, number: u64, rules: Rules, chain_id: u8, form: ReceivedForm) -> Result<(), DecodeError> {
    let has_version = form == ReceivedForm::Full && rules.is_active(Rule::Rskip351);
    let has_base_event = has_version && rules.is_active(Rule::Rskip535);
    let optional =
        [rules.is_active(Rule::RskipUmm), has_version, has_version && rules.is_active(Rule::Rskip144), has_base_event];
    let expected = FIXED_ELEMENTS + optional.into_iter().filter(|&is_there| is_there).count();
    let may_lack_base_event = chain_id == TESTNET_CHAIN_ID && has_base_event && number < BASE_EVENT_RECOVERY_END;
    let is_right = |count: usize| count == expected || count == expected + MINING_ELEMENTS;
    if is_right(count) || (may_lack_base_event && is_right(count + 1)) {
        Ok(())
    } else {
        Err(DecodeError::ElementCount { what: "header", got: count })
    }
}
