//! Log objects.

use crate::json::JsonWriter;
use rhizome_chain::FoundLog;
use rhizome_primitives::{B256, Log};

/// Where a log stands.
#[derive(Debug, Clone, Copy)]
pub struct LogPlace {
    /// Height of the block.
    pub block_number: u64,
    /// Hash of the block.
    pub block_hash: B256,
    /// Hash of the transaction.
    pub transaction_hash: B256,
    /// Position of the transaction in the block.
    pub transaction_index: u64,
    /// Position of the log in the block.
    pub log_index: u64,
}

/// Writes a log that a search found; `removed` says whether its block left the main chain.
pub fn write_found(json: &mut JsonWriter, found: &FoundLog, removed: bool) {
    let place = LogPlace {
        block_number: found.number,
        block_hash: found.block_hash,
        transaction_hash: found.transaction_hash,
        transaction_index: found.transaction_index as u64,
        log_index: found.log_index as u64,
    };
    write(json, &found.log, &place, Some(removed));
}

/// Writes a log. `removed` is written in results of log searches and filters, not in receipts.
pub fn write(json: &mut JsonWriter, log: &Log, place: &LogPlace, removed: Option<bool>) {
    json.begin_object();
    json.key("logIndex").quantity(place.log_index);
    json.key("blockNumber").quantity(place.block_number);
    json.key("blockHash").hash(&place.block_hash);
    json.key("transactionHash").hash(&place.transaction_hash);
    json.key("transactionIndex").quantity(place.transaction_index);
    json.key("address").data(log.address.as_slice());
    json.key("data").data(&log.data);
    json.key("topics").begin_array();
    for topic in &log.topics {
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
    use rhizome_primitives::{Address, Bytes};

    #[test]
    fn members_in_order() {
        let log = Log { address: Address::repeat_byte(1), topics: vec![B256::ZERO], data: Bytes::new() };
        let place = LogPlace {
            block_number: 4,
            block_hash: B256::repeat_byte(2),
            transaction_hash: B256::repeat_byte(3),
            transaction_index: 0,
            log_index: 17,
        };
        let mut json = JsonWriter::new();
        write(&mut json, &log, &place, Some(false));
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
