//! `sco_reputationSummary`.

use crate::error::Answer;
use crate::json::JsonWriter;

/// Names of the counters, in the order of the reference.
const COUNTERS: [&str; 17] = [
    "count",
    "successfulHandshakes",
    "failedHandshakes",
    "invalidHeader",
    "validBlocks",
    "invalidBlocks",
    "validTransactions",
    "invalidTransactions",
    "invalidNetworks",
    "invalidMessages",
    "repeatedMessages",
    "timeoutMessages",
    "unexpectedMessages",
    "peersTotalScore",
    "punishments",
    "goodReputationCount",
    "badReputationCount",
];

/// Sums over `sco_peerList`, which is empty.
pub fn answer() -> Answer {
    let mut json = JsonWriter::new();
    json.begin_object();
    for name in COUNTERS {
        json.key(name).number(0);
    }
    json.end_object();
    Ok(json.finish())
}
