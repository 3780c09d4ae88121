//! `sco_reputationSummary`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_net::{PeerScore, ScoreEvent};

/// Counters in the order of the reference.
const COUNTERS: [ScoreEvent; 12] = [
    ScoreEvent::SuccessfulHandshake,
    ScoreEvent::FailedHandshake,
    ScoreEvent::InvalidHeader,
    ScoreEvent::ValidBlock,
    ScoreEvent::InvalidBlock,
    ScoreEvent::ValidTransaction,
    ScoreEvent::InvalidTransaction,
    ScoreEvent::InvalidNetwork,
    ScoreEvent::InvalidMessage,
    ScoreEvent::RepeatedMessage,
    ScoreEvent::TimeoutMessage,
    ScoreEvent::UnexpectedMessage,
];

/// Returns sums over the entries of `sco_peerList`.
pub fn answer(node: &Node) -> Answer {
    let scores: Vec<PeerScore> = node.standing().scores().into_iter().map(|(_peer, score)| score).collect();
    let good = scores.iter().filter(|score| score.punished_until == 0).count();
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("count").number(scores.len() as i64);
    for event in COUNTERS {
        json.key(event.name()).number(scores.iter().map(|score| score.count(event)).sum::<u64>().cast_signed());
    }
    json.key("peersTotalScore").number(scores.iter().map(|score| score.score).sum());
    json.key("punishments").number(scores.iter().map(|score| i64::from(score.punishments)).sum());
    json.key("goodReputationCount").number(good as i64);
    json.key("badReputationCount").number((scores.len() - good) as i64);
    json.end_object();
    Ok(json.finish())
}
