//! Log objects.

use crate::json::JsonWriter;
use rhizome_chain::LogPosition;
use rhizome_primitives::LogRef;

/// Writes a log. `removed` is written in results of log searches and filters, not in receipts.
pub fn write<'a>(json: &mut JsonWriter, log: impl Into<LogRef<'a>>, position: &LogPosition, removed: Option<bool>) {
    let log = log.into();
    json.begin_object();
    json.key("logIndex").quantity(position.log_index);
    json.key("blockNumber").quantity(position.block_number);
    json.key("blockHash").hash(&position.block_hash);
    json.key("transactionHash").hash(&position.transaction_hash);
    json.key("transactionIndex").quantity(position.transaction_index);
    json.key("address").data(log.address.as_slice());
    json.key("data").data(log.data);
    json.key("topics").begin_array();
    for topic in log.topics() {
        json.hash(topic);
    }
    json.end_array();
    if let Some(removed) = removed {
        json.key("removed").boolean(removed);
    }
    json.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{Address, B256, Bytes, Log};

    #[test]
    fn members_in_order() {
        let log = Log { address: Address::repeat_byte(1), topics: vec![B256::ZERO], data: Bytes::new() };
        let position = LogPosition {
            block_number: 4,
            block_hash: B256::repeat_byte(2),
            transaction_hash: B256::repeat_byte(3),
            transaction_index: 0,
            log_index: 17,
        };
        let mut json = JsonWriter::new();
        write(&mut json, &log, &position, Some(false));
        let text = String::from_utf8(json.finish()).unwrap();
        let expected = format!(
            "{{\"logIndex\":\"0x11\",\"blockNumber\":\"0x4\",\"blockHash\":\"0x{}\",\"transactionHash\":\"0x{}\",\
             \"transactionIndex\":\"0x0\",\"address\":\"0x{}\",\"data\":\"0x\",\"topics\":[\"0x{}\"],\"removed\":false}}",
            "02".repeat(32),
            "03".repeat(32),
            "01".repeat(20),
            "00".repeat(32)
        );
        assert_eq!(text, expected);
    }
}
