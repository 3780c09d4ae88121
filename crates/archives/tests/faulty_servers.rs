use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rhizome_archives::{ArchiveError, OpenArchive};
use rhizome_blobs::{BlobLimits, BlobStore};

use crate::web_server::{Fault, WebServer};
use crate::{CHAIN, Written, empty_chain, import};

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
