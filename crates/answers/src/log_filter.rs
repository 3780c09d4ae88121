//! Object that describes a log search.

use crate::block_id::DepthTag;
use crate::error::RpcError;
use crate::node::Node;
use crate::options::TagDepths;
use crate::sent::{self, Location, Sent};
use rhizome_chain::LogFilter;
use rhizome_primitives::{Address, B256};
use serde_json::{Map, Value};

const EXPECTED: &str = "an object with fromBlock, toBlock or blockHash, address, topics";

/// Criteria and range of a log search.
#[derive(Debug, Clone)]
pub struct LogQuery {
    /// Addresses and topics.
    pub filter: LogFilter,
    range: RequestedRange,
}

/// Blocks of a search as the request names them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RequestedRange {
    Block(B256),
    Range { from: Bound, to: Bound },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Earliest,
    Latest,
    Pending,
    Behind(DepthTag),
    Number(u64),
}

/// Blocks of a search at the current head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchRange {
    /// One block, of the main chain or of a branch.
    Block(B256),
    /// Blocks of the main chain from the first number to the second, both included.
    Range(u64, u64),
    /// No block.
    Empty,
}

impl LogQuery {
    /// Reads the JSON text of a filter object.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Self::read(&serde_json::from_str(json).unwrap_or_default())
    }

    fn read(value: &Value) -> Result<Self, RpcError> {
        let Value::Object(members) = value else {
            return Err(
                RpcError::invalid_params("Invalid filter object").with_hint(format!("filter: expected {EXPECTED}"))
            );
        };
        // In the order of the reference: the members, then their combination.
        let from = bound(members, "fromBlock")?;
        let to = bound(members, "toBlock")?;
        let addresses = addresses(members.get("address"))?;
        let hash =
            members.get("blockHash").map(|hash| sent::hash(&Sent::from(hash).as_text(), "block hash", at("blockHash")));
        let hash = hash.transpose()?;
        let topics = topics(members.get("topics"))?;
        let range = match hash {
            None => RequestedRange::Range { from: from.unwrap_or(Bound::Latest), to: to.unwrap_or(Bound::Latest) },
            Some(hash) if from.is_none() && to.is_none() => RequestedRange::Block(hash),
            Some(_) => return Err(RpcError::invalid_params("Cannot specify both blockHash and fromBlock/toBlock")),
        };
        if is_reversed(from, to) {
            return Err(RpcError::invalid_params("fromBlock cannot be greater than toBlock"));
        }
        Ok(Self { filter: LogFilter { addresses, topics }, range })
    }

    /// Returns the same search in the blocks from a number to another.
    pub(crate) fn within(&self, first: u64, last: u64) -> Self {
        Self {
            filter: self.filter.clone(),
            range: RequestedRange::Range { from: Bound::Number(first), to: Bound::Number(last) },
        }
    }

    /// Returns the blocks to search at the current head. Bounds above the head are lowered to the latest block.
    ///
    /// Fails with -32602 if the first block is above the last.
    pub fn search_range(&self, node: &Node) -> Result<SearchRange, RpcError> {
        match &self.range {
            RequestedRange::Block(hash) => Ok(SearchRange::Block(*hash)),
            RequestedRange::Range { from, to } => {
                let head = node.chain().head().number();
                // The chain may have grown between both reads.
                let heights = Heights { latest: node.latest_number().min(head), head };
                range(*from, *to, heights, node.options().tag_depths)
            }
        }
    }
}

/// Blocks that bound a search.
#[derive(Debug, Clone, Copy)]
struct Heights {
    /// The block of the tag latest.
    latest: u64,
    /// The best block, which a request can name by its number only.
    head: u64,
}

fn range(
    from: Bound,
    to: Bound,
    Heights { latest, head }: Heights,
    depths: Option<TagDepths>,
) -> Result<SearchRange, RpcError> {
    let first = match from {
        // Logs of pending blocks are not served.
        Bound::Pending => return Ok(SearchRange::Empty),
        Bound::Earliest => 0,
        Bound::Latest => latest,
        Bound::Behind(tag) => tag.number(depths, latest)?,
        Bound::Number(number) => number,
    };
    let (last, is_open) = match to {
        Bound::Earliest => (0, false),
        Bound::Latest | Bound::Pending => (latest, true),
        Bound::Behind(tag) => (tag.number(depths, latest)?, false),
        Bound::Number(number) => (number, number > head),
    };
    // A range that starts above the latest block is empty. It is not reversed, though its upper bound is that block.
    if first > latest && matches!(to, Bound::Latest | Bound::Pending) {
        return Ok(SearchRange::Empty);
    }
    if first > last {
        return Err(RpcError::invalid_params("fromBlock cannot be greater than toBlock"));
    }
    if first > head || (is_open && first > latest) {
        return Ok(SearchRange::Empty);
    }
    // A number above the head means the latest block.
    Ok(SearchRange::Range(first, if is_open { latest } else { last }))
}

/// Returns whether a range ends before it begins at any head.
fn is_reversed(from: Option<Bound>, to: Option<Bound>) -> bool {
    match (from, to) {
        (Some(Bound::Latest | Bound::Pending), Some(Bound::Earliest)) => true,
        (Some(Bound::Number(from)), Some(Bound::Number(to))) => from > to,
        _ => false,
    }
}

fn at(member: &str) -> Location<'_> {
    Location { owner: "filter", member }
}

/// Reads a bound of the range. `None` if it is absent.
fn bound(members: &Map<String, Value>, name: &str) -> Result<Option<Bound>, RpcError> {
    let Some(value) = members.get(name) else { return Ok(None) };
    let text = sent::numbered_block(&Sent::from(value).as_text(), at(name))?;
    match text.as_str() {
        "earliest" => return Ok(Some(Bound::Earliest)),
        "latest" => return Ok(Some(Bound::Latest)),
        "pending" => return Ok(Some(Bound::Pending)),
        "safe" => return Ok(Some(Bound::Behind(DepthTag::Safe))),
        "finalized" => return Ok(Some(Bound::Behind(DepthTag::Finalized))),
        _ => {}
    }
    let number = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let number = number.map(Bound::Number);
    number.map(Some).ok_or_else(|| RpcError::invalid_params(format!("Invalid block identifier '{text}'")))
}

/// Reads one address or a list of them.
fn addresses(value: Option<&Value>) -> Result<Vec<Address>, RpcError> {
    let address = |value: &Value| Ok(sent::address(&Sent::Text(Sent::from(value).as_text()), at("address"))?);
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(address).collect(),
        Some(one) => Ok(vec![address(one)?]),
    }
}

/// Reads topics by position; `None` matches any topic. A single text is the first position.
fn topics(value: Option<&Value>) -> Result<Vec<Option<Vec<B256>>>, RpcError> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(positions)) => positions.iter().map(position).collect(),
        Some(single) => Ok(vec![Some(vec![topic(single)?])]),
    }
}

fn position(value: &Value) -> Result<Option<Vec<B256>>, RpcError> {
    match value {
        Value::Null => Ok(None),
        Value::Array(alternatives) => {
            // Null among alternatives is dropped: [A, null] means A.
            let wanted: Vec<B256> =
                alternatives.iter().filter(|one| !one.is_null()).map(topic).collect::<Result<_, _>>()?;
            Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
        }
        single => Ok(Some(vec![topic(single)?])),
    }
}

fn topic(value: &Value) -> Result<B256, RpcError> {
    Ok(sent::hash(&Sent::from(value).as_text(), "topic", at("topics"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> String {
        LogQuery::parse(json).unwrap_err().message
    }

    #[test]
    fn topics_by_position() {
        let [a, b] = ["0a", "0b"].map(|byte| format!("0x{}", byte.repeat(32)));
        let topics = |json: String| LogQuery::parse(&json).unwrap().filter.topics;
        assert!(topics("{}".into()).is_empty());
        assert_eq!(topics(r#"{"topics":[null,[],[null]]}"#.into()), vec![None, None, None]);
        let both = topics(format!(r#"{{"topics":[["{a}",null,"{b}"]]}}"#));
        assert_eq!(both, vec![Some(vec![B256::repeat_byte(10), B256::repeat_byte(11)])]);
        assert_eq!(topics(format!(r#"{{"topics":"{a}"}}"#)), vec![Some(vec![B256::repeat_byte(10)])]);
        for bad in [r#"{"topics":["0x12"]}"#, r#"{"topics":{}}"#, r#"{"topics":[[["0x12"]]]}"#] {
            assert_eq!(message(bad), "Invalid topic: incorrect length.");
        }
    }

    #[test]
    fn addresses_one_or_many() {
        let count = |json: &str| LogQuery::parse(json).unwrap().filter.addresses.len();
        assert_eq!(count(r#"{"address":null}"#), 0);
        assert_eq!(count(r#"{"address":[]}"#), 0);
        assert_eq!(count(r#"{"address":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"}"#), 1);
        assert_eq!(message(r#"{"address":["0x12"]}"#), "Invalid address: null, empty or invalid hex value.");
    }

    #[test]
    fn requested_ranges() {
        let hash = format!("0x{}", "ab".repeat(32));
        let query = LogQuery::parse(&format!(r#"{{"blockHash":"{hash}"}}"#)).unwrap();
        assert_eq!(query.range, RequestedRange::Block(B256::repeat_byte(0xab)));
        let both = format!(r#"{{"blockHash":"{hash}","toBlock":"0x1"}}"#);
        assert_eq!(message(&both), "Cannot specify both blockHash and fromBlock/toBlock");
        assert_eq!(message(r#"{"blockHash":null}"#), "Invalid block hash: incorrect length.");
        assert_eq!(message(r#"{"fromBlock":null}"#), "Invalid block identifier 'null'");
        assert_eq!(message(r#"{"fromBlock":""}"#), "Invalid block identifier: empty or null.");
        for (bound, refusal) in [
            ("\"zz\"", "Invalid block identifier 'zz'"),
            ("\"Safe\"", "invalid blocknumber Safe"),
            ("\"4\"", "invalid blocknumber 4"),
            ("\"0x10000000000000000\"", "Invalid block number 0x10000000000000000"),
            ("{}", "Invalid block identifier: empty or null."),
            ("1e30", "Invalid block identifier '1.0E30'"),
        ] {
            assert_eq!(message(&format!(r#"{{"toBlock":{bound}}}"#)), refusal);
        }
        assert_eq!(message("null"), "Invalid filter object");
        assert_eq!(message(r#"{"fromBlock":"0x5","toBlock":"0x0"}"#), "fromBlock cannot be greater than toBlock");
        assert_eq!(message(r#"{"fromBlock":"zz","address":"zz"}"#), "Invalid block identifier 'zz'");
        assert_eq!(message(r#"{"topics":["zz"],"toBlock":"zz"}"#), "Invalid block identifier 'zz'");
        let address = "Invalid address: null, empty or invalid hex value.";
        assert_eq!(message(r#"{"blockHash":"zz","address":"zz"}"#), address);
    }

    #[test]
    fn ranges_against_the_head() {
        use Bound::{Behind, Earliest, Latest, Number, Pending};
        let head = Heights { latest: 31, head: 31 };
        assert_eq!(range(Latest, Latest, head, None), Ok(SearchRange::Range(31, 31)));
        assert_eq!(range(Earliest, Pending, head, None), Ok(SearchRange::Range(0, 31)));
        assert_eq!(range(Number(4), Number(0x9999), head, None), Ok(SearchRange::Range(4, 31)));
        assert_eq!(range(Latest, Number(0x99), head, None), Ok(SearchRange::Range(31, 31)));
        for empty in [
            range(Pending, Pending, head, None),
            range(Number(99), Latest, head, None),
            range(Number(99), Number(99), head, None),
        ] {
            assert_eq!(empty, Ok(SearchRange::Empty));
        }
        for reversed in [
            range(Number(6), Number(3), head, None),
            range(Latest, Number(4), head, None),
            range(Latest, Earliest, head, None),
        ] {
            assert_eq!(reversed.unwrap_err().message, "fromBlock cannot be greater than toBlock");
        }
        let tagged = |from, to| range(from, to, head, Some(TagDepths { safe: 2, finalized: 40 }));
        assert_eq!(tagged(Behind(DepthTag::Finalized), Behind(DepthTag::Safe)), Ok(SearchRange::Range(0, 29)));
        assert_eq!(tagged(Behind(DepthTag::Safe), Latest), Ok(SearchRange::Range(29, 31)));
        assert!(tagged(Latest, Behind(DepthTag::Safe)).is_err());
        let refused = range(Behind(DepthTag::Safe), Latest, head, None).unwrap_err();
        assert_eq!(refused.message, "invalid blocknumber safe");
    }

    #[test]
    fn a_range_by_numbers_may_end_above_the_latest_block() {
        use Bound::{Earliest, Latest, Number};
        let heights = Heights { latest: 29, head: 31 };
        assert_eq!(range(Earliest, Latest, heights, None), Ok(SearchRange::Range(0, 29)));
        assert_eq!(range(Earliest, Number(30), heights, None), Ok(SearchRange::Range(0, 30)));
        assert_eq!(range(Number(31), Number(31), heights, None), Ok(SearchRange::Range(31, 31)));
        assert_eq!(range(Number(30), Latest, heights, None), Ok(SearchRange::Empty));
        assert_eq!(range(Earliest, Number(99), heights, None), Ok(SearchRange::Range(0, 29)));
        assert_eq!(range(Number(30), Number(99), heights, None), Ok(SearchRange::Empty));
        assert_eq!(range(Number(32), Number(99), heights, None), Ok(SearchRange::Empty));
    }
}
