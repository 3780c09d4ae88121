//! Writes and reads of trie nodes in node files, beside the same nodes as rows of a RocksDB column:
//! `cargo bench -p rhizome-storage --profile release`.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use rhizome_primitives::{B256, Bytes, U256, keccak256};
use rhizome_storage::{BlockWrite, ChainIdentity, NewNodes, Store, StoreOptions, receipts_row};
use rhizome_trie::{MemoryNodes, NodeSource, SourceError, StateDelta, Trie};
use rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, Options, WriteBatch};
use tempfile::TempDir;

/// Blocks of an import with full blocks: each adds some thousand nodes.
const BLOCKS: u64 = 400;
const KEYS_PER_BLOCK: u64 = 800;
/// Keys that are read, each with all nodes of its path.
const READS: u64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let options = StoreOptions::default();
    let dir = TempDir::new()?;
    let identity = ChainIdentity { chain_id: 33, genesis: B256::ZERO };
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    let mut nodes = 0;
    let start = Instant::now();
    {
        let store = Store::open(dir.path(), &identity, &options)?;
        for number in 0..BLOCKS {
            add_keys(&mut trie, number)?;
            let batch = store.commit(&mut trie)?;
            nodes += batch.len() as u64;
            write_block(&store, number, batch.into())?;
        }
        store.flush_nodes()?;
    }
    report("node files: made and written", nodes, start);
    println!("{nodes} nodes");
    let store = Arc::new(Store::open(dir.path(), &identity, &options)?);
    println!("node files: {} MB", store.disk_bytes()?.total() >> 20);
    read_keys("node files: read", trie.root_hash(), store)?;

    let dir = TempDir::new()?;
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    let start = Instant::now();
    {
        let db = DB::open(&column_options(&options), dir.path())?;
        for number in 0..BLOCKS {
            add_keys(&mut trie, number)?;
            let mut batch = WriteBatch::default();
            for (hash, message) in trie.commit() {
                batch.put(hash, message);
            }
            db.write(batch)?;
        }
        db.flush()?;
        db.wait_for_compact(&rocksdb::WaitForCompactOptions::default())?;
    }
    report("RocksDB rows: made and written", nodes, start);
    let db = DB::open(&column_options(&options), dir.path())?;
    println!("RocksDB rows: {} MB", db.live_files()?.iter().map(|file| file.size).sum::<usize>() >> 20);
    read_keys("RocksDB rows: read", trie.root_hash(), Arc::new(Rows(db)))
}

fn report(name: &str, count: u64, start: Instant) {
    println!("{name}: {:.0} /s", count as f64 / start.elapsed().as_secs_f64());
}

/// Adds the keys of the next block to a trie in memory.
fn add_keys(trie: &mut Trie, block: u64) -> Result<(), Box<dyn Error>> {
    let keys = block * KEYS_PER_BLOCK..(block + 1) * KEYS_PER_BLOCK;
    let writes = keys.map(|number| (key(number), Some(value(number)))).collect();
    Ok(trie.apply(&StateDelta { writes, ..StateDelta::default() })?)
}

fn key(number: u64) -> Vec<u8> {
    keccak256(number.to_be_bytes()).to_vec()
}

fn value(number: u64) -> Bytes {
    Bytes::copy_from_slice(&keccak256(number.to_le_bytes())[..20])
}

/// Reads random keys, each in a trie without nodes in memory.
fn read_keys(name: &str, root: B256, source: Arc<dyn NodeSource>) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    for number in (0..READS).map(|number| number * 7_919_993 % (BLOCKS * KEYS_PER_BLOCK)) {
        let found = Trie::open(root, Arc::clone(&source)).get(&key(number))?;
        if found != Some(value(number)) {
            return Err("a key is missing".into());
        }
    }
    report(name, READS, start);
    Ok(())
}

fn write_block(store: &Store, number: u64, nodes: NewNodes) -> Result<(), Box<dyn Error>> {
    store.write_block(BlockWrite {
        hash: keccak256(number.to_be_bytes()),
        number,
        raw: &[],
        total_difficulty: U256::ZERO,
        state_root: B256::ZERO,
        senders: &[],
        transaction_hashes: &[],
        receipts: &[],
        receipts_row: &receipts_row(&[], &[]),
        inner_accounts: None,
        nodes: NewNodes { base_root: Some(B256::ZERO), ..nodes },
        changes: Some(&Arc::default()),
        head_change: None,
    })?;
    Ok(())
}

/// Nodes as rows of a database.
struct Rows(DB);

impl NodeSource for Rows {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        let row = self.0.get_pinned(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })?;
        Ok(row.map(|row| Bytes::copy_from_slice(&row)))
    }
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
