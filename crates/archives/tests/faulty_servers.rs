use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rhizome_archives::{ArchiveError, OpenArchive};
use rhizome_blobs::{BlobLimits, BlobStore};

use crate::web_server::{Fault, WebServer};
use crate::{CHAIN, Written, empty_chain, import, write};

const FAULTS: [Fault; 6] =
    [Fault::NoRanges, Fault::Hangs, Fault::Closes, Fault::Silent, Fault::NewTagEachTime, Fault::WrongBytes];

#[test]
fn a_faulty_server_ends_an_import_with_an_error_and_without_blocks() {
    let written = Written::new();
    for fault in FAULTS {
        let server = WebServer::start(&written.path(), fault);
        let chain = empty_chain(CHAIN);
        let error = import(&chain, &[&server.url()]).unwrap_err();
        assert!(matches!(&error, ArchiveError::Unavailable { .. }), "{fault:?}: {error}");
        assert_eq!(chain.head().number(), 0, "{fault:?}");
    }
}

#[test]
fn a_good_archive_replaces_a_faulty_one() {
    let written = Written::new();
    for fault in FAULTS {
        let server = WebServer::start(&written.path(), fault);
        let chain = empty_chain(CHAIN);
        import(&chain, &[&server.url(), &written.name()]).unwrap();
        assert!(server.requests() > 0, "{fault:?}");
        assert_eq!(chain.head().record.hash, written.chain.head().record.hash, "{fault:?}");
    }
}

#[test]
fn damage_that_another_archive_made_good_is_named_once() {
    let written = Written::new();
    for fault in [Fault::NoRanges, Fault::WrongBytes] {
        let server = WebServer::start(&written.path(), fault);
        // The good archive may be faster and deliver both groups.
        let refused = (0..50).find_map(|_| {
            let imported = import(&empty_chain(CHAIN), &[&server.url(), &written.name()]).unwrap();
            (!imported.refused.is_empty()).then_some(imported.refused)
        });
        let refused = refused.unwrap();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].to_string().contains(&server.url()), "{refused:?}");
    }
}

#[test]
fn archives_that_end_lower_are_read_to_their_end() {
    let written = Written::new();
    let folder = tempfile::tempdir().unwrap();
    let lower = folder.path().join("archive");
    write(&written.chain, &lower, 280).unwrap();
    for fault in [Fault::NoRanges, Fault::WrongBytes] {
        let server = WebServer::start(&written.path(), fault);
        let chain = empty_chain(CHAIN);
        let imported = import(&chain, &[&server.url(), lower.to_str().unwrap()]).unwrap();
        assert_eq!((chain.head().number(), imported.first), (280, 0), "{fault:?}");
        assert!(
            imported.refused.iter().any(|fault| fault.to_string().contains(&server.url())),
            "{:?}",
            imported.refused
        );
    }
}

#[test]
fn all_failures_are_named_if_no_archive_has_a_block() {
    let written = Written::new();
    let servers = [Fault::NoRanges, Fault::WrongBytes].map(|fault| WebServer::start(&written.path(), fault));
    let error = import(&empty_chain(CHAIN), &[&servers[0].url(), &servers[1].url()]).unwrap_err().to_string();
    assert!(servers.iter().all(|server| error.contains(&server.url())), "{error}");
}

#[test]
fn a_slow_archive_does_not_slow_down_a_fast_one() {
    let written = Written::new();
    let server = WebServer::start(&written.path(), Fault::Slow);
    let chain = empty_chain(CHAIN);
    let open =
        |location: &str| OpenArchive::open(BlobStore::open(location, BlobLimits::default()).unwrap(), None).unwrap();
    let archives = [open(&server.url()), open(&written.name())];
    let started = Instant::now();
    let imported = rhizome_archives::import(&chain, &archives, &|| false, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(chain.head().record.hash, written.chain.head().record.hash);
    assert!(imported.refused.is_empty(), "{:?}", imported.refused);
    assert!(started.elapsed() < Duration::from_secs(12));
}

#[test]
fn an_import_from_a_silent_server_stops_at_once() {
    let written = Written::new();
    let server = WebServer::start(&written.path(), Fault::Silent);
    let chain = empty_chain(CHAIN);
    let location = BlobStore::open(&server.url(), BlobLimits::default()).unwrap();
    let archives = [OpenArchive::open(location, None).unwrap()];
    let started = Instant::now();
    let is_stopped = || started.elapsed() > Duration::from_millis(300);
    let imported = rhizome_archives::import(&chain, &archives, &is_stopped, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(imported.blocks, 0);
    assert!(started.elapsed() < Duration::from_secs(5));
}
