use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use rhizome_archives::{ArchiveError, verify};
use rhizome_blobs::BlobError;

use crate::{CHAIN, Written, empty_chain, golden_chain, import, open, spec, write};

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Asserts that neither an import nor a verification accepts an archive, and that nothing is imported.
fn assert_refused(written: &Written, is_expected: impl Fn(&ArchiveError) -> bool) {
    let chain = empty_chain(CHAIN);
    let error = import(&chain, &[&written.name()]).unwrap_err();
    let faults = match &error {
        ArchiveError::Unavailable { faults, .. } => faults.iter().collect(),
        other => vec![other],
    };
    assert!(faults.into_iter().any(&is_expected), "{error}");
    assert_eq!(chain.head().number(), 0);
    let verified =
        open(&written.name()).and_then(|archive| verify(&archive, &spec(CHAIN), |_| ControlFlow::Continue(())));
    let error = verified.unwrap_err();
    assert!(is_expected(&error), "{error}");
}

fn is_damaged(error: &ArchiveError) -> bool {
    matches!(error, ArchiveError::Damaged { .. })
}

#[test]
fn each_changed_byte_of_a_manifest_is_found() {
    let written = Written::new();
    let path = written.path().join("manifest");
    let good = fs::read(&path).unwrap();
    for position in 0..good.len() {
        change(&path, |bytes| bytes[position] ^= 1);
        assert!(matches!(open(&written.name()), Err(ArchiveError::Damaged { .. })), "byte {position}");
        fs::write(&path, &good).unwrap();
    }
}

#[test]
fn each_truncated_manifest_is_found() {
    let written = Written::new();
    let path = written.path().join("manifest");
    let good = fs::read(&path).unwrap();
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        assert!(matches!(open(&written.name()), Err(ArchiveError::Damaged { .. })), "{length} bytes");
    }
}

#[test]
fn a_damaged_part_is_found_and_nothing_of_its_group_is_imported() {
    let written = Written::new();
    change(&written.file(), |bytes| bytes[100] ^= 1);
    assert_refused(&written, is_damaged);
}

#[test]
fn a_damaged_index_is_found() {
    let written = Written::new();
    change(&written.file(), |bytes| *bytes.last_mut().unwrap() ^= 1);
    assert_refused(&written, is_damaged);
}

#[test]
fn a_truncated_file_is_found() {
    let written = Written::new();
    change(&written.file(), |bytes| bytes.truncate(bytes.len() - 1));
    assert_refused(&written, |error| {
        matches!(error, ArchiveError::Blob(BlobError::Length { .. } | BlobError::Failed { .. }))
    });
}

#[test]
fn a_missing_file_is_named() {
    let written = Written::new();
    fs::remove_file(written.file()).unwrap();
    assert_refused(&written, |error| matches!(error, ArchiveError::Blob(BlobError::NotFound { .. })));
}

#[test]
fn an_archive_of_another_network_is_refused_before_any_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    write(&golden_chain("min-gas", u64::MAX), &path, u64::MAX).unwrap();
    let name = path.to_str().unwrap();
    let chain = empty_chain(CHAIN);
    assert!(matches!(import(&chain, &[name]), Err(ArchiveError::Network { .. })));
    assert_eq!(chain.head().number(), 0);
    // Nor is one continued.
    let written = Written::new();
    assert!(matches!(write(&written.chain, &path, 3), Err(ArchiveError::Network { .. })));
}
