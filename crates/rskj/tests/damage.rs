use std::fs;
use std::path::{Path, PathBuf};

use rhizome_primitives::ChainSpec;
use tempfile::TempDir;

use super::{RECORDED, empty_chain, import_all, recorded};

/// Imports a recorded directory that `damage` has changed. Returns the error; nothing may be imported.
fn error_after(kind: &str, damage: impl Fn(&Path)) -> String {
    let dir = recorded(kind);
    damage(&dir.path().join("blocks"));
    let chain = empty_chain(ChainSpec::regtest());
    let error = import_all(&chain, dir.path()).unwrap_err().to_string();
    assert_eq!(chain.head().number(), 0, "{kind}: {error}");
    error
}

/// Returns the largest table.
fn table(blocks: &Path) -> PathBuf {
    let paths = fs::read_dir(blocks).unwrap().map(|entry| entry.unwrap().path());
    let tables = paths.filter(|path| path.extension().is_some_and(|extension| extension == "sst"));
    tables.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}

fn rewrite(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut content = fs::read(path).unwrap();
    change(&mut content);
    fs::write(path, content).unwrap();
}

#[test]
fn a_changed_byte_of_a_table_is_named() {
    for (kind, _) in RECORDED {
        let error = error_after(kind, |blocks| rewrite(&table(blocks), |content| content[5_000] ^= 1));
        assert!(error.contains(".sst") && error.to_lowercase().contains("checksum"), "{error}");
    }
}

#[test]
fn a_truncated_table_is_named() {
    for (kind, _) in RECORDED {
        let error = error_after(kind, |blocks| rewrite(&table(blocks), |content| content.truncate(60_000)));
        assert!(error.contains(".sst"), "{error}");
    }
}

#[test]
fn a_missing_table_is_named() {
    for (kind, _) in RECORDED {
        let error = error_after(kind, |blocks| fs::remove_file(table(blocks)).unwrap());
        assert!(error.contains("000025") || error.contains("000028"), "{error}");
    }
}

#[test]
fn a_damaged_list_of_tables_is_named() {
    let manifest = |blocks: &Path| {
        let names = fs::read_dir(blocks).unwrap().map(|entry| entry.unwrap().path());
        names.into_iter().find(|path| path.to_string_lossy().contains("MANIFEST")).unwrap()
    };
    for (kind, _) in RECORDED {
        let error = error_after(kind, |blocks| rewrite(&manifest(blocks), |content| content[20] ^= 1));
        assert!(error.contains("blocks"), "{error}");
        let error = error_after(kind, |blocks| fs::remove_file(manifest(blocks)).unwrap());
        assert!(error.contains("blocks"), "{error}");
        let error = error_after(kind, |blocks| fs::write(blocks.join("CURRENT"), "x").unwrap());
        assert!(error.contains("blocks"), "{error}");
    }
}

/// Log of each recorded directory.
const LOGS: [(&str, &str); 2] = [("leveldb", "000024.log"), ("rocksdb", "000037.log")];

#[test]
fn a_changed_byte_of_the_log_is_named() {
    for (kind, log) in LOGS {
        for position in [0, 1_000, 18_000] {
            let error = error_after(kind, |blocks| rewrite(&blocks.join(log), |content| content[position] ^= 1));
            let is_named = error.contains(log) || error.contains("*.log");
            assert!(is_named && error.contains("checksum"), "{error}");
        }
    }
}

#[test]
fn a_missing_log_is_named() {
    for (kind, log) in LOGS {
        let error = error_after(kind, |blocks| fs::remove_file(blocks.join(log)).unwrap());
        assert!(error.ends_with(".log: damaged: the log does not exist"), "{error}");
    }
}

#[test]
fn a_log_whose_end_was_not_written_is_read_up_to_there() {
    for (kind, log) in LOGS {
        // In a record, in the header of a record, and before space that was reserved.
        let cuts: [fn(&mut Vec<u8>); 3] =
            [|content| content.truncate(10_000), |content| content.truncate(3), |content| content.extend([0; 40_000])];
        for cut in cuts {
            let dir = recorded(kind);
            rewrite(&dir.path().join("blocks").join(log), cut);
            let chain = empty_chain(ChainSpec::regtest());
            import_all(&chain, dir.path()).unwrap();
            assert!((120..=163).contains(&chain.head().number()), "{kind}: {}", chain.head().number());
        }
    }
}

#[test]
fn a_directory_of_another_network_is_named() {
    for (kind, _) in RECORDED {
        let dir = recorded(kind);
        let chain = empty_chain(ChainSpec::testnet());
        let error = import_all(&chain, dir.path()).unwrap_err().to_string();
        assert!(error.contains("of another network"), "{error}");
    }
}

#[test]
fn a_folder_without_a_table_is_no_data_directory() {
    let dir = TempDir::new().unwrap();
    let chain = empty_chain(ChainSpec::regtest());
    let error = import_all(&chain, dir.path()).unwrap_err().to_string();
    assert!(error.contains("not a data directory of rskj"), "{error}");
}
