//! The object that describes a log search.

use crate::error::RpcError;
use crate::node::Node;
use crate::parameters;
use rhizome_chain::LogFilter;
use rhizome_primitives::{Address, B256};
use serde_json::{Map, Value};

/// What is searched, and where.
#[derive(Debug, Clone)]
pub struct LogQuery {
    /// Addresses and topics.
    pub filter: LogFilter,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Block(B256),
    Range { from: Bound, to: Bound },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Earliest,
    Latest,
    Pending,
    Number(u64),
}

/// Where a query looks, measured against the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPlace {
    /// One block, on the main chain or beside it.
    Block(B256),
    /// Main chain blocks, both bounds included.
    Range(u64, u64),
    /// No block at all.
    Nowhere,
}

impl LogQuery {
    /// Reads the JSON text of a filter object.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Self::read(&serde_json::from_str(json).unwrap_or_default())
    }

    /// Reads the JSON text of an array of filter objects.
    pub fn parse_all(json: &str) -> Result<Vec<Self>, RpcError> {
        let filters: Vec<Value> = serde_json::from_str(json).map_err(RpcError::internal)?;
        filters.iter().map(Self::read).collect()
    }

    fn read(value: &Value) -> Result<Self, RpcError> {
        let Value::Object(members) = value else {
            return Err(RpcError::invalid_params("Invalid filter: an object is expected."));
        };
        Ok(Self {
            filter: LogFilter { addresses: addresses(members.get("address"))?, topics: topics(members.get("topics"))? },
            place: place(members)?,
        })
    }

    /// The place as of the present head. Bounds above the head are lowered to it.
    pub fn search_place(&self, node: &Node) -> Result<SearchPlace, RpcError> {
        match &self.place {
            Place::Block(hash) => Ok(SearchPlace::Block(*hash)),
            Place::Range { from, to } => range(*from, *to, node.chain().head().number()),
        }
    }
}

fn range(from: Bound, to: Bound, head: u64) -> Result<SearchPlace, RpcError> {
    let first = match from {
        // Pending logs are not served: there is nothing from there on.
        Bound::Pending => return Ok(SearchPlace::Nowhere),
        Bound::Earliest => 0,
        Bound::Latest => head,
        Bound::Number(number) => number,
    };
    let last = match to {
        Bound::Earliest => 0,
        Bound::Latest | Bound::Pending => head,
        Bound::Number(number) => number,
    };
    // A block that does not exist yet has no logs, whatever the default upper bound says.
    if first > head && (to == Bound::Latest || to == Bound::Pending) {
        return Ok(SearchPlace::Nowhere);
    }
    if first > last {
        return Err(RpcError::invalid_params("fromBlock cannot be greater than toBlock"));
    }
    if first > head {
        return Ok(SearchPlace::Nowhere);
    }
    Ok(SearchPlace::Range(first, last.min(head)))
}

fn place(members: &Map<String, Value>) -> Result<Place, RpcError> {
    let (from, to) = (members.get("fromBlock"), members.get("toBlock"));
    if let Some(hash) = members.get("blockHash") {
        let hash = parameters::block_hash(hash.as_str().unwrap_or_default())?;
        if from.is_some() || to.is_some() {
            return Err(RpcError::invalid_params("Cannot specify both blockHash and fromBlock/toBlock"));
        }
        return Ok(Place::Block(hash));
    }
    Ok(Place::Range { from: bound(from)?, to: bound(to)? })
}

fn bound(value: Option<&Value>) -> Result<Bound, RpcError> {
    let text = match value {
        None => return Ok(Bound::Latest),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match text.as_str() {
        "earliest" => return Ok(Bound::Earliest),
        "latest" => return Ok(Bound::Latest),
        "pending" => return Ok(Bound::Pending),
        "" => return Err(RpcError::invalid_params("Invalid block identifier: empty or null.")),
        _ => {}
    }
    let number = text
        .strip_prefix("0x")
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.map(Bound::Number).ok_or_else(|| RpcError::invalid_params(format!("Invalid block identifier '{text}'")))
}

fn addresses(value: Option<&Value>) -> Result<Vec<Address>, RpcError> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            list.iter().map(|one| parameters::address(one.as_str().unwrap_or_default())).collect()
        }
        Some(one) => Ok(vec![parameters::address(one.as_str().unwrap_or_default())?]),
    }
}

/// Positions in order; none is "anything". A single text is the first position.
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
            let wanted: Vec<B256> =
                alternatives.iter().filter(|one| !one.is_null()).map(topic).collect::<Result<_, _>>()?;
            Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
        }
        single => Ok(Some(vec![topic(single)?])),
    }
}

fn topic(value: &Value) -> Result<B256, RpcError> {
    parameters::hash(value.as_str().unwrap_or_default(), "topic")
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
    fn places() {
        let hash = format!("0x{}", "ab".repeat(32));
        let query = LogQuery::parse(&format!(r#"{{"blockHash":"{hash}"}}"#)).unwrap();
        assert_eq!(query.place, Place::Block(B256::repeat_byte(0xab)));
        let both = format!(r#"{{"blockHash":"{hash}","toBlock":"0x1"}}"#);
        assert_eq!(message(&both), "Cannot specify both blockHash and fromBlock/toBlock");
        assert_eq!(message(r#"{"blockHash":null}"#), "Invalid block hash: incorrect length.");
        assert_eq!(message(r#"{"fromBlock":null}"#), "Invalid block identifier 'null'");
        assert_eq!(message(r#"{"fromBlock":""}"#), "Invalid block identifier: empty or null.");
        for bad in ["safe", "4", "zz", "0x10000000000000000"] {
            let json = format!(r#"{{"toBlock":"{bad}"}}"#);
            assert_eq!(message(&json), format!("Invalid block identifier '{bad}'"));
        }
    }

    #[test]
    fn ranges_against_the_head() {
        use Bound::{Earliest, Latest, Number, Pending};
        let head = 31;
        assert_eq!(range(Latest, Latest, head), Ok(SearchPlace::Range(31, 31)));
        assert_eq!(range(Earliest, Pending, head), Ok(SearchPlace::Range(0, 31)));
        assert_eq!(range(Number(4), Number(0x9999), head), Ok(SearchPlace::Range(4, 31)));
        assert_eq!(range(Latest, Number(0x99), head), Ok(SearchPlace::Range(31, 31)));
        for nowhere in
            [range(Pending, Pending, head), range(Number(99), Latest, head), range(Number(99), Number(99), head)]
        {
            assert_eq!(nowhere, Ok(SearchPlace::Nowhere));
        }
        for reversed in
            [range(Number(6), Number(3), head), range(Latest, Number(4), head), range(Latest, Earliest, head)]
        {
            assert_eq!(reversed.unwrap_err().message, "fromBlock cannot be greater than toBlock");
        }
    }
}
