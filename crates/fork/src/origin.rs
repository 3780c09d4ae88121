//! Opening of a remote chain at one of its blocks, and the blocks below.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rhizome_chain::{ForkBlock, ForkOrigin};
use rhizome_evm::{AncestorBlock, AncestryError, BridgeAnswers};
use rhizome_primitives::{Address, B256, BRIDGE, Block, ChainSpec, Header, U256};
use rhizome_trie::StateReader;
use serde_json::json;

use crate::bridge::RemoteBridge;
use crate::cache_file::{CacheFile, FileState};
use crate::cache_folder::CacheFolder;
use crate::call::RemoteCall;
use crate::client::RemoteAddress;
use crate::error::ForkError;
use crate::header::{BlockObject, RemoteBlock, hash_of, number};
use crate::network::spec_of;
use crate::older_block::HeldBlocks;
use crate::remote::{Remote, is_not_served};
use crate::state::{CACHE_BYTES, RemoteState, StateAccess, block_parameter};

/// Blocks that are read together, upwards: REMASC reads eight, the next block the same ones and another.
const READ_TOGETHER: u64 = 16;
/// Memory for accounts with code, and for slots, of the state before an older block, in bytes each.
const OLDER_CACHE_BYTES: u64 = 4 << 20;
/// Headers in memory at most: more than any rule looks back.
const HELD_HEADERS: usize = 8192;

/// The block that a fork begins at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkTarget {
    /// The best block of the remote node.
    Latest,
    /// The block with this number.
    Number(u64),
    /// The block with this hash, on the remote node's best chain.
    Hash(B256),
}

/// Settings of a fork.
#[derive(Clone)]
pub struct ForkOptions {
    /// The remote node.
    pub remote: RemoteAddress,
    /// The block that the fork begins at.
    pub target: ForkTarget,
    /// Folder of the cache; `None`: results are kept in memory only.
    pub cache: Option<CacheFolder>,
    /// Specification of a chain file.
    pub spec: Option<ChainSpec>,
    /// Balances of accounts instead of those of the remote chain, in wei.
    pub funded: BTreeMap<Address, U256>,
}

/// A remote chain up to the block that a fork begins at.
pub struct RemoteChain {
    remote: Arc<Remote>,
    spec: ChainSpec,
    block: ForkBlock,
    access: StateAccess,
    state: Arc<RemoteState>,
    /// `None` if the remote node serves the storage of the Bridge.
    bridge: Option<RemoteBridge>,
    headers: Mutex<Headers>,
    older: Mutex<HeldBlocks>,
    notes: Vec<String>,
}

/// Headers in memory.
#[derive(Default)]
struct Headers {
    by_number: HashMap<u64, Arc<AncestorBlock>>,
    numbers: HashMap<B256, u64>,
}

/// The calls that identify the remote chain, and their results.
struct RemoteIdentity {
    chain_id: u64,
    genesis: B256,
    block: RemoteBlock,
    spec: ChainSpec,
    /// To be cached: the calls that the next run makes again.
    results: Vec<(RemoteCall, String)>,
}

impl ForkTarget {
    /// Returns the target as the parameter of a call, and as a name.
    fn text(&self) -> String {
        match self {
            Self::Latest => "latest".into(),
            Self::Number(number) => format!("{number:#x}"),
            Self::Hash(hash) => hash.to_string(),
        }
    }

    fn call(&self) -> RemoteCall {
        match self {
            Self::Hash(hash) => RemoteCall::block_by_hash(hash),
            Self::Latest | Self::Number(_) => RemoteCall::block_by_number(&self.text()),
        }
    }
}

impl RemoteChain {
    /// Opens a remote chain. Without a request if an earlier run has cached everything; the best block is always asked for.
    pub fn open(options: ForkOptions) -> Result<Self, ForkError> {
        let ForkOptions { remote: address, target, cache: folder, spec, funded } = options;
        if target == ForkTarget::Number(0) {
            return Err(ForkError::GenesisBlock);
        }
        let remote = Arc::new(Remote::new(&address)?);
        let mut notes = Vec::new();
        let name = target.text();
        let known = folder.as_ref().filter(|_| target != ForkTarget::Latest);
        if let Some(path) = known.and_then(|folder| folder.target(address.url(), &name)) {
            notes.extend(attach(&remote, path)?);
        }
        let identity = identify(&remote, &target, spec)?;
        let (height, hash) = (identity.block.header.number, identity.block.hash);
        if let Some(folder) = &folder
            && remote.cache_path().is_none()
        {
            let path = folder.file(identity.chain_id, height, &hash)?;
            notes.extend(attach(&remote, path.clone())?);
            if target != ForkTarget::Latest {
                folder.set_target(address.url(), &name, &path)?;
            }
        }
        identity.results.iter().for_each(|(call, result)| remote.store(call, result));
        let access = state_access(&remote, height, &hash)?;
        let uncles = uncles_of(&remote, &identity.spec, std::slice::from_ref(&identity.block))?;
        let block = ForkBlock {
            block: Block {
                header: identity.block.header,
                transactions: Vec::new(),
                uncles: uncles.into_iter().next().unwrap_or_default(),
            },
            total_difficulty: identity.block.total_difficulty,
            genesis: identity.genesis,
        };
        let bridge =
            (!access.stored_slots).then(|| RemoteBridge::new(Arc::clone(&remote), access.by_hash, height, hash));
        let spec = identity.spec.clone();
        let state = RemoteState::new(Arc::clone(&remote), access, (height, hash), spec, funded, CACHE_BYTES);
        state.read_common_accounts()?;
        let (spec, state) = (identity.spec, Arc::new(state));
        Ok(Self {
            remote,
            spec,
            block,
            access,
            state,
            bridge,
            headers: Mutex::default(),
            older: Mutex::default(),
            notes,
        })
    }

    /// Returns the specification of the fork: that of the remote chain, without proof of work above the block.
    pub fn spec(&self) -> ChainSpec {
        self.spec.clone().forked_at(self.number())
    }

    /// Returns the number of the block.
    pub fn number(&self) -> u64 {
        self.block.block.header.number
    }

    /// Returns the hash of the block.
    pub fn hash(&self) -> B256 {
        self.block.block.hash()
    }

    /// Returns the hash of block 0.
    pub fn genesis_hash(&self) -> B256 {
        self.block.genesis
    }

    /// Returns the specification of the remote chain.
    pub(crate) fn remote_spec(&self) -> &ChainSpec {
        &self.spec
    }

    pub(crate) fn held_blocks(&self) -> MutexGuard<'_, HeldBlocks> {
        self.older.lock()
    }

    /// Returns the state after a block below that of the fork, as on the remote chain, and the Bridge after it, if the remote node does
    /// not serve its storage.
    pub(crate) fn state_after(&self, height: u64, hash: B256) -> (RemoteState, Option<RemoteBridge>) {
        let (remote, access) = (Arc::clone(&self.remote), self.access);
        let bridge =
            (!access.stored_slots).then(|| RemoteBridge::new(Arc::clone(&remote), access.by_hash, height, hash));
        let spec = self.spec.clone();
        let state = RemoteState::new(remote, access, (height, hash), spec, BTreeMap::new(), OLDER_CACHE_BYTES);
        (state, bridge)
    }

    /// Returns host and port of the remote node.
    pub fn host(&self) -> String {
        self.remote.address().host()
    }

    /// Returns the address of the remote node.
    pub fn address(&self) -> RemoteAddress {
        self.remote.address()
    }

    /// Reads from another node of the same chain from now on. Fails, and nothing changes, if the node has another chain or serves less
    /// of the state.
    pub fn set_address(&self, address: &RemoteAddress) -> Result<(), ForkError> {
        let other = Remote::new(address)?;
        let (number, hash) = (self.number(), self.hash());
        for (height, expected) in [(0, self.block.genesis), (number, hash)] {
            let call = RemoteCall::block_by_number(&format!("{height:#x}"));
            let outcome = other.send(std::slice::from_ref(&call))?.pop();
            let text = call.accept(outcome.unwrap_or_else(|| Ok("null".into())))?;
            let object = call.parse::<Option<HashObject>>(&text)?;
            let object = object.ok_or_else(|| ForkError::NoBlock { block: height.to_string() })?;
            let found = hash_of(&call, &object.hash)?;
            if found != expected {
                return Err(ForkError::OtherChain { number: height, expected, found });
            }
        }
        let access = state_access(&other, number, &hash)?;
        if self.access.by_hash && !access.by_hash {
            return Err(ForkError::ServesLess { what: "state by the hash of a block (EIP-1898)" });
        }
        if self.access.stored_slots && !access.stored_slots {
            return Err(ForkError::BridgeStorage);
        }
        self.remote.follow(&other);
        Ok(())
    }

    /// Returns the path of the cache file; `None` without one.
    pub fn cache_path(&self) -> Option<String> {
        self.remote.cache_path()
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.remote.requests()
    }

    /// Returns notes about the state of the cache, for the log.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the result of a call about blocks up to that of the fork, as JSON. `params`: a JSON array. Only for methods whose
    /// results stay the same.
    pub fn pass(&self, method: &str, params: &str) -> Result<String, ForkError> {
        let call = RemoteCall { method: method.into(), params: params.into() };
        let results = self.remote.results(std::slice::from_ref(&call))?;
        Ok(results.into_iter().next().unwrap_or_else(|| "null".into()))
    }

    /// Returns the result of `eth_getStorageAt` of the Bridge as JSON, if the remote node does not serve its storage in the stored form.
    pub fn shown_bridge_slot(&self, slot: &U256) -> Result<Option<String>, ForkError> {
        self.bridge.as_ref().map(|bridge| bridge.shown_slot(slot)).transpose()
    }

    /// Reads blocks of the remote chain, ascending, each the parent of the next.
    fn read_blocks(&self, from: u64, to: u64) -> Result<Vec<Arc<AncestorBlock>>, ForkError> {
        let calls: Vec<RemoteCall> =
            (from..=to).map(|number| RemoteCall::block_by_number(&format!("{number:#x}"))).collect();
        let mut blocks: Vec<RemoteBlock> = Vec::with_capacity(calls.len());
        for (call, text) in calls.iter().zip(self.remote.results(&calls)?) {
            blocks.push(self.parse_block(call, &text)?);
        }
        // The last one is linked to the block above it, if that is known.
        let above = match to + 1 == self.number() {
            true => self.block.block.header.parent(),
            false => self.headers.lock().by_number.get(&(to + 1)).and_then(|above| above.header.parent()),
        };
        let parents = blocks.iter().skip(1).map(|block| block.header.parent()).chain([above]);
        for (block, parent) in blocks.iter().zip(parents) {
            if let Some(expected) = parent.filter(|parent| *parent != block.hash) {
                return Err(ForkError::Changed { number: block.header.number, expected, found: block.hash });
            }
        }
        self.with_uncles(blocks)
    }

    fn parse_block(&self, call: &RemoteCall, text: &str) -> Result<RemoteBlock, ForkError> {
        let object: Option<BlockObject> = call.parse(text)?;
        object.ok_or_else(|| ForkError::NoBlock { block: call.params.clone() })?.block(call, &self.spec)
    }

    pub(crate) fn with_uncles(&self, blocks: Vec<RemoteBlock>) -> Result<Vec<Arc<AncestorBlock>>, ForkError> {
        let uncles = uncles_of(&self.remote, &self.spec, &blocks)?;
        let joined = blocks.into_iter().zip(uncles).map(|(block, uncles)| {
            let RemoteBlock { hash, header, total_difficulty, .. } = block;
            Arc::new(AncestorBlock { hash, header: Arc::new(header), uncles, total_difficulty })
        });
        Ok(joined.collect())
    }

    pub(crate) fn read_ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, ForkError> {
        let Some(last) = self.number().checked_sub(1).filter(|last| number <= *last) else { return Ok(None) };
        if let Some(known) = self.headers.lock().by_number.get(&number) {
            return Ok(Some(Arc::clone(known)));
        }
        if number == 0 {
            return Ok(Some(self.hold(self.genesis())));
        }
        let blocks = self.read_blocks(number, last.min(number.saturating_add(READ_TOGETHER - 1)))?;
        let first = blocks.first().map(Arc::clone);
        for block in blocks {
            self.hold(block);
        }
        Ok(first)
    }

    /// Block 0 of a network has a header that the interface does not show exactly. Its hash was compared when the chain was opened.
    fn genesis(&self) -> Arc<AncestorBlock> {
        let mut header = Header::genesis(&self.spec, B256::ZERO);
        header.state_root = self.spec.genesis.state_root.unwrap_or_default().into();
        let total_difficulty = header.difficulty_value();
        Arc::new(AncestorBlock {
            hash: self.block.genesis,
            header: Arc::new(header),
            uncles: Vec::new(),
            total_difficulty,
        })
    }

    fn hold(&self, block: Arc<AncestorBlock>) -> Arc<AncestorBlock> {
        let mut headers = self.headers.lock();
        if headers.by_number.len() >= HELD_HEADERS {
            *headers = Headers::default();
        }
        headers.numbers.insert(block.hash, block.header.number);
        headers.by_number.insert(block.header.number, Arc::clone(&block));
        block
    }

    fn read_ancestor_by_hash(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, ForkError> {
        if *hash == self.block.genesis {
            return self.read_ancestor(0);
        }
        let known = self.headers.lock().numbers.get(hash).copied();
        if let Some(number) = known {
            return self.read_ancestor(number);
        }
        let call = RemoteCall::block_by_hash(hash);
        let text = self.pass(&call.method, &call.params)?;
        if text == "null" {
            return Ok(None);
        }
        let block = self.parse_block(&call, &text)?;
        if block.hash != *hash {
            return Err(ForkError::HeaderHash { number: block.header.number, hash: *hash });
        }
        if block.header.number >= self.number() {
            return Ok(None);
        }
        Ok(self.with_uncles(vec![block])?.into_iter().next())
    }
}

impl ForkOrigin for RemoteChain {
    fn block(&self) -> &ForkBlock {
        &self.block
    }

    fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }

    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        self.read_ancestor(number).map_err(|error| AncestryError { number, reason: Box::new(error) })
    }

    fn ancestor_by_hash(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        let failed = |error| AncestryError { number: self.number(), reason: Box::new(error) };
        self.read_ancestor_by_hash(hash).map_err(failed)
    }

    fn bridge_answers(&self) -> Option<&dyn BridgeAnswers> {
        Some(self.bridge.as_ref()?)
    }
}

/// Opens a cache file and hands it to the remote node. Returns a note about a file that was damaged or is in use.
fn attach(remote: &Remote, path: PathBuf) -> Result<Option<String>, ForkError> {
    let (file, found) = CacheFile::open(&path)?;
    remote.set_cache(file);
    Ok(match found {
        FileState::Whole => None,
        FileState::Damaged => Some(format!("the cache {} was damaged and is empty now", path.display())),
        FileState::Shared => Some(format!("another process adds to the cache {}: it is only read", path.display())),
    })
}

/// Identifies chain and block.
fn identify(remote: &Remote, target: &ForkTarget, custom: Option<ChainSpec>) -> Result<RemoteIdentity, ForkError> {
    let chain = RemoteCall::new("eth_chainId", &json!([]));
    let first = RemoteCall::new("eth_getBlockByNumber", &json!(["0x0", false]));
    let block = target.call();
    let calls = [chain, first, block];
    let results = match target {
        // Never from the cache.
        ForkTarget::Latest => {
            let outcomes = remote.send(&calls)?;
            calls.iter().zip(outcomes).map(|(call, outcome)| call.accept(outcome)).collect::<Result<Vec<_>, _>>()?
        }
        ForkTarget::Number(_) | ForkTarget::Hash(_) => remote.results(&calls)?,
    };
    let [chain, first, block] = &calls;
    let text = |index: usize| results.get(index).map(String::as_str).unwrap_or("null");
    let id: String = chain.parse(text(0))?;
    let chain_id = u64::try_from(number(chain, &id)?).or(Err(ForkError::NotRootstock { chain_id: u64::MAX }))?;
    let genesis =
        first.parse::<Option<HashObject>>(text(1))?.ok_or_else(|| ForkError::NoBlock { block: "0".into() })?;
    let genesis = hash_of(first, &genesis.hash)?;
    let spec = spec_of(chain_id, genesis, custom)?;
    let object: Option<BlockObject> = block.parse(text(2))?;
    let object = object.ok_or_else(|| ForkError::NoBlock { block: target.text() })?;
    if object.is_genesis(block)? {
        return Err(ForkError::GenesisBlock);
    }
    let found = object.block(block, &spec)?;
    match target {
        ForkTarget::Number(number) if found.header.number != *number => {
            return Err(block.malformed(format!("block {}", found.header.number)));
        }
        ForkTarget::Hash(hash) if found.hash != *hash => {
            return Err(ForkError::HeaderHash { number: found.header.number, hash: *hash });
        }
        _ => {}
    }
    let results = calls.iter().cloned().zip(results).filter(|(call, _)| !call.params.contains("latest")).collect();
    Ok(RemoteIdentity { chain_id, genesis, block: found, spec, results })
}

/// The only member of a block that identifies a chain. Block 0 of another chain may have others.
#[derive(serde::Deserialize)]
struct HashObject {
    hash: String,
}

/// Finds out how the node serves the state of the block. The node must have it.
fn state_access(remote: &Remote, height: u64, hash: &B256) -> Result<StateAccess, ForkError> {
    let balance =
        |by_hash| RemoteCall::account("eth_getBalance", &Address::ZERO, &block_parameter(by_hash, height, hash));
    let slot = |by_hash| {
        RemoteCall::slot("rsk_getStorageBytesAt", &BRIDGE, &B256::ZERO, &block_parameter(by_hash, height, hash))
    };
    // Errors are not cached, so the conclusion is.
    let conclusion = RemoteCall::new("rhizome_stateAccess", &json!([hash.to_string()]));
    let known = remote.cached(&conclusion).and_then(|text| serde_json::from_str::<(bool, bool)>(&text).ok());
    if let Some((by_hash, stored_slots)) = known {
        return Ok(StateAccess { by_hash, stored_slots });
    }
    let outcomes = remote.outcomes(&[balance(true), slot(true)])?;
    let by_hash = outcomes.first().is_some_and(Result::is_ok);
    let slots = if by_hash {
        outcomes
    } else {
        let calls = [balance(false), slot(false)];
        let outcomes = remote.send(&calls)?;
        // A node that has pruned the state fails here.
        calls[0].accept(outcomes.first().cloned().unwrap_or_else(|| Ok("null".into())))?;
        outcomes
    };
    let stored_slots = slots.get(1).is_some_and(|outcome| outcome.is_ok() && !is_not_served(outcome));
    remote.store(&conclusion, &json!([by_hash, stored_slots]).to_string());
    Ok(StateAccess { by_hash, stored_slots })
}

/// Reads the uncles of blocks in one request.
fn uncles_of(remote: &Remote, spec: &ChainSpec, blocks: &[RemoteBlock]) -> Result<Vec<Vec<Header>>, ForkError> {
    let named = |block: &RemoteBlock| {
        block
            .uncles
            .iter()
            .enumerate()
            .map(|(index, uncle)| (RemoteCall::uncle(&block.hash, index), *uncle))
            .collect::<Vec<_>>()
    };
    let wanted: Vec<(RemoteCall, B256)> = blocks.iter().flat_map(named).collect();
    let calls: Vec<RemoteCall> = wanted.iter().map(|(call, _)| call.clone()).collect();
    let mut texts = remote.results(&calls)?.into_iter().zip(&wanted);
    let mut uncles = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut own = Vec::with_capacity(block.uncles.len());
        for (text, (call, hash)) in texts.by_ref().take(block.uncles.len()) {
            let object: Option<BlockObject> = call.parse(&text)?;
            let object = object.ok_or_else(|| call.malformed("no uncle"))?;
            own.push(object.uncle(call, spec, hash)?);
        }
        uncles.push(own);
    }
    Ok(uncles)
}
