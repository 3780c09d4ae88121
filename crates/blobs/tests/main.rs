//! Locations on disk and on web servers, with faulty servers on this machine.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod web_server;

use std::time::Duration;

use rhizome_blobs::{BlobError, BlobLimits, BlobStore};
use web_server::{Fault, WebServer};

fn quick() -> BlobLimits {
    BlobLimits {
        connect: Duration::from_secs(1),
        request: Duration::from_secs(1),
        retries: 1,
        retry_time: Duration::from_secs(2),
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("numbers"), (0..=255).collect::<Vec<u8>>()).unwrap();
    folder
}

#[test]
fn a_folder_is_written_listed_and_read_in_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let location = BlobStore::create(path.to_str().unwrap(), quick()).unwrap();
    location.write("small", b"abc".to_vec()).unwrap();
    let mut writer = location.writer("large").unwrap();
    let chunk = vec![7; 1 << 20];
    for _ in 0..20 {
        writer.write(&chunk).unwrap();
    }
    let length = writer.length();
    writer.finish().unwrap();
    let mut names: Vec<_> = location.list().unwrap().into_iter().map(|entry| (entry.name, entry.length)).collect();
    names.sort();
    assert_eq!(names, [("large".to_owned(), length), ("small".to_owned(), 3)]);
    assert_eq!(location.file("small", 3).read(1..3).unwrap(), b"bc");
    assert_eq!(location.file("large", length).read(length - 2..length).unwrap(), [7, 7]);
    assert!(matches!(location.read_all("large", 100), Err(BlobError::TooLong { .. })));
    assert!(matches!(location.file("small", 4).read(0..1), Err(BlobError::Length { actual: 3, .. })));
    assert!(matches!(location.file("small", 3).read(2..4), Err(BlobError::Length { .. })));
    location.remove("small").unwrap();
    location.remove("small").unwrap();
    assert!(matches!(location.read_all("small", 100), Err(BlobError::NotFound { .. })));
}

#[test]
fn files_of_killed_writers_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let location = BlobStore::create(folder.path().to_str().unwrap(), quick()).unwrap();
    for name in ["own#1", "own#0", "own#x", "other#1", "own"] {
        std::fs::write(folder.path().join(name), b"x").unwrap();
    }
    location.remove_unfinished(&|name| name == "own").unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["other#1", "own", "own#x"]);
}

#[test]
fn a_cancelled_location_resumes() {
    let folder = folder();
    let location = BlobStore::open(folder.path().to_str().unwrap(), quick()).unwrap();
    location.cancel();
    assert!(matches!(location.read_all("numbers", 256), Err(BlobError::Cancelled { .. })));
    location.resume();
    assert_eq!(location.read_all("numbers", 256).unwrap().len(), 256);
}

#[test]
fn a_missing_folder_is_not_found() {
    assert!(matches!(BlobStore::open("/nonexistent/folder", quick()), Err(BlobError::NotFound { .. })));
}

#[test]
fn a_web_server_is_read_in_ranges_and_not_written() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::None);
    let location = BlobStore::open(&server.url(), quick()).unwrap();
    assert_eq!(location.file("numbers", 256).read(10..13).unwrap(), [10, 11, 12]);
    assert_eq!(location.read_all("numbers", 256).unwrap().len(), 256);
    assert!(matches!(location.read_all("numbers", 255), Err(BlobError::TooLong { .. })));
    assert!(matches!(location.read_all("other", 255), Err(BlobError::NotFound { .. })));
    assert!(matches!(location.write("x", vec![1]), Err(BlobError::ReadOnly { .. })));
    assert!(matches!(location.list(), Err(BlobError::ReadOnly { .. })));
}

#[test]
fn a_server_without_ranges_is_named() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::NoRanges);
    let location = BlobStore::open(&server.url(), quick()).unwrap();
    assert!(matches!(location.file("numbers", 256).read(10..13), Err(BlobError::NoRanges { .. })));
}

#[test]
fn a_server_that_recovers_is_not_taken_for_one_without_ranges() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::Recovers);
    let file = BlobStore::open(&server.url(), quick()).unwrap().file("numbers", 256);
    let error = file.read(10..13).unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(file.read(10..13).unwrap(), [10, 11, 12]);
}

#[test]
fn a_server_that_stops_in_the_middle_of_an_answer_ends_in_an_error_in_time() {
    let folder = folder();
    for fault in [Fault::Hangs, Fault::Closes, Fault::Silent] {
        let server = WebServer::start(folder.path(), fault);
        let location = BlobStore::open(&server.url(), quick()).unwrap();
        let started = std::time::Instant::now();
        let error = location.file("numbers", 256).read(0..200).unwrap_err();
        assert!(
            matches!(error, BlobError::Failed { .. } | BlobError::Stopped { .. } | BlobError::Incomplete { .. }),
            "{error}"
        );
        assert!(started.elapsed() < Duration::from_secs(10), "{fault:?}");
    }
}

#[test]
fn a_file_that_changes_between_two_reads_is_named() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::NewTagEachTime);
    let location = BlobStore::open(&server.url(), quick()).unwrap();
    let file = location.file("numbers", 256);
    assert_eq!(file.read(0..2).unwrap(), [0, 1]);
    assert!(matches!(file.read(2..4), Err(BlobError::Changed { .. })));
}

#[test]
fn a_file_of_another_length_is_named() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::None);
    let location = BlobStore::open(&server.url(), quick()).unwrap();
    let error = location.file("numbers", 300).read(0..2).unwrap_err();
    assert!(matches!(error, BlobError::Length { expected: 300, actual: 256, .. }), "{error}");
}

#[test]
fn credentials_of_a_url_are_not_printed() {
    let location = BlobStore::open("http://user:secret@127.0.0.1:1/a@b/c", quick()).unwrap();
    assert_eq!(location.name(), "http://127.0.0.1:1/a@b/c");
    for url in ["http://user:secret@127.0.0.1:1/a?sig=secret", "HTTPS://user:secret@127.0.0.1:1/a?sig=secret#x"] {
        let error = BlobStore::open(url, quick()).unwrap().read_all("x", 9).unwrap_err().to_string();
        assert!(error.contains("://127.0.0.1:1/a/x: Connection refused"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let error = BlobStore::open("http://user:secret@:x/?sig=secret", quick()).err().unwrap().to_string();
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn credentials_of_a_url_are_sent() {
    let folder = folder();
    let server = WebServer::start(folder.path(), Fault::Locked);
    let url = server.url();
    let error = BlobStore::open(&url, quick()).unwrap().read_all("numbers", 256).unwrap_err().to_string();
    assert!(error.contains("401 Unauthorized"), "{error}");
    let location = BlobStore::open(&url.replace("http://", "HTTP://Aladdin:open%20sesame@"), quick()).unwrap();
    assert_eq!(location.read_all("numbers", 256).unwrap().len(), 256);
    assert_eq!(location.file("numbers", 256).read(10..13).unwrap(), [10, 11, 12]);
}

#[test]
fn schemes_have_no_case() {
    let server = "127.0.0.1:1";
    assert_eq!(BlobStore::open(&format!("HttpS://{server}/A"), quick()).unwrap().name(), "https://127.0.0.1:1/A");
    assert_eq!(BlobStore::open("S3://bucket/A", quick()).unwrap().name(), "s3://bucket/A");
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    assert_eq!(BlobStore::open(&format!("FILE://{path}"), quick()).unwrap().name(), path);
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_a_folder_are_read() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(path("numbers"), path("link")).unwrap();
    std::os::unix::fs::symlink("/dev/null", path("device")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    let location = BlobStore::open(folder.path().to_str().unwrap(), quick()).unwrap();
    assert_eq!(location.read_all("link", 256).unwrap().len(), 256);
    for name in ["device", "pipe"] {
        let errors = [location.read_all(name, 256).unwrap_err(), location.file(name, 256).read(0..1).unwrap_err()];
        for error in errors {
            assert!(error.to_string().ends_with(&format!("{name}: not a regular file")), "{error}");
        }
    }
}
