//! Scripts of repository operations (`repo.json` of the suite `state`).

use std::fmt::Display;
use std::sync::Arc;

use rhizome_evm::{AccountId, Checkpoint, State};
use rhizome_primitives::{Address, B256, Bytes, I256, U256, hex};
use rhizome_trie::{MemoryNodes, Trie};
use serde_json::{Value, json};

use super::{Mismatch, Verdict, equal};

/// Runs one script and compares the trie after it.
pub(crate) fn check(case: &Value) -> Verdict {
    let mut run = Run::new();
    for (number, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
        let what = format!("step {number}, {step}");
        run.step(step, &what)?;
    }
    run.flush().map_err(broken("end"))?;
    equal("root", case["root"].as_str(), Some(&hex::encode(run.trie.root_hash())[..]))?;
    let entries = run.trie.entries().collect::<Result<Vec<_>, _>>().map_err(broken("entries"))?;
    let dump: Vec<_> = entries.iter().map(|(key, value)| json!([hex::encode(key), hex::encode(value)])).collect();
    equal("dump", &case["dump"], &Value::from(dump))
}

fn broken<E: Display>(what: &str) -> impl Fn(E) -> Mismatch {
    move |error| Mismatch::broken(what, error)
}

struct Run {
    trie: Trie,
    state: State,
    layers: Vec<Checkpoint>,
}

impl Run {
    fn new() -> Run {
        let trie = Trie::empty(Arc::new(MemoryNodes::default()));
        Run { state: State::new(Arc::new(trie.clone())), trie, layers: Vec::new() }
    }

    /// Writes the changes to the trie. Without a layer this happens after each operation.
    fn flush(&mut self) -> Result<(), rhizome_trie::TrieError> {
        if self.layers.is_empty() {
            let state = std::mem::replace(&mut self.state, State::new(Arc::new(self.trie.clone())));
            self.trie.apply(&state.into_delta())?;
            self.state = State::new(Arc::new(self.trie.clone()));
        }
        Ok(())
    }

    fn step(&mut self, step: &Value, what: &str) -> Verdict {
        let text = |at: usize| step[at].as_str().unwrap_or_default();
        match text(0) {
            "begin" => {
                self.layers.push(self.state.checkpoint());
                return Ok(());
            }
            "commit" => drop(self.layers.pop()),
            "rollback" => self.state.revert(self.layers.pop().unwrap_or_default()),
            "root" => equal(what, text(1), &hex::encode(self.trie.root_hash()))?,
            "q" => self.query(step, what)?,
            name => self.operate(name, step, what)?,
        }
        self.flush().map_err(broken(what))
    }

    fn operate(&mut self, name: &str, step: &Value, what: &str) -> Verdict {
        let account = account(&step[1])?;
        let amount = |at: usize| step[at].as_str().unwrap_or_default().parse::<I256>().map_err(broken(what));
        let state = &mut self.state;
        let done = match name {
            "createAccount" => state.create_account(account),
            "createAccountCarry" => state.create_account_with_balance(account),
            "setupContract" => state.setup_contract(account),
            "addBalance" => state.add_balance(account, amount(2)?),
            "transfer" => state.transfer(account, self::account(&step[2])?, amount(3)?),
            "increaseNonce" => state.increase_nonce(account),
            "setNonce" => state.set_nonce(account, amount(2)?.into_raw()),
            "saveCode" => state.save_code(account, bytes(&step[2])?.unwrap_or_default()),
            "addStorageRow" => state.set_storage_word(account, word(&step[2])?, word(&step[3])?),
            "addStorageBytes" => state.set_storage_bytes(account, word(&step[2])?, bytes(&step[3])?),
            "delete" => state.delete(account),
            "hibernate" => state.hibernate(account),
            _ => return Err(Mismatch::broken(what, "unknown step")),
        };
        done.map_err(broken(what))
    }

    fn query(&mut self, step: &Value, what: &str) -> Verdict {
        let account = account(&step[2])?;
        let in_hex = |bytes: Option<Bytes>| bytes.map_or(Value::Null, |bytes| hex::encode(bytes).into());
        let of_hash = |hash: B256| Value::from(hex::encode(hash));
        let of_word = |word: Option<U256>| word.map_or(Value::Null, |word| of_hash(word.into()));
        let state = &mut self.state;
        let got = match step[1].as_str().unwrap_or_default() {
            "isExist" => state.exists(account).map(Value::from),
            "isContract" => state.is_contract(account).map(Value::from),
            "balance" => state.balance(account).map(|balance| balance.to_string().into()),
            "nonce" => state.nonce(account).map(|nonce| nonce.to_string().into()),
            "code" => state.code(account).map(in_hex),
            "codeLength" => state.code_length(account).map(Value::from),
            "codeHashStd" => state.code_hash(account, true).map(of_hash),
            "codeHashNonStd" => state.code_hash(account, false).map(of_hash),
            "storageValue" => state.storage_word(account, &word(&step[3])?).map(of_word),
            "storageBytes" => state.storage_bytes(account, &word(&step[3])?).map(in_hex),
            _ => return Err(Mismatch::broken(what, "unknown query")),
        };
        let got = got.map_err(broken(what))?;
        equal(what, step.as_array().and_then(|step| step.last()), Some(&got))
    }
}

fn account(value: &Value) -> Result<AccountId, Mismatch> {
    match value.as_str().unwrap_or_default() {
        "00" => Ok(AccountId::RemascSender),
        text => text.parse::<Address>().map(AccountId::Address).map_err(broken(text)),
    }
}

fn word(value: &Value) -> Result<U256, Mismatch> {
    let text = value.as_str().unwrap_or_default();
    U256::from_str_radix(text, 16).map_err(broken(text))
}

/// Reads hex digits, null, or a repeated byte.
fn bytes(value: &Value) -> Result<Option<Bytes>, Mismatch> {
    let decode = |text: &str| hex::decode(text).map_err(broken(text));
    if let Some(count) = value["n"].as_u64() {
        let byte = decode(value["rep"].as_str().unwrap_or_default())?;
        return Ok(Some(byte.repeat(count as usize).into()));
    }
    value.as_str().map(|text| decode(text).map(Bytes::from)).transpose()
}
