//! `eth_syncing`.

use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_net::{NEAR_BLOCKS, PeerNetwork, StateStage, SyncStatus};

/// Returns false within 24 blocks of the best validated header, and of the last block of archives that are imported. Otherwise the numbers of the block at
/// which this synchronization began, of the head, and of the best validated header, and the block that each stage has reached, in the
/// form of Erigon. The stage `State` is there only while the state after that block is downloaded, and has its bytes as well;
/// `OlderBlocks` has the lowest stored block while older ones are missing.
pub fn answer(node: &Node) -> Answer {
    let status = node.network().and_then(PeerNetwork::sync_status);
    Ok(match status.filter(|status| status.is_syncing) {
        Some(status) => object(&status),
        None => {
            let head = node.chain().head().number();
            match node.archive_import().filter(|(_, last)| *last > head + NEAR_BLOCKS) {
                Some((start, last)) => archive_object(start, head, last),
                None => json::boolean(false),
            }
        }
    })
}

fn archive_object(start: u64, current: u64, highest: u64) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    begin(&mut json, start, current, highest);
    begin_stage(&mut json, "Execution", current);
    json.end_object();
    json.end_array();
    json.end_object();
    json.finish()
}

/// Writes the blocks of an object, and begins its stages.
fn begin(json: &mut JsonWriter, start: u64, current: u64, highest: u64) {
    json.key("startingBlock").quantity(start);
    json.key("currentBlock").quantity(current);
    json.key("highestBlock").quantity(highest);
    json.key("stages").begin_array();
}

fn object(status: &SyncStatus) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    begin(&mut json, status.start, status.current, status.highest);
    let window = &status.load.window;
    let bodies = status.current + (window.importing + window.ready) as u64;
    begin_stage(&mut json, "Headers", status.highest);
    json.end_object();
    if let Some(StateStage { progress, .. }) = &status.download {
        begin_stage(&mut json, "State", progress.pivot);
        json.key("bytes").quantity(progress.bytes);
        json.key("total_bytes").quantity(progress.total_bytes);
        json.end_object();
    }
    for (name, number) in [("Bodies", bodies), ("Execution", status.current)] {
        begin_stage(&mut json, name, number);
        json.end_object();
    }
    if let Some(older) = &status.older {
        begin_stage(&mut json, "OlderBlocks", older.oldest);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish()
}

fn begin_stage(json: &mut JsonWriter, name: &str, number: u64) {
    json.begin_object();
    json.key("stage_name").text(name);
    json.key("block_number").quantity(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_chain::StateProgress;
    use rhizome_net::{OlderStage, SyncLoad};

    fn status(download: Option<StateStage>, older: Option<OlderStage>) -> SyncStatus {
        SyncStatus {
            is_syncing: true,
            start: 0,
            current: 0,
            highest: 5_200,
            seconds_behind: 9,
            headers: 5_200,
            bodies: 0,
            headers_per_second: 0.0,
            bodies_per_second: 0.0,
            blocks_per_second: 0.0,
            budget_waits: 0,
            load: SyncLoad::default(),
            download,
            has_given_up_state: false,
            older,
            failure: None,
        }
    }

    #[test]
    fn a_state_and_older_blocks_are_stages_while_they_are_downloaded() {
        let text = |download, older| String::from_utf8(object(&status(download, older))).unwrap();
        let start = r#"{"startingBlock":"0x0","currentBlock":"0x0","highestBlock":"0x1450","stages":[{"stage_name":"Headers","block_number":"0x1450"},"#;
        let end = r#"{"stage_name":"Bodies","block_number":"0x0"},{"stage_name":"Execution","block_number":"0x0"}"#;
        assert_eq!(text(None, None), format!("{start}{end}]}}"));
        let progress = StateProgress { pivot: 1_160, bytes: 255, total_bytes: 4_096, ..StateProgress::default() };
        let state = r#"{"stage_name":"State","block_number":"0x488","bytes":"0xff","total_bytes":"0x1000"},"#;
        let stage = StateStage { progress, bytes_per_second: 10.0 };
        assert_eq!(text(Some(stage), None), format!("{start}{state}{end}]}}"));
        let older = r#",{"stage_name":"OlderBlocks","block_number":"0x80"}"#;
        let stage = OlderStage { oldest: 128, blocks_per_second: 1.0 };
        assert_eq!(text(None, Some(stage)), format!("{start}{end}{older}]}}"));
    }
}
