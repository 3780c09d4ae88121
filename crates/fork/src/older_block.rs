//! Blocks of the remote chain that are executed again, for traces: with their transactions, on the state after their parent.

use std::collections::VecDeque;
use std::sync::Arc;

use rhizome_evm::{AncestorBlock, Ancestry, AncestryError, BridgeAnswers};
use rhizome_primitives::{Address, B256, Block, ChainSpec, Header, Rule, Transaction, UnsignedTransaction};
use rhizome_trie::{StateReader, list_root};
use serde::Deserialize;

use crate::bridge::RemoteBridge;
use crate::call::RemoteCall;
use crate::error::ForkError;
use crate::header::{BlockObject, bytes, hash_of, number};
use crate::origin::RemoteChain;
use crate::state::RemoteState;

/// Blocks in memory. Clients trace the transactions of a block one after another.
const HELD_BLOCKS: usize = 8;

/// A block of the remote chain that can be executed.
pub struct OlderBlock {
    hash: B256,
    block: Block,
    senders: Vec<Address>,
    state: Arc<RemoteState>,
    bridge: Option<RemoteBridge>,
}

/// The blocks of a remote chain below one of them, and the Bridge before it.
pub struct OlderAncestry {
    chain: Arc<RemoteChain>,
    block: Arc<OlderBlock>,
}

/// The last used blocks, latest first.
#[derive(Default)]
pub(crate) struct HeldBlocks(VecDeque<Arc<OlderBlock>>);

/// A block object with its transactions.
#[derive(Deserialize)]
struct WholeBlock {
    #[serde(flatten)]
    object: BlockObject,
    transactions: Vec<TransactionObject>,
}

/// A transaction object. Members that the encoding does not have are not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TransactionObject {
    hash: String,
    nonce: String,
    gas_price: String,
    gas: String,
    to: Option<String>,
    value: String,
    input: String,
    v: Option<String>,
    r: Option<String>,
    s: Option<String>,
}

/// The block that a transaction is in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PositionObject {
    block_hash: Option<String>,
}

impl OlderBlock {
    /// Returns the hash.
    pub fn hash(&self) -> B256 {
        self.hash
    }

    /// Returns the block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Returns the sender of each transaction, zero for REMASC.
    pub fn senders(&self) -> &[Address] {
        &self.senders
    }

    /// Returns the state after the parent.
    pub fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }

    /// Returns the index of a transaction.
    fn index_of(&self, transaction: &B256) -> Option<usize> {
        self.block.transactions.iter().position(|one| one.hash() == *transaction)
    }
}

impl HeldBlocks {
    fn take(&mut self, is_wanted: impl Fn(&OlderBlock) -> bool) -> Option<Arc<OlderBlock>> {
        let place = self.0.iter().position(|block| is_wanted(block))?;
        let block = self.0.remove(place)?;
        self.0.push_front(Arc::clone(&block));
        Some(block)
    }

    fn add(&mut self, block: &Arc<OlderBlock>) {
        self.0.truncate(HELD_BLOCKS - 1);
        self.0.push_front(Arc::clone(block));
    }
}

impl RemoteChain {
    /// Returns a block by its number; `None` for block 0, which executes nothing, and above the block that the fork begins at.
    pub fn older_block_at(&self, number: u64) -> Result<Option<Arc<OlderBlock>>, ForkError> {
        if number == self.number() {
            return self.older_block(&self.hash());
        }
        if number == 0 {
            return Ok(None);
        }
        match self.read_ancestor(number)? {
            Some(ancestor) => self.older_block(&ancestor.hash),
            None => Ok(None),
        }
    }

    /// Returns a block by its hash; `None` for block 0, above the block that the fork begins at, and if the remote node does not have it.
    /// Fails for a block beside the chain of the fork.
    pub fn older_block(&self, hash: &B256) -> Result<Option<Arc<OlderBlock>>, ForkError> {
        if let Some(held) = self.held_blocks().take(|block| block.hash == *hash) {
            return Ok(Some(held));
        }
        let call = RemoteCall::whole_block(hash);
        let text = self.pass(&call.method, &call.params)?;
        let Some(WholeBlock { object, transactions }) = call.parse::<Option<WholeBlock>>(&text)? else {
            return Ok(None);
        };
        if object.is_genesis(&call)? {
            return Ok(None);
        }
        let read = object.block(&call, self.remote_spec())?;
        if read.hash != *hash {
            return Err(ForkError::HeaderHash { number: read.header.number, hash: *hash });
        }
        let height = read.header.number;
        let main = match height == self.number() {
            true => Some(self.hash()),
            false => self.read_ancestor(height)?.map(|ancestor| ancestor.hash),
        };
        match main {
            None => return Ok(None),
            Some(main) if main != *hash => return Err(ForkError::BesideChain { number: height, hash: *hash }),
            Some(_) => {}
        }
        let transactions = read_transactions(&call, &transactions, &read.header, self.remote_spec())?;
        let senders = senders_of(&transactions, height, self.remote_spec())?;
        let parent = read.header.parent().ok_or_else(|| call.malformed("the hash of a parent is expected"))?;
        let (state, bridge) = self.state_after(height - 1, parent);
        let ancestor = self.with_uncles(vec![read])?.into_iter().next().map(Arc::unwrap_or_clone);
        let AncestorBlock { header, uncles, .. } = ancestor.ok_or_else(|| call.malformed("no block"))?;
        let block = Block { header: Arc::unwrap_or_clone(header), transactions, uncles };
        let older = Arc::new(OlderBlock { hash: *hash, block, senders, state: Arc::new(state), bridge });
        self.held_blocks().add(&older);
        Ok(Some(older))
    }

    /// Returns the block of a transaction, and its index; `None` if it is in no block up to that of the fork.
    pub fn older_transaction(&self, transaction: &B256) -> Result<Option<(Arc<OlderBlock>, usize)>, ForkError> {
        let held = self.held_blocks().take(|block| block.index_of(transaction).is_some());
        let block = match held {
            Some(held) => Some(held),
            // The transactions of the block that the fork begins at are asked for most, and one request reads them all.
            None => match self.older_block(&self.hash())?.filter(|block| block.index_of(transaction).is_some()) {
                Some(block) => Some(block),
                None => self.block_of(transaction)?,
            },
        };
        Ok(block.and_then(|block| block.index_of(transaction).map(|index| (block, index))))
    }

    fn block_of(&self, transaction: &B256) -> Result<Option<Arc<OlderBlock>>, ForkError> {
        let call = RemoteCall::transaction(transaction);
        let text = self.pass(&call.method, &call.params)?;
        let position = call.parse::<Option<PositionObject>>(&text)?;
        let hash = position.and_then(|position| position.block_hash).map(|text| hash_of(&call, &text)).transpose()?;
        hash.map_or(Ok(None), |hash| self.older_block(&hash))
    }
}

impl OlderAncestry {
    /// Returns what an execution of the block reads besides the state.
    pub fn new(chain: Arc<RemoteChain>, block: Arc<OlderBlock>) -> Self {
        Self { chain, block }
    }
}

impl Ancestry for OlderAncestry {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        if number >= self.block.block.header.number {
            return Ok(None);
        }
        self.chain.read_ancestor(number).map_err(|error| AncestryError { number, reason: Box::new(error) })
    }

    fn bridge_answers(&self) -> Option<&dyn BridgeAnswers> {
        Some(self.block.bridge.as_ref()?)
    }
}

/// Reads the transactions of a block. Together they must have the root of its header: a node may leave out that of REMASC, the last one.
fn read_transactions(
    call: &RemoteCall,
    objects: &[TransactionObject],
    header: &Header,
    spec: &ChainSpec,
) -> Result<Vec<Transaction>, ForkError> {
    let number = header.number;
    let mut transactions = objects
        .iter()
        .map(|object| object.transaction(call, number)?.ok_or(ForkError::Transactions { number }))
        .collect::<Result<Vec<_>, _>>()?;
    let is_orchid = !spec.rules(number).is_active(Rule::Rskip126);
    let has_root = |transactions: &[Transaction]| {
        let root = list_root(transactions.iter().map(|one| one.encoded().as_ref()), is_orchid);
        root.is_ok_and(|root| header.transactions_root.as_ref() == root.as_slice())
    };
    if !has_root(&transactions) {
        transactions.push(Transaction::remasc(number));
        if !has_root(&transactions) {
            return Err(ForkError::Transactions { number });
        }
    }
    Ok(transactions)
}

fn senders_of(transactions: &[Transaction], number: u64, spec: &ChainSpec) -> Result<Vec<Address>, ForkError> {
    let sender = |transaction: &Transaction| {
        if transaction.has_remasc_form() {
            return Ok(Address::ZERO);
        }
        match transaction.impersonated_sender().filter(|_sender| spec.is_development()) {
            Some(sender) => Ok(sender),
            None => transaction.recover_sender().or(Err(ForkError::Transactions { number })),
        }
    };
    transactions.iter().map(sender).collect()
}

impl TransactionObject {
    /// Returns the transaction; `None` if the shortest encoding of its fields does not have its hash.
    fn transaction(&self, call: &RemoteCall, block: u64) -> Result<Option<Transaction>, ForkError> {
        let expected = hash_of(call, &self.hash)?;
        let remasc = Transaction::remasc(block);
        if remasc.hash() == expected {
            return Ok(Some(remasc));
        }
        let (Some(v), Some(r), Some(s)) = (&self.v, &self.r, &self.s) else { return Ok(None) };
        let (Ok(v), Ok(gas_limit)) = (u8::try_from(number(call, v)?), u64::try_from(number(call, &self.gas)?)) else {
            return Ok(None);
        };
        let unsigned = UnsignedTransaction {
            nonce: number(call, &self.nonce)?,
            gas_price: number(call, &self.gas_price)?,
            gas_limit,
            to: self.to.as_deref().map(|to| to.parse().or(Err(call.malformed("an address")))).transpose()?,
            value: number(call, &self.value)?,
            data: bytes(call, &self.input)?,
        };
        let transaction = Transaction::from_fields(&unsigned, v, number(call, r)?, number(call, s)?);
        Ok(transaction.ok().filter(|transaction| transaction.hash() == expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{Bytes, U256, keccak256};
    use serde_json::{Value, json};

    fn signed(nonce: u64, data: &'static [u8]) -> Transaction {
        let unsigned = UnsignedTransaction {
            nonce: U256::from(nonce),
            gas_price: U256::ZERO,
            gas_limit: 50_000,
            to: nonce.is_multiple_of(2).then_some(Address::repeat_byte(0xab)),
            value: U256::from(nonce * 1000),
            data: Bytes::from_static(data),
        };
        Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap()
    }

    fn object(transaction: &Transaction) -> Value {
        json!({
            "hash": transaction.hash().to_string(),
            "nonce": format!("{:#x}", transaction.nonce()),
            "gasPrice": format!("{:#x}", transaction.gas_price()),
            "gas": format!("{:#x}", transaction.gas_limit()),
            "to": transaction.to().map(|to| format!("{to:#x}")),
            "value": format!("{:#x}", transaction.value()),
            "input": format!("{}", transaction.data()),
            "v": format!("{:#x}", transaction.encoded_v()),
            "r": format!("{:#x}", transaction.r()),
            "s": format!("{:#x}", transaction.s()),
            "type": "0x0",
        })
    }

    fn objects(transactions: &[Transaction]) -> Vec<TransactionObject> {
        transactions.iter().map(|one| serde_json::from_value(object(one)).unwrap()).collect()
    }

    fn header(transactions: &[Transaction]) -> Header {
        let mut header = Header::new(7, &ChainSpec::regtest());
        let root = list_root(transactions.iter().map(|one| one.encoded().as_ref()), false).unwrap();
        header.transactions_root = Bytes::copy_from_slice(root.as_slice());
        header
    }

    fn read(objects: &[TransactionObject], header: &Header) -> Result<Vec<B256>, ForkError> {
        let call = RemoteCall::whole_block(&B256::ZERO);
        let found = read_transactions(&call, objects, header, &ChainSpec::regtest())?;
        Ok(found.iter().map(Transaction::hash).collect())
    }

    #[test]
    fn transactions_are_those_of_the_header() {
        let impersonated = Transaction::impersonate(
            UnsignedTransaction {
                nonce: U256::ZERO,
                gas_price: U256::from(1),
                gas_limit: 21_000,
                to: None,
                value: U256::ZERO,
                data: Bytes::new(),
            },
            33,
            &Address::repeat_byte(0x5e),
        )
        .unwrap();
        let sent = [signed(0, b""), signed(1, b"\x60\x00"), impersonated];
        let whole = [sent.as_slice(), &[Transaction::remasc(7)]].concat();
        let hashes: Vec<B256> = whole.iter().map(Transaction::hash).collect();
        assert_eq!(read(&objects(&whole), &header(&whole)).unwrap(), hashes);
        // A node may hide the transaction of REMASC.
        assert_eq!(read(&objects(&sent), &header(&whole)).unwrap(), hashes);
        for wrong in [&sent[1..], &whole[..1]] {
            let error = read(&objects(wrong), &header(&whole)).unwrap_err();
            assert!(matches!(error, ForkError::Transactions { number: 7 }));
        }
        let senders = senders_of(&whole, 7, &ChainSpec::regtest()).unwrap();
        let expected = [sent[0].recover_sender().unwrap(), sent[1].recover_sender().unwrap()];
        assert_eq!(senders, [expected.as_slice(), &[Address::repeat_byte(0x5e), Address::ZERO]].concat());
    }

    #[test]
    fn a_transaction_without_its_hash_is_refused() {
        let whole = [signed(0, b""), Transaction::remasc(7)];
        let mut changed = object(&whole[0]);
        changed["value"] = json!("0x1");
        let changed = [serde_json::from_value(changed).unwrap()];
        assert!(matches!(read(&changed, &header(&whole)), Err(ForkError::Transactions { number: 7 })));
    }
}
