//! Scores, punishments and blocks of addresses on golden data of the reference.

use rhizome_net::{AddressBlock, PeerScore, PunishmentRule, ScoreEvent};
use serde_json::Value;

fn data() -> Value {
    serde_json::from_str(include_str!("data/scoring.json")).unwrap()
}

fn event(name: &str) -> Option<ScoreEvent> {
    Some(match name {
        "INVALID_BLOCK" => ScoreEvent::InvalidBlock,
        "INVALID_MESSAGE" => ScoreEvent::InvalidMessage,
        "INVALID_HEADER" => ScoreEvent::InvalidHeader,
        "INVALID_TRANSACTION" => ScoreEvent::InvalidTransaction,
        "INVALID_NETWORK" => ScoreEvent::InvalidNetwork,
        "FAILED_HANDSHAKE" => ScoreEvent::FailedHandshake,
        "SUCCESSFUL_HANDSHAKE" => ScoreEvent::SuccessfulHandshake,
        "REPEATED_MESSAGE" => ScoreEvent::RepeatedMessage,
        "UNEXPECTED_MESSAGE" => ScoreEvent::UnexpectedMessage,
        "TIMEOUT_MESSAGE" => ScoreEvent::TimeoutMessage,
        "VALID_BLOCK" => ScoreEvent::ValidBlock,
        "VALID_TRANSACTION" => ScoreEvent::ValidTransaction,
        "INCOMPATIBLE_PROTOCOL" => ScoreEvent::IncompatibleProtocol,
        "UNEXPECTED_GENESIS" => ScoreEvent::UnexpectedGenesis,
        // Never recorded (docs/spec/p2p.md, 11.1).
        "DISCONNECTION" => return None,
        other => panic!("unknown event {other}"),
    })
}

#[test]
fn sequences_of_events() {
    for (at, sequence) in data()["sequences"].as_array().unwrap().iter().enumerate() {
        let mut score = PeerScore::default();
        for step in sequence["steps"].as_array().unwrap() {
            let Some(event) = event(step["event"].as_str().unwrap()) else { break };
            score.record(event, 1_000, Some(&PunishmentRule::NODES));
            let expected = |name: &str| step[name].as_i64().unwrap();
            assert_eq!(score.score, expected("score"), "{at}");
            assert_eq!(!score.is_punished(1_000), step["good"].as_bool().unwrap(), "{at}");
            assert_eq!(score.punished_until.saturating_sub(1_000), expected("punishmentMs") as u64, "{at}");
            assert_eq!(i64::from(score.punishments), expected("punishments"), "{at}");
        }
    }
}

#[test]
fn lengths_of_punishments() {
    for case in data()["punishment"].as_array().unwrap() {
        let number = |name: &str| case[name].as_i64().unwrap();
        let rule = PunishmentRule {
            duration_ms: number("durationMs") as u64,
            increment_percent: number("incrementPercent") as u64,
            maximum_ms: number("maximumMs") as u64,
        };
        let length = rule.length(number("previousPunishments") as u32, number("score"));
        assert_eq!(length, number("resultMs") as u64, "{case}");
    }
}

#[test]
fn a_punishment_ends() {
    let mut score = PeerScore::default();
    assert!(score.record(ScoreEvent::InvalidBlock, 0, Some(&PunishmentRule::NODES)));
    assert!(!score.record(ScoreEvent::InvalidBlock, 1, Some(&PunishmentRule::NODES)));
    assert!(score.is_punished(719_999) && !score.is_punished(720_000));
    assert_eq!(score.at(720_000).count(ScoreEvent::InvalidBlock), 0);
    assert!(score.record(ScoreEvent::InvalidHeader, 720_000, Some(&PunishmentRule::NODES)));
    assert_eq!((score.punishments, score.punished_until), (2, 720_000 + 792_000));
}

#[test]
fn blocks_contain_addresses() {
    for case in data()["cidr"].as_array().unwrap() {
        let block: AddressBlock = case["block"].as_str().unwrap().parse().unwrap();
        let address = case["address"].as_str().unwrap().parse().unwrap();
        assert_eq!(block.contains(address), case["contains"].as_bool().unwrap(), "{case}");
    }
}
