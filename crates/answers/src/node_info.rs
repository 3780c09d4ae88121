//! Extent of the stored chain and state.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::sync_figures;
use rhizome_chain::ProvenBlocks;

/// Returns a JSON object: network, chain id, genesis, `warning` about lost writes, the block of a fork and its remote node (`fork`), head, best validated header (`bestHeader`), an unfinished download of a state
/// (`stateDownload`), highest stored block (`highestBlock`), lowest stored block above genesis (`oldestBlock`), proven blocks (`proofs`), kept states
/// (`keptStates` below the head by the settings, null for all; `oldestState` is the oldest block with one), first block whose state
/// root is compared (`stateComparedFrom`) and size on disk (`diskBytesByKind`: blocks, receipts and indexes; state of the head;
/// earlier states; all versions of trie nodes; the rest).
pub fn answer(node: &Node) -> Answer {
    let chain = node.chain();
    let head = chain.head();
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("network").text(&chain.spec().name);
    json.key("chainId").number(i64::from(chain.spec().chain_id));
    if let Some(genesis) = chain.main_hash(0)? {
        json.key("genesis").hash(&genesis);
    }
    if let Some(fork) = node.fork() {
        json.key("fork").begin_object();
        json.key("host").text(&fork.name());
        json.key("number").number(fork.number().cast_signed());
        json.key("hash").hash(&fork.hash());
        match fork.remote().and_then(|chain| chain.cache_path()) {
            Some(path) => json.key("cache").text(&path),
            None => json.key("cache").null(),
        }
        json.key("requests").number(fork.remote().map_or(0, |chain| chain.requests()).cast_signed());
        json.key("notes").begin_array();
        fork.remote().iter().flat_map(|remote| remote.notes()).for_each(|note| json.text(note));
        json.end_array();
        json.end_object();
    }
    if chain.has_lost_writes()? {
        json.key("warning").text("the write-ahead log of the database is damaged: what was written after the present head is lost. Peers send its blocks again; import other ones again, or restore a copy");
    }
    json.key("number").number(head.number().cast_signed());
    json.key("hash").hash(&head.hash());
    json.key("stateRoot").data(&head.record.block.header.state_root);
    json.key("totalDifficulty").text(&head.record.total_difficulty.to_string());
    let (headers, head_number) = (chain.headers(), head.number());
    let best = headers.tip().filter(|_| headers.best_number() > head_number);
    let (number, hash) = best.map_or((head_number, head.hash()), |tip| (tip.header.number, tip.hash));
    json.key("bestHeader").number(number.cast_signed());
    json.key("bestHeaderHash").hash(&hash);
    if let Some(progress) = chain.stored_state_progress()? {
        json.key("stateDownload").begin_object();
        sync_figures::write_progress(&mut json, &progress);
        json.end_object();
    }
    json.key("highestBlock").number(chain.highest_number()?.cast_signed());
    if let Some(oldest) = chain.oldest_block()? {
        json.key("oldestBlock").number(oldest.number.cast_signed());
    }
    match chain.config().proven_blocks {
        ProvenBlocks::All => json.key("proofs").text("all"),
        ProvenBlocks::Last(blocks) => json.key("proofs").number(blocks.cast_signed()),
    };
    json.key("history").text(&chain.config().history.to_string());
    match chain.kept_states() {
        Some(kept) => json.key("keptStates").number(kept.cast_signed()),
        None => json.key("keptStates").null(),
    }
    let compared_from = chain.config().old_state_roots.compared_from(chain.spec());
    json.key("stateComparedFrom").number(i64::try_from(compared_from).unwrap_or(i64::MAX));
    json.key("oldestState").number(chain.oldest_state().cast_signed());
    let disk = chain.disk_bytes()?;
    json.key("diskBytes").number(disk.total().cast_signed());
    json.key("diskBytesByKind").begin_object();
    json.key("blocks").number(disk.blocks.cast_signed());
    json.key("state").number(disk.state.cast_signed());
    json.key("history").number(disk.history.cast_signed());
    json.key("nodes").number(disk.nodes.cast_signed());
    json.key("snapshots").number(disk.snapshots.cast_signed());
    json.key("other").number(disk.other.cast_signed());
    json.end_object();
    json.end_object();
    Ok(json.finish())
}
