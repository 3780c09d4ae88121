use rocksdb::Options;

/// RocksDB throws an exception here and catches it. Set-up keeps the tables for unwinding of these sources only
/// (`scripts/setup/rocksdb.mjs`).
#[test]
fn text_that_is_not_a_number_is_an_error() {
    for text in ["max_open_files=many", "write_buffer_size=", "block_based_table_factory={block_size=large}"] {
        assert!(Options::default().get_options_from_string(text).is_err(), "{text}");
    }
}
