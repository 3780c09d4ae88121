//! RocksDB columns and their tuning.
//!
//! | Column | Key | Row |
//! | --- | --- | --- |
//! | `default` | name | layout, identity, head, oldest kept state, first receipts, correction of total difficulties, banned addresses; place in the block log of a fleet, blocks that are not in it yet; original state root and changes of a head whose state was set by hand |
//! | `nodes` | name | list of the node files, which hold the records of trie nodes and long values (code) |
//! | `packs` | sequence number, number and hash of an executed block | for nodes that are not in the node files yet: state root before the block, its new long values |
//! | `packs` | sequence number | nodes of a different write, without places, that are not in the node files yet |
//! | `trie` | position of a node, see `NodePosition::row_key` | message of the node that was there at the last flush |
//! | `values` | Keccak hash; the same with a zero byte | long value (code) of a directory with current nodes only; number of references to it |
//! | `flat` | trie key | value at the head; above 32 bytes its Keccak hash and length, the value itself is stored like a node |
//! | `changes` | number and hash of a block | values before and after the block of all keys that it changed |
//! | `history` | length of a trie key, the key, number of a block of the best chain that changed it | value before the block |
//! | `blocks` | block hash | total difficulty, state root after the block, senders, raw block |
//! | `heights` | number, big-endian | hash, total difficulty and main flag of each block, in order of arrival |
//! | `receipts` | block hash | transaction hashes and receipts, with the numbers of the bits of their blooms |
//! | `transactions` | transaction hash | hash and index of each block that holds it |
//! | `addresses` | address, number of a block of the best chain | indexes of the transactions in which the address takes part |
//! | `calls` | hash of a block that was executed with the index of inner calls | accounts of the inner calls of each transaction |
//! | `logs` | kind, value, shard | blocks of the shard that have such a log |
//! | `headers` | number and hash of a header that was received before its block | difficulty of the chain up to it, header |

use rhizome_primitives::B256;
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, BlockBasedTablePinningTier, Cache, ColumnFamilyDescriptor,
    DBCompressionType, DataBlockIndexType, Error, MergeOperands, Options,
};

use crate::dropped_blocks::DroppedBlocks;
use crate::{history_key, log_shard, record};

pub(crate) const META: &str = rocksdb::DEFAULT_COLUMN_FAMILY_NAME;
pub(crate) const NODES: &str = "nodes";
/// The name on the disk stays, so that existing directories open.
pub(crate) const NODE_BATCHES: &str = "packs";
pub(crate) const TRIE: &str = "trie";
pub(crate) const VALUES: &str = "values";
pub(crate) const FLAT: &str = "flat";
pub(crate) const CHANGES: &str = "changes";
pub(crate) const HISTORY: &str = "history";
pub(crate) const BLOCKS: &str = "blocks";
pub(crate) const HEIGHTS: &str = "heights";
pub(crate) const RECEIPTS: &str = "receipts";
pub(crate) const TRANSACTIONS: &str = "transactions";
pub(crate) const ADDRESSES: &str = "addresses";
pub(crate) const CALLS: &str = "calls";
pub(crate) const LOGS: &str = "logs";
pub(crate) const HEADERS: &str = "headers";
/// Names of all columns.
pub(crate) const NAMES: [&str; 16] = [
    META,
    NODES,
    NODE_BATCHES,
    TRIE,
    VALUES,
    FLAT,
    CHANGES,
    HISTORY,
    BLOCKS,
    HEIGHTS,
    RECEIPTS,
    TRANSACTIONS,
    ADDRESSES,
    CALLS,
    LOGS,
    HEADERS,
];

/// Above the keys of all columns.
pub(crate) const LAST_KEY: [u8; 128] = [0xff; 128];

/// Key of the only row in the column `nodes`.
pub(crate) const NODE_FILES_KEY: &[u8] = b"files";

/// Key of the layout version in the column `default`.
pub(crate) const LAYOUT_KEY: &[u8] = b"layout";
/// Key of the chain identity in the column `default`.
pub(crate) const IDENTITY_KEY: &[u8] = b"identity";
/// Key of the head's hash in the column `default`.
pub(crate) const HEAD_KEY: &[u8] = b"head";

/// Key of the node versions in the column `default`.
pub(crate) const NODE_VERSIONS_KEY: &[u8] = b"node versions";
/// Key of number, hash and state root of the block whose trie is in the column `trie`, in the column `default`.
pub(crate) const FLUSHED_KEY: &[u8] = b"flushed trie";

/// Key of the number of the last block whose changes are in the column `history`, in the column `default`. Empty in a directory without a
/// history.
pub(crate) const HISTORY_END_KEY: &[u8] = b"history end";

/// Key of number and hash of the last header of the best header chain, in the column `default`.
pub(crate) const HEADER_TIP_KEY: &[u8] = b"header tip";

/// Key of the number of the oldest block whose state is kept, in the column `default`.
pub(crate) const OLDEST_STATE_KEY: &[u8] = b"oldest state";

/// Key of the number of the first block whose receipts are stored, in the column `default`. No row: all are.
pub(crate) const FIRST_RECEIPTS_KEY: &[u8] = b"first receipts";

/// Key of the number that is added to the total difficulties of all rows but those of genesis, in the column `default`. No row: zero.
pub(crate) const DIFFICULTY_CORRECTION_KEY: &[u8] = b"difficulty correction";

/// Key of the row, in the column `default`, of a directory whose state is being replaced.
pub(crate) const TAKEOVER_KEY: &[u8] = b"takeover";

/// Key of number, hash and state root of the tip that the head is being moved to, in the column `default`.
pub(crate) const ADOPTED_BRANCH_KEY: &[u8] = b"adopted branch";

/// Key of the row, in the column `default`, of a directory that counts the references to long values.
pub(crate) const COUNTED_VALUES_KEY: &[u8] = b"counted values";

/// Key of number and hash of the last block whose batch moved the address index, in the column `default`.
pub(crate) const ADDRESS_TIP_KEY: &[u8] = b"address index tip";

/// Key of the range of blocks that the address index still misses, in the column `default`.
pub(crate) const MISSING_ADDRESSES_KEY: &[u8] = b"address index missing";

/// Key of the progress of the index of inner calls, in the column `default`: last block, missing blocks, first block.
pub(crate) const CALL_INDEX_KEY: &[u8] = b"call index";

/// Key of the place in the block log of a fleet, in the column `default`.
pub(crate) const LOG_PLACE_KEY: &[u8] = b"log place";

/// Key prefix in the column `default`, followed by number and hash of a block that is not in the block log of a fleet yet.
pub(crate) const UNPUBLISHED_PREFIX: &[u8] = b"unpublished ";

/// Key of the banned addresses in the column `default`.
pub(crate) const BANS_KEY: &[u8] = b"bans";

/// Key prefix in the column `default`, followed by a block hash: the state root that the block's transactions led to,
/// before the state was set by hand, and the changes by hand.
pub(crate) const ORIGINAL_ROOT_PREFIX: &[u8] = b"original root ";

/// Returns the key of the row with the state root that the block's transactions led to.
pub(crate) fn original_root_key(block: &B256) -> Vec<u8> {
    [ORIGINAL_ROOT_PREFIX, block.as_slice()].concat()
}

/// Returns a key that starts with the height: of changes of a block, of a header.
pub(crate) fn position_key(number: u64, hash: &B256) -> [u8; 40] {
    let mut key = [0; 40];
    let (first, last) = key.split_at_mut(8);
    first.copy_from_slice(&number.to_be_bytes());
    last.copy_from_slice(hash.as_slice());
    key
}

/// Returns the key of the row with the number of references to a long value.
pub(crate) fn references_key(hash: &B256) -> [u8; 33] {
    let mut key = [0; 33];
    key[..32].copy_from_slice(hash.as_slice());
    key
}

/// Level-0 files that start a compaction, slow writes down, and stop them. Nearly all keys are hashes, so each compaction rewrites the
/// whole next level.
const NEW_FILES: [i32; 3] = [16, 32, 48];
/// The same for the columns of the state: each read of a key that is absent asks the filters of all these files.
const NEW_STATE_FILES: [i32; 3] = [4, 16, 24];
/// The same for the history near the head, where each read of an old value makes an iterator over each new file: with 14 of them a value
/// takes 27 µs, with one or two 10.
const NEW_HISTORY_FILES: i32 = 2;

/// Returns the option for the number of new files of the history that start a compaction. During an import, which has few readers, more
/// of them do, so that rows are rewritten less often.
pub(crate) fn history_compaction(is_import: bool) -> (&'static str, String) {
    let [during_import, ..] = NEW_FILES;
    let files = if is_import { during_import } else { NEW_HISTORY_FILES };
    ("level0_file_num_compaction_trigger", files.to_string())
}

/// Size of the level between the new files and most rows. The rows of a flush replace rows of all levels, and a compaction needs room
/// for its output beside its input: with 256 MB, and files of 64 MB, a state that grew to 5 million entries took up to 1.7 times its
/// disk; with these sizes 1.3 times, in the same time.
const STATE_LEVEL_BYTES: u64 = 64 << 20;
/// Size of the files of the state, see [`STATE_LEVEL_BYTES`].
pub(crate) const STATE_FILE_BYTES: u64 = 16 << 20;

/// Share of a memtable that its bloom filter takes.
const MEMORY_FILTER_SHARE: f64 = 0.03;

/// Small table blocks: nearly all reads are of one row.
const POINT_BLOCK_BYTES: usize = 4 * 1024;
/// Larger table blocks for columns with large rows, where compression matters more.
const BULK_BLOCK_BYTES: usize = 16 * 1024;

/// Starts the search for the insert position of a new row at the previous one (all keys of a column share the empty
/// prefix). A block writes its rows in key order, which halves the search.
const INSERT_WITH_HINT: &str = "memtable_insert_with_hint_prefix_extractor=fixed:0";

/// Returns the columns with their options. All share one block cache.
pub(crate) fn descriptors(
    cache: &Cache,
    write_buffer_bytes: usize,
    dropped: &DroppedBlocks,
) -> Result<Vec<ColumnFamilyDescriptor>, Error> {
    let column = |name: &str, tune: &dyn Fn(&mut Options, &mut BlockBasedOptions)| {
        Ok(ColumnFamilyDescriptor::new(name, options(cache, write_buffer_bytes, tune)?))
    };
    [
        column(META, &|_, _| {}),
        column(NODES, &|_, _| {}),
        column(NODE_BATCHES, &|options, _| {
            options.set_compression_type(DBCompressionType::None);
            // Batches are deleted soon after they were written: the longer they stay in memory, the fewer reach a
            // file.
            options.set_write_buffer_size(2 * write_buffer_bytes);
        }),
        column(TRIE, &tune_trie),
        column(VALUES, &bulk),
        column(FLAT, &tune_state),
        column(CHANGES, &|options, table| {
            bulk(options, table);
            options.set_compaction_filter("pruned changes", dropped.filter_changes());
        }),
        column(HISTORY, &|options, table| {
            tune_history(options, table);
            options.set_compaction_filter("pruned history", dropped.filter_history());
        }),
        column(BLOCKS, &bulk),
        column(HEIGHTS, &|_, _| {}),
        column(RECEIPTS, &bulk),
        column(TRANSACTIONS, &|options, _| {
            options.set_compression_type(DBCompressionType::None);
            // Hardly any transaction is in more than one block, so there is rarely anything to merge.
            options.set_merge_operator_associative("transaction locations", merge_locations);
        }),
        column(ADDRESSES, &|_, _| {}),
        column(CALLS, &bulk),
        column(LOGS, &|options, _| {
            options.set_merge_operator_associative("log shards", merge_shards);
        }),
        column(HEADERS, &bulk),
    ]
    .into_iter()
    .collect()
}

/// Returns the columns of the rows of a branch.
pub(crate) fn branch_descriptors(
    cache: &Cache,
    write_buffer_bytes: usize,
) -> Result<Vec<ColumnFamilyDescriptor>, Error> {
    let column = |name| Ok(ColumnFamilyDescriptor::new(name, options(cache, write_buffer_bytes, &|_, _| {})?));
    [FLAT, TRIE].into_iter().map(column).collect()
}

/// Returns options for files that are written for the column `history`.
pub(crate) fn history_file_options(cache: &Cache) -> Result<Options, Error> {
    options(cache, 0, &tune_history)
}

/// Returns options for files that are written for a column of the state: `trie`, `flat` or `values`.
pub(crate) fn state_file_options(cache: &Cache, column: &str) -> Result<Options, Error> {
    match column {
        TRIE => options(cache, 0, &tune_trie),
        FLAT => options(cache, 0, &tune_state),
        _ => options(cache, 0, &bulk),
    }
}

/// Tunes a column of the state, which each block reads. Filters and indexes stay in memory, about two bytes a row. Each file has one
/// filter: the search for the right part of a filter took a tenth of the processor time of a block with 818 new keys.
fn tune_state(options: &mut Options, table: &mut BlockBasedOptions) {
    limit_new_files(NEW_STATE_FILES, options);
    options.set_max_bytes_for_level_base(STATE_LEVEL_BYTES);
    options.set_target_file_size_base(STATE_FILE_BYTES);
    table.set_partition_filters(false);
    table.set_unpartitioned_pinning_tier(BlockBasedTablePinningTier::All);
    table.set_partition_pinning_tier(BlockBasedTablePinningTier::All);
    options.set_memtable_prefix_bloom_ratio(MEMORY_FILTER_SHARE);
    options.set_memtable_whole_key_filtering(true);
}

fn limit_new_files([compacted, slowed, stopped]: [i32; 3], options: &mut Options) {
    options.set_level_zero_file_num_compaction_trigger(compacted);
    options.set_level_zero_slowdown_writes_trigger(slowed);
    options.set_level_zero_stop_writes_trigger(stopped);
}

fn tune_trie(options: &mut Options, table: &mut BlockBasedOptions) {
    tune_state(options, table);
    // Mostly hashes.
    options.set_compression_type(DBCompressionType::None);
    // Nearly all reads are of rows that exist, mostly in files.
    options.set_optimize_filters_for_hits(true);
}

fn tune_history(options: &mut Options, table: &mut BlockBasedOptions) {
    options.set_level_zero_file_num_compaction_trigger(NEW_HISTORY_FILES);
    // Rows are found by a seek to a trie key, never by their whole key.
    options.set_prefix_extractor(history_key::prefix());
    options.set_memtable_prefix_bloom_ratio(MEMORY_FILTER_SHARE);
    table.set_whole_key_filtering(false);
    table.set_data_block_index_type(DataBlockIndexType::BinarySearch);
}

fn options(
    cache: &Cache,
    write_buffer_bytes: usize,
    tune: &dyn Fn(&mut Options, &mut BlockBasedOptions),
) -> Result<Options, Error> {
    let mut table = table(cache);
    let mut options = Options::default().get_options_from_string(INSERT_WITH_HINT)?;
    limit_new_files(NEW_FILES, &mut options);
    options.set_write_buffer_size(write_buffer_bytes);
    options.set_max_write_buffer_number(3);
    options.set_level_compaction_dynamic_level_bytes(true);
    options.set_compression_type(DBCompressionType::Lz4);
    tune(&mut options, &mut table);
    options.set_block_based_table_factory(&table);
    Ok(options)
}

/// Tunes a column with rows of many kilobytes that compress well (blooms are mostly zero) and are seldom read once
/// they are old.
fn bulk(options: &mut Options, table: &mut BlockBasedOptions) {
    table.set_block_size(BULK_BLOCK_BYTES);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
}

fn table(cache: &Cache) -> BlockBasedOptions {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(POINT_BLOCK_BYTES);
    table.set_format_version(5);
    table.set_bloom_filter(10.0, false);
    table.set_whole_key_filtering(true);
    table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
    // Indexes and filters count against the cache: memory stays bounded for a chain of any length. In parts, because the cache is
    // divided: the whole filter of a file of 64 MB is larger than a division of a small cache, so each read would load it again.
    table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    table.set_partition_filters(true);
    table.set_metadata_block_size(POINT_BLOCK_BYTES);
    table.set_cache_index_and_filter_blocks(true);
    table.set_cache_index_and_filter_blocks_with_high_priority(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    table.set_optimize_filters_for_memory(true);
    table
}

fn merge_locations(_key: &[u8], existing: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    Some(record::merge_locations(existing, operands.iter()))
}

fn merge_shards(_key: &[u8], existing: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    Some(log_shard::merge(existing, operands.iter()))
}
