use std::ops::ControlFlow;

use rhizome_archives::{ArchiveError, OpenArchive, verify};
use rhizome_blobs::{BlobStore, PublisherKey, SigningKey};

use crate::web_server::{Fault, WebServer};
use crate::{CHAIN, Written, empty_chain, golden_chain, import, limits, open, spec, write};

#[test]
fn an_imported_archive_leads_to_the_same_chain() {
    let written = Written::new();
    let head = written.chain.head();
    let chain = empty_chain(CHAIN);
    let imported = import(&chain, &[&written.name()]).unwrap();
    assert_eq!((imported.first, imported.blocks), (0, head.number() + 1));
    assert_eq!(chain.head().record.hash, head.record.hash);
    assert_eq!(chain.head().record.state_root, head.record.state_root);
    assert_eq!(import(&chain, &[&written.name()]).unwrap().blocks, 0);
}

#[test]
fn an_archive_is_valid_without_execution() {
    let written = Written::new();
    let archive = open(&written.name()).unwrap();
    let verified = verify(&archive, &spec(CHAIN), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.blocks, written.chain.head().number() + 1);
}

#[test]
fn a_longer_chain_replaces_the_incomplete_file() {
    let written = Written::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    assert_eq!(write(&golden_chain(CHAIN, 5), &path, u64::MAX).unwrap().manifest.last(), Some(5));
    let again = write(&written.chain, &path, 7).unwrap();
    assert_eq!((again.written, again.manifest.last()), (1, Some(7)));
    // The key in the folder beside it, the manifest and one file.
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 2);
    assert_eq!(write(&written.chain, &path, 7).unwrap().written, 0);
}

#[test]
fn an_archive_without_blocks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let name = path.to_str().unwrap();
    write(&golden_chain(CHAIN, 5), &path, 5).unwrap();
    // The manifest without its file: head, key, signature.
    let mut manifest = std::fs::read(path.join("manifest")).unwrap();
    manifest.truncate(manifest.len() - 64);
    manifest.drain(52..52 + 108);
    manifest[48..52].fill(0);
    let signature = SigningKey::read_or_create(&path.with_extension("key")).unwrap().sign(&manifest);
    std::fs::write(path.join("manifest"), [&manifest, signature.as_slice()].concat()).unwrap();
    let archive = open(name).unwrap();
    let verified = verify(&archive, &spec(CHAIN), |_| ControlFlow::Continue(()));
    for error in [verified.err().unwrap(), import(&empty_chain(CHAIN), &[name]).unwrap_err()] {
        assert_eq!(error.to_string(), format!("{name}: an archive without blocks"));
    }
}

#[test]
fn an_import_continues_above_the_head() {
    let written = Written::new();
    let chain = golden_chain(CHAIN, 5);
    import(&chain, &[&written.name()]).unwrap();
    assert_eq!(chain.head().record.hash, written.chain.head().record.hash);
}

#[test]
fn an_import_that_was_stopped_continues() {
    let written = Written::new();
    let chain = empty_chain(CHAIN);
    let archives = [open(&written.name()).unwrap()];
    let stop = |line: &rhizome_chain::ImportedLine| {
        if line.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    rhizome_archives::import(&chain, &archives, &|| false, stop).unwrap();
    assert!(chain.head().number() >= 3);
    import(&chain, &[&written.name()]).unwrap();
    assert_eq!(chain.head().record.hash, written.chain.head().record.hash);
}

#[test]
fn several_locations_are_read_at_once() {
    let written = Written::new();
    let server = WebServer::start(&written.path(), Fault::None);
    let chain = empty_chain(CHAIN);
    import(&chain, &[&server.url(), &written.name()]).unwrap();
    assert_eq!(chain.head().record.hash, written.chain.head().record.hash);
}

#[test]
fn only_the_trusted_publisher_is_accepted() {
    let written = Written::new();
    let other = Written::new();
    let publisher = open(&written.name()).unwrap().manifest().publisher;
    let trusted: PublisherKey = publisher.to_string().parse().unwrap();
    let trusting = |name: &str| OpenArchive::open(BlobStore::open(name, limits()).unwrap(), Some(trusted));
    assert!(trusting(&written.name()).is_ok());
    assert!(matches!(trusting(&other.name()), Err(ArchiveError::Publisher { .. })));
    // Another publisher does not continue an archive.
    std::fs::remove_file(written.path().with_extension("key")).unwrap();
    assert!(matches!(write(&written.chain, &written.path(), 3), Err(ArchiveError::Publisher { .. })));
    assert!("02".parse::<PublisherKey>().is_err());
}
