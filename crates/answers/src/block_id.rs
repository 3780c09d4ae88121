//! Which block a question is about.

use crate::caches::HeadCache;
use crate::error::{ErrorCode, RpcError};
use crate::node::{ForkedChain, Node};
use crate::options::{LatestBlock, PendingOnPartial, TagDepths};
use crate::parameters;
use crate::state;
use rhizome_chain::{BlockRecord, PendingBlock};
use rhizome_primitives::{Address, B256, Block, Bytes, U256};
use rhizome_trie::{AccountState, StateReader};
use std::sync::Arc;

/// A block as a caller names it. `text` is kept as sent: the messages quote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockId<'a> {
    target: Target,
    text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Latest,
    Earliest,
    Pending,
    Behind(DepthTag),
    Number(u64),
    /// A hash as plain text.
    Hash(B256),
    /// A hash in an object: same block, other words when it is missing.
    NamedHash(B256),
    /// A hash with `requireCanonical`: the block must be on the main chain.
    CanonicalHash(B256),
}

/// A tag of a block that lies some blocks below the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DepthTag {
    /// `safe`.
    Safe,
    /// `finalized`.
    Finalized,
}

/// The block that a selector found.
pub enum BlockRef {
    /// A block of the chain, on the main chain or beside it.
    Mined(Arc<BlockRecord>),
    /// The pending of the next block.
    Pending(Arc<PendingBlock>),
}

impl BlockRef {
    /// The block itself; that of a pending has no mining fields.
    pub fn block(&self) -> &Block {
        match self {
            Self::Mined(record) => &record.block,
            Self::Pending(pending) => &pending.block,
        }
    }
}

impl<'a> BlockId<'a> {
    /// The head.
    pub const LATEST: BlockId<'static> = BlockId { target: Target::Latest, text: "latest" };

    /// The block with a hash.
    pub(crate) fn of_hash(hash: B256) -> BlockId<'static> {
        BlockId { target: Target::NamedHash(hash), text: "" }
    }

    /// The block of the main chain at a height.
    pub(crate) fn of_number(number: u64) -> BlockId<'static> {
        BlockId { target: Target::Number(number), text: "" }
    }

    /// Reads `latest`, `earliest`, `pending`, `safe`, `finalized`, `0x<number>`, `0x<64 digits>`, `<64 digits>`, `hash:0x..` or `canonical:0x..`.
    pub fn parse(text: &'a str) -> Result<Self, RpcError> {
        let target = match text {
            "latest" => Target::Latest,
            "earliest" => Target::Earliest,
            "pending" => Target::Pending,
            "safe" => Target::Behind(DepthTag::Safe),
            "finalized" => Target::Behind(DepthTag::Finalized),
            _ => Self::parse_value(text)?,
        };
        Ok(Self { target, text })
    }

    fn parse_value(text: &str) -> Result<Target, RpcError> {
        if let Some(hash) = text.strip_prefix("hash:") {
            return Ok(Target::NamedHash(parameters::block_hash(hash)?));
        }
        if let Some(hash) = text.strip_prefix("canonical:") {
            return Ok(Target::CanonicalHash(parameters::block_hash(hash)?));
        }
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Target::Hash(parameters::block_hash(text)?));
        }
        let invalid = || RpcError::invalid_params(format!("Invalid block identifier '{text}'"));
        let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty()).ok_or_else(invalid)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        if digits.len() == 64 {
            return Ok(Target::Hash(parameters::block_hash(text)?));
        }
        u64::from_str_radix(digits, 16)
            .map(Target::Number)
            .map_err(|_overflow| RpcError::invalid_params(format!("Invalid block number {text}: above 64 bits")))
    }

    /// Whether the pending block is asked for.
    pub fn is_pending(&self) -> bool {
        self.target == Target::Pending
    }

    /// Returns `true` if the id names the head, without a database read. May return `false` for a hash of the head.
    pub(crate) fn is_head(&self, node: &Node) -> bool {
        self.is_at(node, node.chain().head().number())
    }

    fn is_at(&self, node: &Node, head: u64) -> bool {
        match self.target {
            Target::Latest => node.options().latest == LatestBlock::Own || node.latest_number() == head,
            Target::Number(number) => number == head,
            // `find` refuses a tag that is not served.
            Target::Behind(tag) => {
                tag.number(node.options().tag_depths, node.latest_number()).is_ok_and(|number| number == head)
            }
            _ => false,
        }
    }

    /// Returns the cache of the head if the id names the head, without a database read.
    pub(crate) fn cached_head(&self, node: &Node) -> Option<Arc<HeadCache>> {
        let head = node.chain().head();
        self.is_at(node, head.number()).then(|| node.caches().head.of(&head))
    }

    /// Returns the height of the block if it is known without a look-up, or if the block is the block that a fork begins at; else `None`.
    pub(crate) fn fork_height(&self, node: &Node, fork: &ForkedChain) -> Result<Option<u64>, RpcError> {
        let head = node.chain().head().number();
        Ok(match self.target {
            Target::Latest => Some(head),
            Target::Earliest => Some(0),
            Target::Pending => None,
            Target::Behind(tag) => Some(tag.number(node.options().tag_depths, head)?),
            Target::Number(number) => Some(number),
            Target::Hash(hash) | Target::NamedHash(hash) | Target::CanonicalHash(hash) => {
                (hash == fork.hash()).then(|| fork.number())
            }
        })
    }

    /// The height, when the selector names one.
    pub fn number(&self) -> Option<u64> {
        match self.target {
            Target::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The hash, when the selector is one.
    pub(crate) fn hash(&self) -> Option<B256> {
        match self.target {
            Target::Hash(hash) | Target::NamedHash(hash) | Target::CanonicalHash(hash) => Some(hash),
            _ => None,
        }
    }

    /// Refuses `pending` for methods that are only partially supported, unless the options serve it.
    pub fn allow_pending(self, node: &Node, method: &str) -> Result<Self, RpcError> {
        match node.options().pending_on_partial {
            PendingOnPartial::Refused => self.refuse_pending(method),
            PendingOnPartial::Served => Ok(self),
        }
    }

    /// Refuses `pending` for methods that have no answer there.
    pub fn refuse_pending(self, method: &str) -> Result<Self, RpcError> {
        if self.is_pending() {
            let message = format!("{method}: the block option 'pending' is not supported");
            return Err(RpcError::invalid_params(message));
        }
        Ok(self)
    }

    /// Returns the block; `None` if it does not exist.
    pub fn find(&self, node: &Node) -> Result<Option<BlockRef>, RpcError> {
        let chain = node.chain();
        let record = match self.target {
            Target::Latest => return Ok(Some(BlockRef::Mined(node.latest()?))),
            Target::Pending => return Ok(Some(BlockRef::Pending(chain.pending_block(node.now())?))),
            Target::Earliest => chain.main_block(0)?,
            Target::Behind(tag) => {
                let head = chain.head();
                match tag.number(node.options().tag_depths, node.latest_number())? {
                    number if number == head.number() => Some(head.record.clone()),
                    number => chain.main_block(number)?,
                }
            }
            Target::Number(number) => chain.main_block(number)?,
            Target::Hash(hash) | Target::NamedHash(hash) => chain.block(&hash)?,
            Target::CanonicalHash(hash) => match chain.block(&hash)? {
                Some(record) if chain.main_hash(record.number())? != Some(hash) => {
                    let message = format!("Block with hash {hash} is not canonical and it is required");
                    return Err(RpcError::new(ErrorCode::InvalidRequest, message));
                }
                found => found,
            },
        };
        Ok(record.map(BlockRef::Mined))
    }

    /// Like [`BlockId::find`], but fails with -32000 for a block below a state from peers that is not downloaded yet.
    pub fn find_stored(&self, node: &Node) -> Result<Option<BlockRef>, RpcError> {
        let found = self.find(node)?;
        let number = match self.target {
            Target::Number(number) => Some(number),
            Target::Behind(tag) => Some(tag.number(node.options().tag_depths, node.latest_number())?),
            _ => None,
        };
        if let (None, Some(number)) = (&found, number) {
            node.chain().check_stored(number)?;
        }
        Ok(found)
    }

    /// The block; -32600 when there is no such block.
    pub fn locate(&self, node: &Node) -> Result<BlockRef, RpcError> {
        self.find(node)?.ok_or_else(|| self.not_found())
    }

    /// The state after the block, at `pending` that after the waiting transactions; -32600 when there is no such block.
    pub fn state(&self, node: &Node) -> Result<Arc<dyn StateReader>, RpcError> {
        if let Target::Number(number) = self.target
            && let Some(state) = node.chain().main_state(number)?
        {
            return Ok(state);
        }
        match self.locate(node)? {
            BlockRef::Mined(record) => node.state_at(&record),
            BlockRef::Pending(pending) => node.caches().pending_state.state(node.chain(), &pending),
        }
    }

    /// Reads an account in the state after the block.
    pub(crate) fn account(&self, node: &Node, address: &Address) -> Result<AccountState, RpcError> {
        match self.cached_head(node) {
            Some(head) => head.account(address),
            None => state::account(&*self.state(node)?, address),
        }
    }

    /// Reads a storage slot in the state after the block.
    pub(crate) fn slot(&self, node: &Node, address: &Address, position: &U256) -> Result<Bytes, RpcError> {
        match self.cached_head(node) {
            Some(head) => head.slot(address, position),
            None => state::slot(&*self.state(node)?, address, position),
        }
    }

    /// The error of state reads and counts at a block that does not exist.
    pub fn not_found(&self) -> RpcError {
        let message = match self.target {
            Target::NamedHash(hash) | Target::CanonicalHash(hash) => format!("Block with hash {hash} not found"),
            _ => format!("Block {} not found", self.text),
        };
        RpcError::new(ErrorCode::InvalidRequest, message)
    }
}

impl DepthTag {
    /// Returns the height that the tag names. It rises with the head: only a branch with a lower head lowers it. Fails with
    /// -32602 if the settings refuse the tags.
    pub(crate) fn number(self, depths: Option<TagDepths>, head: u64) -> Result<u64, RpcError> {
        let name = match self {
            Self::Safe => "safe",
            Self::Finalized => "finalized",
        };
        let depths = depths.ok_or_else(|| RpcError::invalid_params(format!("invalid blocknumber {name}")))?;
        let depth = match self {
            Self::Safe => depths.safe,
            Self::Finalized => depths.finalized,
        };
        Ok(head.saturating_sub(depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::AnswerOptions;
    use rhizome_chain::{Chain, ChainConfig, DataDir};
    use rhizome_primitives::ChainSpec;

    #[test]
    fn reads_every_form() {
        let hash = format!("0x{}", "ab".repeat(32));
        let named = format!("hash:{hash}");
        let canonical = format!("canonical:{hash}");
        let forms = [
            ("latest", Target::Latest),
            ("earliest", Target::Earliest),
            ("pending", Target::Pending),
            ("safe", Target::Behind(DepthTag::Safe)),
            ("finalized", Target::Behind(DepthTag::Finalized)),
            ("0x1b4", Target::Number(0x1b4)),
            ("0x00", Target::Number(0)),
            ("0xffffffffffffffff", Target::Number(u64::MAX)),
            (hash.as_str(), Target::Hash(B256::repeat_byte(0xab))),
            (named.as_str(), Target::NamedHash(B256::repeat_byte(0xab))),
            (canonical.as_str(), Target::CanonicalHash(B256::repeat_byte(0xab))),
        ];
        for (text, target) in forms {
            assert_eq!(BlockId::parse(text).unwrap(), BlockId { target, text });
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in ["", "0x", "Latest", "Safe", "4", "-1", "0xg", " 0x0", "hash:0x12", "0x10000000000000000"] {
            assert_eq!(BlockId::parse(text).unwrap_err().code, ErrorCode::InvalidParams, "{text}");
        }
    }

    #[test]
    fn names_what_is_missing() {
        assert_eq!(BlockId::parse("0x99").unwrap().not_found().message, "Block 0x99 not found");
        let text = format!("hash:0x{}", "ab".repeat(32));
        let message = BlockId::parse(&text).unwrap().not_found().message;
        assert_eq!(message, format!("Block with hash 0x{} not found", "ab".repeat(32)));
    }

    #[test]
    fn tags_follow_the_head() {
        let node = |tag_depths| {
            let config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
            let options = AnswerOptions { tag_depths, ..AnswerOptions::document() };
            let node = Node::new(Chain::open(config).unwrap(), options).unwrap();
            (0..5).for_each(|_| drop(node.chain().mine(node.now()).unwrap()));
            node
        };
        let at = |node: &Node, tag: &str| {
            let id = BlockId::parse(tag).unwrap();
            let number = id.locate(node)?.block().header.number;
            assert_eq!(id.is_head(node), number == 5);
            assert_eq!(id.cached_head(node).is_some(), number == 5);
            Ok::<u64, RpcError>(number)
        };
        let deep = node(Some(TagDepths { safe: 2, finalized: 9 }));
        assert_eq!((at(&deep, "safe").unwrap(), at(&deep, "finalized").unwrap()), (3, 0));
        deep.chain().mine(deep.now()).unwrap();
        assert_eq!(BlockId::parse("safe").unwrap().locate(&deep).unwrap().block().header.number, 4);
        let flat = node(Some(TagDepths::HEAD));
        assert_eq!((at(&flat, "safe").unwrap(), at(&flat, "finalized").unwrap()), (5, 5));
        let refused = at(&node(None), "safe").unwrap_err();
        assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::InvalidParams, "invalid blocknumber safe"));
    }
}
