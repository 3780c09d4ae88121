//! A web server for one folder on this machine, with faults.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Fault of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every test that includes this file has every fault")]
pub(crate) enum Fault {
    None,
    /// Sends whole files.
    NoRanges,
    /// Sends half of each part of a file and then nothing.
    Hangs,
    /// Sends half of each part of a file and closes.
    Closes,
    /// Reads requests for a part and does not answer.
    Silent,
    /// Each answer has another entity tag.
    NewTagEachTime,
    /// The last byte of each part is wrong.
    WrongBytes,
    /// Waits before it answers a request for a part.
    Slow,
    /// Answers the first two requests with 503.
    Recovers,
    /// Answers only to the user `Aladdin` with the password `open sesame`.
    Locked,
}

/// Answers each connection on a separate thread until it is dropped.
pub(crate) struct WebServer {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    is_stopped: Arc<AtomicBool>,
}

impl WebServer {
    pub(crate) fn start(folder: &Path, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (folder, count, stopped) = (folder.to_owned(), Arc::clone(&requests), Arc::clone(&is_stopped));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (folder, count) = (folder.clone(), Arc::clone(&count));
                std::thread::spawn(move || answer(stream.unwrap(), &folder, fault, &count));
            }
        });
        Self { address, requests, is_stopped }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    #[allow(dead_code, reason = "not every test that includes this file counts")]
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
    }
}

/// Answers one request and closes.
fn answer(mut stream: TcpStream, folder: &Path, fault: Fault, count: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let headers: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let number = count.fetch_add(1, Ordering::Relaxed);
    let password = "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
    if fault == Fault::Locked && !headers.iter().any(|line| line.eq_ignore_ascii_case(password)) {
        drop(stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        return;
    }
    if fault == Fault::Recovers && number < 2 {
        drop(stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        return;
    }
    let path: PathBuf = folder.join(first.split(' ').nth(1).unwrap().trim_start_matches('/'));
    let Ok(content) = std::fs::read(path) else {
        drop(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        return;
    };
    let range = headers.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let range = range.filter(|_| fault != Fault::NoRanges).and_then(|range| {
        let (start, end) = range.split_once('-')?;
        Some((start.parse::<usize>().ok()?, end.parse::<usize>().ok()?.min(content.len() - 1)))
    });
    let tag = if fault == Fault::NewTagEachTime { number } else { 0 };
    let (status, extra, mut body) = match range {
        Some((start, end)) if start <= end => {
            let range = format!("Content-Range: bytes {start}-{end}/{}\r\n", content.len());
            ("206 Partial Content", range, content[start..=end].to_vec())
        }
        Some(_) => ("416 Range Not Satisfiable", String::new(), Vec::new()),
        None => ("200 OK", String::new(), content),
    };
    if range.is_some() && fault == Fault::Silent {
        let mut rest = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        drop(stream.read_to_end(&mut rest));
        return;
    }
    if range.is_some() && fault == Fault::Slow {
        std::thread::sleep(Duration::from_secs(15));
    }
    let length = body.len();
    if range.is_some() && fault == Fault::WrongBytes {
        *body.last_mut().unwrap() ^= 1;
    }
    if range.is_some() && matches!(fault, Fault::Hangs | Fault::Closes) {
        body.truncate(length / 2);
    }
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"{tag}\"\r\n{extra}Connection: close\r\n\r\n");
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)));
    if range.is_some() && fault == Fault::Hangs {
        std::thread::sleep(Duration::from_secs(5));
    }
}
