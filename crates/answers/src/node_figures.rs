//! Statistics of the node.

use crate::error::{Answer, write_fault_text};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::{fleet_figures, network_figures, sync_figures};
use rhizome_chain::{SubPool, UpkeepTask};

/// Statistics of one executor: a pool of threads with a queue.
#[derive(Clone, Copy, Debug)]
pub struct ExecutorStats {
    /// E.g. `pool`.
    pub name: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Jobs that wait for a thread.
    pub waiting: usize,
    /// Jobs that a thread works on.
    pub running: usize,
    /// Jobs that found no room, since the start.
    pub refused: u64,
}

/// Head (`timestamp` in seconds), highest block that is stored or in an archive that is imported, transactions in the pool, synchronization, connections, executors, caches, sizes of the database in bytes.
/// All of it is read from memory: it may be asked for every second.
pub fn answer(node: &Node, executors: &[ExecutorStats]) -> Answer {
    let chain = node.chain();
    let head = chain.head();
    let store = chain.store_figures()?;
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_object();
    json.key("number").number(head.number().cast_signed());
    json.key("hash").hash(&head.hash());
    json.key("timestamp").number(head.record.block.header.timestamp.cast_signed());
    let archived = node.archive_import().map_or(0, |(_, last)| last);
    json.key("highestBlock").number(chain.highest_number()?.max(archived).cast_signed());
    for (name, kind) in [("pendingTransactions", SubPool::Pending), ("queuedTransactions", SubPool::Queued)] {
        json.key(name).raw(chain.pool().count(kind).to_string().as_bytes());
    }
    match chain.blocks_missing_in_address_index()? {
        Some(missing) => json.key("missingInAddressIndex").number(missing.cast_signed()),
        None => json.key("missingInAddressIndex").null(),
    };
    match chain.unindexed_calls()? {
        Some(calls) => {
            json.key("indexedCalls").begin_object();
            json.key("missing").number(calls.missing.cast_signed());
            json.key("completeFrom").number(calls.complete_from.cast_signed());
            json.end_object();
        }
        None => json.key("indexedCalls").null(),
    }
    sync_figures::write(&mut json, node);
    network_figures::write(&mut json, node);
    fleet_figures::write(&mut json, node);
    json.key("lanes").begin_object();
    for executor in executors {
        json.key(executor.name).begin_object();
        json.key("threads").raw(executor.threads.to_string().as_bytes());
        json.key("waiting").raw(executor.waiting.to_string().as_bytes());
        json.key("running").raw(executor.running.to_string().as_bytes());
        json.key("refused").raw(executor.refused.to_string().as_bytes());
        json.end_object();
    }
    json.end_object();
    let (blocks, receipts) = chain.cache_reads();
    let caches = [
        ("answers", node.caches().texts.reads()),
        ("blocks", blocks),
        ("receipts", receipts),
        ("values", store.value_cache_reads),
    ];
    json.key("caches").begin_object();
    for (name, reads) in caches {
        json.key(name).begin_object();
        json.key("hits").raw(reads.hits.to_string().as_bytes());
        json.key("misses").raw(reads.misses.to_string().as_bytes());
        json.end_object();
    }
    json.end_object();
    let upkeep = chain.upkeep();
    json.key("upkeep").begin_object();
    json.key("oldestState").number(chain.oldest_state().cast_signed());
    json.key("trieNodes").number(upkeep.trie_nodes.cast_signed());
    json.key("trieEvictions").number(upkeep.evictions.cast_signed());
    json.key("failures").begin_object();
    for (task, reason) in &upkeep.failures {
        let name = match task {
            UpkeepTask::Pruning => "pruning",
            UpkeepTask::Snapshots => "snapshots",
            UpkeepTask::AddressIndex => "addressIndex",
        };
        json.key(name).text(reason);
    }
    json.end_object();
    json.end_object();
    json.key("store").begin_object();
    json.key("blockCacheBytes").number(store.block_cache_bytes.cast_signed());
    json.key("valueCacheBytes").number(store.value_cache_bytes.cast_signed());
    json.key("pinnedBytes").number(store.pinned_bytes.cast_signed());
    json.key("compactions").number(store.compactions.cast_signed());
    json.key("writeBufferBytes").number(store.write_buffer_bytes.cast_signed());
    json.key("fileBytes").number(store.file_bytes.cast_signed());
    json.key("compactionBytes").number(store.compaction_bytes.cast_signed());
    match &store.write_fault {
        Some(fault) => json.key("writeFault").text(write_fault_text(fault.is_full)),
        None => json.key("writeFault").null(),
    };
    json.key("isWriteStopped").raw(if store.is_write_stopped { b"true" } else { b"false" });
    json.end_object();
    json.end_object();
    Ok(json.finish())
}
