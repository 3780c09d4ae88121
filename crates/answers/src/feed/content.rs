//! Contents of the events of the change feed, as a client asks for them.

use crate::error::RpcError;
use crate::log_filter::LogQuery;
use rhizome_chain::LogFilter;
use serde_json::Value;

/// Contents of the events of a feed.
#[derive(Debug, Clone, Default)]
pub struct FeedContent {
    /// The block with the hashes of its transactions; every block has an event.
    pub(crate) has_blocks: bool,
    /// Transactions.
    pub(crate) has_transactions: bool,
    /// Receipts.
    pub(crate) has_receipts: bool,
    /// Logs that match a filter.
    pub(crate) logs: Option<LogFilter>,
    /// Calls of each transaction.
    pub(crate) has_traces: bool,
    /// Changes of the state by each transaction.
    pub(crate) has_state: bool,
}

impl FeedContent {
    /// Reads the JSON text of an object with `what`, a list of `blocks`, `transactions`, `receipts`, `logs`, `traces` and
    /// `state`, and the members `address` and `topics` of a log filter.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let value: Value = serde_json::from_str(json).map_err(RpcError::internal)?;
        let mut content = Self::default();
        for name in value.get("what").and_then(Value::as_array).into_iter().flatten() {
            match name.as_str() {
                Some("blocks") => content.has_blocks = true,
                Some("transactions") => content.has_transactions = true,
                Some("receipts") => content.has_receipts = true,
                Some("logs") => content.logs = Some(LogQuery::parse(json)?.filter),
                Some("traces") => content.has_traces = true,
                Some("state") => content.has_state = true,
                _ => return Err(RpcError::invalid_params("Invalid what")),
            }
        }
        Ok(content)
    }

    pub(crate) fn needs_receipts(&self) -> bool {
        self.has_receipts || self.logs.is_some()
    }

    /// Whether blocks are executed again.
    pub fn needs_execution(&self) -> bool {
        self.has_traces || self.has_state
    }

    /// Returns the filter if all blocks without matching logs can be passed over.
    pub(crate) fn sparse_logs(&self) -> Option<&LogFilter> {
        let has_others = self.has_blocks || self.has_transactions || self.has_receipts || self.needs_execution();
        self.logs.as_ref().filter(|_| !has_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_a_filter() {
        let address = format!("0x{}", "07".repeat(20));
        let content = FeedContent::parse(&format!(r#"{{"what":["blocks","logs"],"address":"{address}"}}"#)).unwrap();
        assert!(content.has_blocks && !content.has_transactions && content.needs_receipts());
        assert!(content.sparse_logs().is_none());
        assert_eq!(content.logs.unwrap().addresses.len(), 1);
        assert!(FeedContent::parse(r#"{"what":["logs"]}"#).unwrap().sparse_logs().is_some());
        assert!(FeedContent::parse(r#"{"what":["logs","state"]}"#).unwrap().sparse_logs().is_none());
        assert!(FeedContent::parse(r#"{"what":["trace"]}"#).is_err());
    }
}
