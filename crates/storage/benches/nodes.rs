//! Writes and reads of trie nodes in node files, beside the same nodes as rows of a RocksDB column:
//! `cargo bench -p rhizome-storage --profile release`.

use std::error::Error;
use std::time::Instant;

use rhizome_primitives::{B256, Bytes, U256, keccak256};
use rhizome_storage::{BlockWrite, ChainIdentity, Store, StoreOptions};
use rhizome_trie::NodeBatch;
use rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, Options, WriteBatch};
use tempfile::TempDir;

/// Blocks of an import with full blocks: each adds several thousand nodes.
const BLOCKS: u64 = 400;
const NODES_PER_BLOCK: u64 = 5000;
const READS: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let options = StoreOptions::default();
    let dir = TempDir::new()?;
    let identity = ChainIdentity { chain_id: 33, genesis: B256::ZERO };
    let start = Instant::now();
    {
        let store = Store::open(dir.path(), &identity, &options)?;
        for number in 0..BLOCKS {
            write_block(&store, number)?;
        }
    }
    report("node files: written", BLOCKS * NODES_PER_BLOCK, start);
    let store = Store::open(dir.path(), &identity, &options)?;
    println!("node files: {} MB", store.disk_bytes()?.total() >> 20);
    let start = Instant::now();
    for number in sample() {
        store.node(&keccak256(message(number)))?.ok_or("a node is missing")?;
    }
    report("node files: read", READS, start);

    let dir = TempDir::new()?;
    let start = Instant::now();
    {
        let db = DB::open(&column_options(&options), dir.path())?;
        for number in 0..BLOCKS {
            let mut batch = WriteBatch::default();
            for (hash, message) in nodes(number) {
                batch.put(hash, message);
            }
            db.write(batch)?;
        }
        db.flush()?;
        db.wait_for_compact(&rocksdb::WaitForCompactOptions::default())?;
    }
    report("RocksDB rows: written", BLOCKS * NODES_PER_BLOCK, start);
    let db = DB::open(&column_options(&options), dir.path())?;
    println!("RocksDB rows: {} MB", db.live_files()?.iter().map(|file| file.size).sum::<usize>() >> 20);
    let start = Instant::now();
    for number in sample() {
        db.get_pinned(keccak256(message(number)))?.ok_or("a node is missing")?;
    }
    report("RocksDB rows: read", READS, start);
    Ok(())
}

fn report(name: &str, count: u64, start: Instant) {
    println!("{name}: {:.0} /s", count as f64 / start.elapsed().as_secs_f64());
}

fn write_block(store: &Store, number: u64) -> Result<(), Box<dyn Error>> {
    let nodes: NodeBatch = nodes(number).collect();
    store.write_block(BlockWrite {
        hash: keccak256(number.to_be_bytes()),
        number,
        raw: &[],
        total_difficulty: U256::ZERO,
        state_root: B256::ZERO,
        senders: &[],
        transaction_hashes: &[],
        receipts: &[],
        encoded_receipts: &[],
        inner_accounts: None,
        nodes: nodes.into(),
        changes: None,
        head_change: None,
    })?;
    Ok(())
}

fn nodes(block: u64) -> impl Iterator<Item = (B256, Bytes)> {
    (block * NODES_PER_BLOCK..).take(NODES_PER_BLOCK as usize).map(|number| {
        let message = message(number);
        (keccak256(&message), message.into())
    })
}

/// A message of 104 bytes that does not compress, like those of inner nodes.
fn message(number: u64) -> Vec<u8> {
    let mut message = number.to_be_bytes().to_vec();
    (0..3_u8).for_each(|part| message.extend_from_slice(keccak256([&message[..8], &[part]].concat()).as_slice()));
    message
}

fn sample() -> impl Iterator<Item = u64> {
    (0..READS).map(|number| number * 7_919_993 % (BLOCKS * NODES_PER_BLOCK))
}

/// Tuning for point reads, close to that of `columns.rs`. Filters and indexes are in memory in addition to the cache.
fn column_options(store: &StoreOptions) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(&Cache::new_lru_cache(store.cache_bytes));
    table.set_block_size(4096);
    table.set_bloom_filter(10.0, false);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::None);
    options.set_write_buffer_size(store.write_buffer_bytes / 2);
    options.set_max_write_buffer_number(3);
    options.set_max_background_jobs(2);
    options.set_level_zero_file_num_compaction_trigger(16);
    options.set_level_compaction_dynamic_level_bytes(true);
    options
}
