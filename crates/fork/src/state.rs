//! The state after a block of the remote chain, by trie key. An account comes whole: balance, nonce and code in one request, with
//! the slots that name the implementation of a proxy.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, ChainSpec, I256, U256, b256, keccak256};
use rhizome_trie::keys::{KeyPart, MARK, REMASC_SENDER, StateKey};
use rhizome_trie::{AccountState, StateError, StateReader, is_set_up, keys};
use serde_json::{Value, json};

use crate::call::RemoteCall;
use crate::error::ForkError;
use crate::header::{BlockObject, bytes, number};
use crate::remote::Remote;
use crate::waiting::may_wait;

/// Memory for accounts with code, and for slots, of the state that a fork begins with, in bytes each.
pub(crate) const CACHE_BYTES: u64 = 64 << 20;
/// Memory of an entry besides its bytes, estimated.
const ENTRY_BYTES: u64 = 200;

/// Reads of an account.
const ACCOUNT_METHODS: [&str; 3] = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"];

/// Slots of most proxies for the address of their implementation: that of EIP-1967, and the first one. They come with the account, as a
/// call of a proxy would take another round trip.
const PROXY_SLOTS: [B256; 2] = [b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"), B256::ZERO];

/// How the remote node serves the state of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateAccess {
    /// Whether it takes the hash of the block (EIP-1898). Otherwise the hash of the number is compared with each read.
    pub(crate) by_hash: bool,
    /// Whether it serves storage slots in their stored form, which those of the Bridge need.
    pub(crate) stored_slots: bool,
}

/// The state after a block of the remote chain.
pub(crate) struct RemoteState {
    remote: Arc<Remote>,
    access: StateAccess,
    number: u64,
    hash: B256,
    /// Accounts of the remote chain that are there without balance, nonce and code: those of precompiles and of genesis.
    spec: ChainSpec,
    /// Balances that the fork begins with instead of those of the remote chain.
    funded: BTreeMap<Address, U256>,
    accounts: Cache<Address, Arc<RemoteAccount>, AccountWeight>,
    slots: Cache<(Address, B256), Option<Bytes>, SlotWeight>,
}

/// An account of the remote chain.
struct RemoteAccount {
    /// `None`: the account does not exist.
    value: Option<Bytes>,
    is_contract: bool,
    code: Bytes,
    code_hash: B256,
}

#[derive(Clone)]
struct AccountWeight;

impl Weighter<Address, Arc<RemoteAccount>> for AccountWeight {
    fn weight(&self, _address: &Address, account: &Arc<RemoteAccount>) -> u64 {
        account.code.len() as u64 + ENTRY_BYTES
    }
}

#[derive(Clone)]
struct SlotWeight;

impl Weighter<(Address, B256), Option<Bytes>> for SlotWeight {
    fn weight(&self, _slot: &(Address, B256), value: &Option<Bytes>) -> u64 {
        value.as_ref().map_or(0, |value| value.len() as u64) + ENTRY_BYTES
    }
}

impl RemoteState {
    pub(crate) fn new(
        remote: Arc<Remote>,
        access: StateAccess,
        (number, hash): (u64, B256),
        spec: ChainSpec,
        funded: BTreeMap<Address, U256>,
        cache_bytes: u64,
    ) -> Self {
        let items = usize::try_from(cache_bytes / ENTRY_BYTES / 4).unwrap_or(usize::MAX);
        let accounts = Cache::with_weighter(items, cache_bytes, AccountWeight);
        let slots = Cache::with_weighter(items, cache_bytes, SlotWeight);
        Self { remote, access, number, hash, spec, funded, accounts, slots }
    }

    fn account(&self, address: &Address) -> Result<Arc<RemoteAccount>, ForkError> {
        if may_wait() {
            // One request for all threads that want it.
            return self.accounts.get_or_insert_with(address, || self.load_account(address).map(Arc::new));
        }
        if let Some(account) = self.accounts.get(address) {
            return Ok(account);
        }
        let account = Arc::new(self.load_account(address)?);
        self.accounts.insert(*address, Arc::clone(&account));
        Ok(account)
    }

    /// Reads the funded accounts and the zero address, which sends the calls without a sender, in as few requests as possible. The start
    /// shows the former, and most calls would wait for the latter.
    pub(crate) fn read_common_accounts(&self) -> Result<(), ForkError> {
        let block = block_parameter(self.access.by_hash, self.number, &self.hash);
        let addresses: Vec<Address> = self.funded.keys().copied().chain([Address::ZERO]).collect();
        let calls: Vec<RemoteCall> = addresses.iter().flat_map(|address| account_calls(address, &block)).collect();
        let texts = self.read(&calls)?;
        let of_each = calls.chunks(ACCOUNT_METHODS.len()).zip(texts.chunks(ACCOUNT_METHODS.len()));
        for (address, (calls, texts)) in addresses.iter().zip(of_each) {
            self.accounts.insert(*address, Arc::new(self.decode_account(address, calls, texts)?));
        }
        Ok(())
    }

    fn load_account(&self, address: &Address) -> Result<RemoteAccount, ForkError> {
        let block = block_parameter(self.access.by_hash, self.number, &self.hash);
        let slots = if is_set_up(&self.spec, self.number, address) { &[] } else { &PROXY_SLOTS[..] };
        let mut calls: Vec<RemoteCall> = account_calls(address, &block).collect();
        calls.extend(slots.iter().map(|slot| RemoteCall::slot("eth_getStorageAt", address, slot, &block)));
        let texts = self.read(&calls)?;
        let of_slots = calls.iter().zip(&texts).skip(ACCOUNT_METHODS.len());
        for (slot, (call, text)) in slots.iter().zip(of_slots) {
            self.slots.insert((*address, *slot), decode_word(call, text)?);
        }
        self.decode_account(address, &calls, &texts)
    }

    /// Makes an account of the results of its calls. Further results are ignored.
    fn decode_account(
        &self,
        address: &Address,
        calls: &[RemoteCall],
        texts: &[String],
    ) -> Result<RemoteAccount, ForkError> {
        let text = |index: usize| -> Result<(&RemoteCall, String), ForkError> {
            let (Some(call), Some(text)) = (calls.get(index), texts.get(index)) else { return Err(self.incomplete()) };
            Ok((call, call.parse(text)?))
        };
        let quantity = |index: usize| text(index).and_then(|(call, text)| number(call, &text));
        let (balance, nonce) = (quantity(0)?, quantity(1)?);
        let (call, code) = text(2)?;
        let code = bytes(call, &code)?;
        let balance = self.funded.get(address).copied().unwrap_or(balance);
        let balance = I256::try_from(balance).or(Err(text(0)?.0.malformed("a balance of 2^255 wei or more")))?;
        let is_set_up = is_set_up(&self.spec, self.number, address);
        let genesis = self.spec.genesis.alloc.iter().find(|account| account.address == *address);
        let is_known = genesis.is_some() || is_set_up;
        let exists = is_known || !balance.is_zero() || !nonce.is_zero() || !code.is_empty();
        Ok(RemoteAccount {
            value: exists.then(|| AccountState { nonce, balance, flags: 0 }.encode()),
            is_contract: is_set_up || !code.is_empty() || genesis.is_some_and(|account| account.code.is_some()),
            code_hash: keccak256(&code),
            code,
        })
    }

    fn slot(&self, address: &Address, slot: &B256) -> Result<Option<Bytes>, ForkError> {
        let place = (*address, *slot);
        if may_wait() {
            return self.slots.get_or_insert_with(&place, || self.load_slot(address, slot));
        }
        if let Some(value) = self.slots.get(&place) {
            return Ok(value);
        }
        let value = self.load_slot(address, slot)?;
        self.slots.insert(place, value.clone());
        Ok(value)
    }

    fn load_slot(&self, address: &Address, slot: &B256) -> Result<Option<Bytes>, ForkError> {
        let block = block_parameter(self.access.by_hash, self.number, &self.hash);
        // Only slots of the Bridge are longer than a word, or have leading zeros.
        if *address == BRIDGE {
            if !self.access.stored_slots {
                return Err(ForkError::BridgeStorage);
            }
            return self.stored_slot(address, slot, &block);
        }
        let call = RemoteCall::slot("eth_getStorageAt", address, slot, &block);
        let texts = self.read(std::slice::from_ref(&call))?;
        decode_word(&call, texts.first().ok_or_else(|| self.incomplete())?)
    }

    fn stored_slot(&self, address: &Address, slot: &B256, block: &Value) -> Result<Option<Bytes>, ForkError> {
        let call = RemoteCall::slot("rsk_getStorageBytesAt", address, slot, block);
        let texts = self.read(std::slice::from_ref(&call))?;
        let text: String = call.parse(texts.first().ok_or_else(|| self.incomplete())?)?;
        // An absent slot is "0x0".
        if text == "0x0" {
            return Ok(None);
        }
        Ok(Some(bytes(&call, &text)?).filter(|value| !value.is_empty()))
    }

    /// Returns the results of state reads. If they name the block by its number, its hash is compared in the same request.
    fn read(&self, calls: &[RemoteCall]) -> Result<Vec<String>, ForkError> {
        if self.access.by_hash {
            return self.remote.results(calls);
        }
        let check = RemoteCall::block_by_number(&format!("{:#x}", self.number));
        self.remote.results_if(calls, &check, |text| {
            let object: Option<BlockObject> = check.parse(text)?;
            let object = object.ok_or_else(|| ForkError::NoBlock { block: self.number.to_string() })?;
            let found = object.stated_hash(&check)?;
            match found == self.hash {
                true => Ok(()),
                false => Err(ForkError::Changed { number: self.number, expected: self.hash, found }),
            }
        })
    }

    fn incomplete(&self) -> ForkError {
        ForkError::NoBlock { block: self.number.to_string() }
    }

    fn value(&self, key: &[u8]) -> Result<Option<Bytes>, ForkError> {
        let Some(StateKey { address, part }) = StateKey::parse(key) else { return Ok(None) };
        let Ok(address) = Address::try_from(address) else {
            return Ok((address == REMASC_SENDER).then(|| self.remasc_sender(part)).flatten());
        };
        match part {
            KeyPart::Account => Ok(self.account(&address)?.value.clone()),
            KeyPart::Code => Ok(Some(self.account(&address)?.code.clone()).filter(|code| !code.is_empty())),
            KeyPart::Mark => Ok(self.account(&address)?.is_contract.then(|| Bytes::from_static(MARK))),
            KeyPart::Slot(slot) => self.slot(&address, &slot),
        }
    }

    /// The sender of REMASC transactions sends one in each block but genesis, and has nothing else.
    fn remasc_sender(&self, part: KeyPart) -> Option<Bytes> {
        let account = AccountState { nonce: U256::from(self.number), ..AccountState::default() };
        (part == KeyPart::Account).then(|| account.encode())
    }
}

fn account_calls<'a>(address: &'a Address, block: &'a Value) -> impl Iterator<Item = RemoteCall> + 'a {
    ACCOUNT_METHODS.iter().map(move |method| RemoteCall::account(method, address, block))
}

/// Reads the result of `eth_getStorageAt` as a stored value.
fn decode_word(call: &RemoteCall, text: &str) -> Result<Option<Bytes>, ForkError> {
    let word = bytes(call, &call.parse::<String>(text)?)?;
    if word.len() > 32 {
        return Err(call.malformed("a word of more than 32 bytes"));
    }
    Ok(keys::encode_slot_value(U256::from_be_slice(&word)))
}

/// Returns the parameter that names the block.
pub(crate) fn block_parameter(by_hash: bool, number: u64, hash: &B256) -> Value {
    if by_hash { json!({ "blockHash": hash.to_string() }) } else { json!(format!("{number:#x}")) }
}

impl StateReader for RemoteState {
    /// Lists the slots of accounts without code, which have none.
    fn visit_keys(&self, prefix: &[u8], _visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let mark = prefix.get(..=keys::ACCOUNT_KEY_LENGTH).and_then(StateKey::parse);
        if let Some(StateKey { address, part: KeyPart::Mark }) = mark
            && let Ok(address) = Address::try_from(address)
        {
            let account = self.account(&address).map_err(|error| StateError::Reader(Box::new(error)))?;
            if !account.is_contract {
                return Ok(());
            }
        }
        Err(StateError::Unlisted)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        self.value(key).map_err(|error| StateError::Reader(Box::new(error)))
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        if let Some(StateKey { address, part: KeyPart::Code }) = StateKey::parse(key)
            && let Ok(address) = Address::try_from(address)
        {
            let account = self.account(&address).map_err(|error| StateError::Reader(Box::new(error)))?;
            return Ok(Some((account.code.len(), account.code_hash)).filter(|(length, _)| *length > 0));
        }
        Ok(self.get(key)?.map(|value| (value.len(), keccak256(&value))))
    }
}
