//! `eth_getProof`: EIP-1186 with nodes of the unitrie (docs/spec/state.md, 6.3).

use crate::block_id::{BlockId, BlockRef};
use crate::error::{Answer, ErrorCode, RpcError};
use crate::fork;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::options::ProofFormat;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Bytes, EMPTY_CODE_HASH, EMPTY_ROOT, Rule, U256, keccak256, rlp};
use rhizome_trie::{AccountState, StateReader, Trie, keys};

/// Maximum number of storage keys of a request.
const MOST_KEYS: usize = 1024;

/// Returns an account of the state after a block, with its proof against the state root in the header of the block. Each
/// node is an RLP byte string, root first; embedded nodes are separate elements. Storage proofs start at the node with the
/// hash `storageHash`. [`ProofFormat::Rskj`] differs as it says.
///
/// Fails with -32602 at `pending` and for more than 1,024 keys, with -32600 for an unknown block, with -32000 for a block
/// whose header does not commit to the state in the format of the nodes (RSKIP-126), or whose trie is not kept
/// (`storage.proofs`).
pub fn answer(node: &Node, address: &Address, positions: &[U256], at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    fork::refuse(node, "eth_getProof", "its state root is that of the local changes alone")?;
    if positions.len() > MOST_KEYS {
        let message =
            format!("Invalid storage keys: {} of them, at most {MOST_KEYS} are proven at once", positions.len());
        return Err(RpcError::invalid_params(message));
    }
    let BlockRef::Mined(record) = at.refuse_pending("eth_getProof")?.locate(node)? else { return Err(at.not_found()) };
    if record.block.header.state_root.as_ref() != record.state_root.as_slice() {
        let number = record.number();
        let message = match node.chain().spec().rules(number).is_active(Rule::Rskip126) {
            true => format!("the state after block {number} was changed by hand, so its header does not prove it"),
            false => format!("block {number} is older than the state format of proofs (RSKIP-126)"),
        };
        return Err(RpcError::new(ErrorCode::ServerError, message));
    }
    let format = node.options().proof_format;
    node.with_state_trie(&record, deadline, |state| Proven { state, address, format }.write(positions, deadline))
}

/// An account in a state.
struct Proven<'a> {
    state: Trie,
    address: &'a Address,
    format: ProofFormat,
}

impl Proven<'_> {
    fn write(&self, positions: &[U256], deadline: &Deadline) -> Answer {
        let account_proof = self.prove(&keys::account_key(self.address.as_slice()))?;
        let account = self.account()?;
        let mut json = JsonWriter::with_capacity(4096);
        json.begin_object();
        json.key("address").data(self.address.as_slice());
        json.key("accountProof");
        write_nodes(&mut json, &account_proof);
        json.key("balance")
            .quantity_wide(&account.as_ref().map(|found| found.balance.unsigned_abs()).unwrap_or_default());
        json.key("codeHash").hash(&self.code_hash(account.is_some())?);
        json.key("nonce").quantity_wide(&account.as_ref().map(|found| found.nonce).unwrap_or_default());
        // An absent account has no storage, even if the storage mark of a contract exists.
        let has_storage = account.is_some();
        json.key("storageHash").hash(&self.storage_hash(has_storage)?);
        json.key("storageProof").begin_array();
        for position in positions {
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            self.write_cell(&mut json, position, has_storage)?;
        }
        json.end_array();
        json.end_object();
        Ok(json.finish())
    }

    fn write_cell(&self, json: &mut JsonWriter, position: &U256, has_storage: bool) -> Result<(), RpcError> {
        let key = keys::storage_key(self.address.as_slice(), &B256::from(position.to_be_bytes::<32>()));
        let value = self.state.get(&key).map_err(RpcError::internal)?.unwrap_or_default();
        json.begin_object();
        let proof = match self.format {
            ProofFormat::Rhizome => {
                json.key("key").quantity_wide(position);
                self.prove_below_account(&key, has_storage)?
            }
            ProofFormat::Rskj => {
                json.key("key").word(position);
                self.prove(&key)?
            }
        };
        json.key("value").quantity_bytes(&value);
        json.key("proof");
        write_nodes(json, &proof);
        json.end_object();
        Ok(())
    }

    /// Returns the nodes between the root of the state and a key.
    fn prove(&self, key: &[u8]) -> Result<Vec<Bytes>, RpcError> {
        match self.format {
            ProofFormat::Rhizome => self.state.prove(key),
            ProofFormat::Rskj => self.state.get_nodes(key).map(Option::unwrap_or_default),
        }
        .map_err(RpcError::internal)
    }

    fn account(&self) -> Result<Option<AccountState>, RpcError> {
        let value = self.state.get(&keys::account_key(self.address.as_slice())).map_err(RpcError::internal)?;
        value.map(|value| AccountState::decode(&value).map_err(RpcError::internal)).transpose()
    }

    fn code_hash(&self, exists: bool) -> Result<B256, RpcError> {
        if self.format == ProofFormat::Rskj && !exists {
            return Ok(B256::ZERO);
        }
        let found = self.state.length_and_hash(&keys::code_key(self.address.as_slice()))?;
        Ok(found.map_or(EMPTY_CODE_HASH, |(_length, hash)| hash))
    }

    /// Returns the Keccak hash of the storage root: the left child of the node of the account.
    fn storage_hash(&self, has_storage: bool) -> Result<B256, RpcError> {
        let mark = keys::mark_key(self.address.as_slice());
        if self.format == ProofFormat::Rskj {
            return Ok(self.state.node_hash(&mark).map_err(RpcError::internal)?.unwrap_or(EMPTY_ROOT));
        }
        let below = self.prove_below_account(&mark, has_storage)?;
        Ok(below.first().map_or(EMPTY_ROOT, keccak256))
    }

    /// The nodes under the account's own on the way to a key.
    fn prove_below_account(&self, key: &[u8], has_storage: bool) -> Result<Vec<Bytes>, RpcError> {
        if !has_storage {
            return Ok(Vec::new());
        }
        let account = keys::account_key(self.address.as_slice());
        let mut nodes = self.state.prove_below(&account, key).map_err(RpcError::internal)?.unwrap_or_default();
        Ok(nodes.split_off(nodes.len().min(1)))
    }
}

fn write_nodes(json: &mut JsonWriter, messages: &[Bytes]) {
    json.begin_array();
    for message in messages {
        let mut element = Vec::with_capacity(message.len() + 3);
        rlp::put_bytes(&mut element, message);
        json.data(&element);
    }
    json.end_array();
}
