//! Files of a web server or an S3 bucket.

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetResult, HeaderMap, MultipartUpload, ObjectStore, ObjectStoreExt, PutMultipartOptions,
};
use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::credentials::basic_authorization;
use crate::error::BlobError;
use crate::limits::BlobLimits;

/// A server of files, with the thread of its connections.
pub(crate) struct Server {
    store: ServerClient,
    /// Path of the files.
    prefix: Path,
    runtime: Runtime,
    limits: BlobLimits,
    cancelled: Arc<watch::Sender<bool>>,
}

/// Clients of servers. Not a trait object, which would link all methods of each client.
enum ServerClient {
    Http(HttpStore),
    S3(Box<AmazonS3>),
}

impl Server {
    /// Returns the client of a web server. `credentials`: user and password as in a URL, or empty. Connects to nothing.
    pub(crate) fn http(
        url: &str,
        credentials: &str,
        limits: BlobLimits,
        cancelled: Arc<watch::Sender<bool>>,
    ) -> Result<Self, Error> {
        let mut client = limits.client();
        // The client does not send those of its URL.
        if let Some(value) = basic_authorization(credentials) {
            let mut headers = HeaderMap::new();
            headers.insert("authorization", value);
            client = client.with_default_headers(headers);
        }
        let builder = HttpBuilder::new().with_url(url).with_client_options(client);
        let store = ServerClient::Http(builder.with_retry(limits.retry()).build()?);
        Ok(Self { store, prefix: Path::default(), runtime: runtime()?, limits, cancelled })
    }

    /// Returns the client of a bucket, `s3://bucket/prefix`. Connects to nothing.
    pub(crate) fn s3(url: &str, limits: BlobLimits, cancelled: Arc<watch::Sender<bool>>) -> Result<Self, Error> {
        let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
        let prefix = Path::from(path.map_or("", |(_bucket, path)| path));
        let builder = AmazonS3Builder::from_env().with_url(url).with_client_options(limits.client());
        let store = ServerClient::S3(Box::new(builder.with_retry(limits.retry()).build()?));
        Ok(Self { store, prefix, runtime: runtime()?, limits, cancelled })
    }

    /// Whether files can be listed and written.
    pub(crate) fn is_bucket(&self) -> bool {
        matches!(self.store, ServerClient::S3(_))
    }

    /// Requests a file or a part of it.
    pub(crate) async fn get(&self, name: &str, options: GetOptions) -> Result<GetResult, Error> {
        let path = self.path(name);
        match &self.store {
            ServerClient::Http(store) => store.get_opts(&path, options).await,
            ServerClient::S3(store) => store.get_opts(&path, options).await,
        }
    }

    /// Lists names and lengths of the files, at most `most + 1`, in no order. Fails if a name comes twice: such a list never ends.
    pub(crate) async fn list(&self, most: usize) -> Result<Vec<(String, u64)>, Error> {
        let mut found = self.bucket()?.list(Some(&self.prefix));
        let mut files = HashMap::new();
        while let Some(meta) = found.try_next().await? {
            let Some(name) = meta.location.prefix_match(&self.prefix) else { continue };
            let name = name.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            if files.insert(name, meta.size).is_some() {
                let source = format!("the server lists {} more than once", meta.location).into();
                return Err(Error::Generic { store: "S3", source });
            }
            if files.len() > most {
                break;
            }
        }
        Ok(files.into_iter().collect())
    }

    /// Writes a whole file in place of an earlier one.
    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.bucket()?.put(&self.path(name), bytes.into()).await.map(drop)
    }

    /// Starts a file that is written in parts.
    pub(crate) async fn upload(&self, name: &str) -> Result<Box<dyn MultipartUpload>, Error> {
        self.bucket()?.put_multipart_opts(&self.path(name), PutMultipartOptions::default()).await
    }

    /// Removes a file.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), Error> {
        self.bucket()?.delete(&self.path(name)).await
    }

    /// Runs a call on this thread, within the time of a call. `file` is named in errors.
    pub(crate) fn run<T>(&self, file: &str, call: impl Future<Output = Result<T, BlobError>>) -> Result<T, BlobError> {
        let mut ended = Err(BlobError::Cancelled { file: file.to_owned() });
        let run = self.drive(file, pin!(async { ended = call.await }));
        run.and(ended)
    }

    fn drive(&self, file: &str, call: Pin<&mut dyn Future<Output = ()>>) -> Result<(), BlobError> {
        let time = self.limits.call();
        let mut cancelled = self.cancelled.subscribe();
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                _ = cancelled.wait_for(|cancelled| *cancelled) => Err(BlobError::Cancelled { file: file.to_owned() }),
                ended = timeout(time, call) => ended.map_err(|_elapsed| {
                    BlobError::Stopped { file: file.to_owned(), seconds: time.as_secs() }
                }),
            }
        })
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    fn bucket(&self) -> Result<&AmazonS3, Error> {
        match &self.store {
            ServerClient::S3(store) => Ok(store),
            ServerClient::Http(_) => {
                Err(Error::NotImplemented { operation: "write".into(), implementer: "HTTP".into() })
            }
        }
    }
}

fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("rhizome-blobs").enable_all().build();
    runtime.map_err(|error| Error::Generic { store: "thread", source: Box::new(error) })
}
