//! Opens the chain that a fork continues: that of a remote node, or of a data directory.

use crate::config::NodeConfig;
use rhizome_answers::accounts::Accounts;
use rhizome_answers::{ForkedChain, Node, RpcError};
use rhizome_chain::{
    Chain, ChainConfig, ChainError, DataDir, LocalOrigin, NodeVersions, ProvenBlocks, StateHistory, directory_chain,
};
use rhizome_fork::{CacheFolder, ForkError, ForkOptions, ForkTarget, RemoteAddress, RemoteChain};
use rhizome_primitives::{ChainSpec, I256};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::result::Result;
use std::sync::Arc;

/// Blocks below the head of a directory with current trie nodes whose states have a trie. A fork does not read tries.
const PROVEN_BLOCKS: u64 = 0;

/// Chain that a fork continues. Not `Debug`: URL and header may be secret.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForkConfig {
    /// Source of the chain.
    #[serde(flatten)]
    source: ForkSource,
    /// Number, or hash with 0x, of the block; `None`: the best one.
    block: Option<String>,
    /// Header of requests, NAME=VALUE.
    header: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ForkSource {
    /// URL of a remote node.
    Url(String),
    /// Data directory on this machine.
    Dir(PathBuf),
}

/// Opens the chain of the settings; `None` without a fork.
pub(crate) fn of_settings(config: &NodeConfig) -> Result<Option<ForkedChain>, RpcError> {
    let Some(fork) = config.fork() else { return Ok(None) };
    let target = match fork.block.as_deref() {
        None => ForkTarget::Latest,
        Some(hash) if hash.starts_with("0x") => ForkTarget::Hash(hash.parse().map_err(RpcError::internal)?),
        Some(number) => ForkTarget::Number(number.parse().map_err(RpcError::internal)?),
    };
    match &fork.source {
        ForkSource::Url(url) => of_remote(config, remote_address(config, url)?, target).map(Some),
        ForkSource::Dir(dir) => of_directory(config, dir, &target).map(Some),
    }
}

/// Returns the address of a remote node. The header of the settings is sent to the host of the settings only.
pub(crate) fn remote_address(config: &NodeConfig, url: &str) -> Result<RemoteAddress, RpcError> {
    let address = RemoteAddress::parse(url, None)?;
    let Some(ForkConfig { source: ForkSource::Url(own), header: Some(header), .. }) = config.fork() else {
        return Ok(address);
    };
    match address.is_host_of(&RemoteAddress::parse(own, None)?) {
        true => Ok(RemoteAddress::parse(url, Some(header))?),
        false => Ok(address),
    }
}

/// Opens the chain of a remote node at a block.
pub(crate) fn of_remote(
    config: &NodeConfig,
    remote: RemoteAddress,
    target: ForkTarget,
) -> Result<ForkedChain, RpcError> {
    let cache = config.fork_cache_dir().map(CacheFolder::new);
    let options = ForkOptions { remote, target, cache, spec: config.custom_spec()?, funded: config.funded_accounts()? };
    Ok(ForkedChain::Remote(Arc::new(RemoteChain::open(options)?)))
}

/// Opens the chain of a data directory at a block, for reading. Fails if a node has the directory open.
pub(crate) fn of_directory(config: &NodeConfig, dir: &Path, target: &ForkTarget) -> Result<ForkedChain, RpcError> {
    let (identity, versions) = directory_chain(dir).map_err(ChainError::from)?;
    let spec = match config.custom_spec()? {
        Some(spec) => spec,
        None => {
            let chain_id = identity.chain_id.into();
            let network = ChainSpec::by_chain_id(chain_id).ok_or(ForkError::NotRootstock { chain_id })?;
            config.network_spec(network.network.name())?
        }
    };
    let mut settings = ChainConfig::new(Arc::new(spec), DataDir::ReadOnly(dir.to_path_buf()));
    settings.history = StateHistory::Archive;
    settings.proven_blocks = match versions {
        NodeVersions::All => ProvenBlocks::All,
        NodeVersions::Current => ProvenBlocks::Last(PROVEN_BLOCKS),
    };
    config.size_caches(&mut settings);
    let chain = Chain::open(settings)?;
    let found = match target {
        ForkTarget::Latest => Some(Arc::clone(&chain.head().record)),
        ForkTarget::Number(number) => chain.main_block(*number)?,
        ForkTarget::Hash(hash) => match chain.block(hash)? {
            Some(record) if chain.is_main(&record)? => Some(record),
            _ => None,
        },
    };
    let shown = dir.display();
    let record = found.ok_or_else(|| {
        RpcError::server(format!("the best chain of {shown} does not have the block that the fork begins at"))
    })?;
    if record.number() == 0 {
        return Err(ForkError::GenesisBlock.into());
    }
    let funded = config.funded_accounts()?.into_iter().map(|(address, balance)| (address, I256::from_raw(balance)));
    let origin = Arc::new(LocalOrigin::new(Arc::clone(&chain), &record, funded.collect())?);
    let node = Arc::new(Node::with_accounts(chain, config.answers(false), Accounts::none())?);
    Ok(ForkedChain::Local { origin, node, dir: shown.to_string() })
}
