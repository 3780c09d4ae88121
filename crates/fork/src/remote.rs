//! Calls of a remote node at one block, through the cache.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::cache_file::CacheFile;
use crate::call::{Outcome, Refusal, RemoteCall};
use crate::client::{Client, RemoteAddress};
use crate::error::ForkError;
use crate::waiting::may_wait;

/// Error code of a node that does not serve a method (JSON-RPC 2.0).
const METHOD_NOT_FOUND: i64 = -32601;

/// A remote node and the results that it gave.
pub(crate) struct Remote {
    client: RwLock<Arc<Client>>,
    cache: RwLock<Option<CacheFile>>,
}

impl Remote {
    pub(crate) fn new(address: &RemoteAddress) -> Result<Self, ForkError> {
        Ok(Self { client: RwLock::new(Arc::new(Client::new(address)?)), cache: RwLock::default() })
    }

    fn client(&self) -> Arc<Client> {
        Arc::clone(&self.client.read())
    }

    /// Returns the address of the node.
    pub(crate) fn address(&self) -> RemoteAddress {
        self.client().address().clone()
    }

    /// Sends further calls to the node of another remote.
    pub(crate) fn follow(&self, other: &Self) {
        *self.client.write() = other.client();
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.client().requests()
    }

    /// Takes the results of a file, and adds further ones to it.
    pub(crate) fn set_cache(&self, file: CacheFile) {
        *self.cache.write() = Some(file);
    }

    /// Returns the outcome of each call, in their order. Calls that are not in the cache go together; results but null are cached.
    pub(crate) fn outcomes(&self, calls: &[RemoteCall]) -> Result<Vec<Outcome>, ForkError> {
        self.through_cache(calls, |missing| self.send(missing))
    }

    /// Like [`Remote::results`]. Results that are not in the cache count only if `accept` takes the result of `check`, which is sent in the
    /// same request.
    pub(crate) fn results_if(
        &self,
        calls: &[RemoteCall],
        check: &RemoteCall,
        accept: impl Fn(&str) -> Result<(), ForkError>,
    ) -> Result<Vec<String>, ForkError> {
        let outcomes = self.through_cache(calls, |missing| {
            let mut asked = missing.to_vec();
            asked.push(check.clone());
            let mut outcomes = self.send(&asked)?;
            if let Some(checked) = outcomes.pop() {
                accept(&check.accept(checked)?)?;
            }
            Ok(outcomes)
        })?;
        calls.iter().zip(outcomes).map(|(call, outcome)| call.accept(outcome)).collect()
    }

    fn through_cache(
        &self,
        calls: &[RemoteCall],
        send: impl FnOnce(&[RemoteCall]) -> Result<Vec<Outcome>, ForkError>,
    ) -> Result<Vec<Outcome>, ForkError> {
        let mut outcomes: Vec<Option<Outcome>> = {
            let cache = self.cache.read();
            calls.iter().map(|call| cache.as_ref()?.get(call).map(Ok)).collect()
        };
        let missing: Vec<RemoteCall> =
            calls.iter().zip(&outcomes).filter(|(_, known)| known.is_none()).map(|(call, _)| call.clone()).collect();
        if !missing.is_empty() {
            let mut sent = send(&missing)?.into_iter();
            for (call, place) in calls.iter().zip(&mut outcomes).filter(|(_, known)| known.is_none()) {
                let Some(outcome) = sent.next() else { continue };
                if let Ok(result) = &outcome {
                    self.store(call, result);
                }
                *place = Some(outcome);
            }
        }
        // The client answers each call.
        let absent = || Err(Refusal { code: 0, message: String::new() });
        Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(absent)).collect())
    }

    /// Like [`Remote::outcomes`]. An error of the node is an error.
    pub(crate) fn results(&self, calls: &[RemoteCall]) -> Result<Vec<String>, ForkError> {
        let outcomes = self.outcomes(calls)?;
        calls.iter().zip(outcomes).map(|(call, outcome)| call.accept(outcome)).collect()
    }

    /// Returns the outcome of each call from the node.
    pub(crate) fn send(&self, calls: &[RemoteCall]) -> Result<Vec<Outcome>, ForkError> {
        if may_wait() { self.client().send(calls) } else { Err(ForkError::NotCached) }
    }

    /// Returns the result of a call from the cache.
    pub(crate) fn cached(&self, call: &RemoteCall) -> Option<String> {
        self.cache.read().as_ref()?.get(call)
    }

    /// Adds a result to the cache.
    pub(crate) fn store(&self, call: &RemoteCall, result: &str) {
        if let Some(cache) = &*self.cache.read()
            && result != "null"
        {
            cache.put(call, result);
        }
    }

    /// Returns the path of the cache file.
    pub(crate) fn cache_path(&self) -> Option<String> {
        self.cache.read().as_ref().map(|cache| cache.path().display().to_string())
    }
}

/// Whether the outcome says that the node does not serve the method.
pub(crate) fn is_not_served(outcome: &Outcome) -> bool {
    matches!(outcome, Err(Refusal { code: METHOD_NOT_FOUND, .. }))
}
