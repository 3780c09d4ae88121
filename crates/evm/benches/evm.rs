//! Speed of execution compared with plain revm, on one thread: `cargo bench -p rhizome-evm --profile release`.
//!
//! Runs small programs, in gas per second, and the transactions of the chain `load`, with known senders and a state in
//! memory without a trie. Each line of output is `name: value unit`.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, RwLock};
use std::time::Instant;

use flate2::read::GzDecoder;
use revm::bytecode::Bytecode;
use revm::context::{BlockEnv as RevmBlock, TxEnv};
use revm::database::{CacheDB, EmptyDB};
use revm::primitives::{TxKind, hardfork::SpecId};
use revm::state::AccountInfo;
use revm::{Context, ExecuteCommitEvm, ExecuteEvm, MainBuilder, MainContext};
use rhizome_evm::{AncestorBlock, Ancestry, AncestryError, BlockEnv, CallRequest, Deadline, call, execute_block};
use rhizome_primitives::{Address, Block, Bytes, ChainSpec, Header, Transaction, U256, hex};
use rhizome_trie::{MemoryNodes, StateDelta, StateError, StateReader, genesis};

type Failure = Box<dyn Error>;

/// Programs; each is a loop until out of gas.
const PROGRAMS: [(&str, &str); 5] = [
    // PUSH1 3; JUMPDEST; DUP1; MUL; PUSH1 7; ADD; PUSH1 2; JUMP
    ("arithmetic", "60035b800260070160025600"),
    // JUMPDEST; PUSH1 32; PUSH1 0; KECCAK256; PUSH1 0; MSTORE; PUSH1 0; JUMP
    ("Keccak of a word", "5b602060002060005260005600"),
    // JUMPDEST; PUSH1 1; PUSH2 0x0400; MSTORE; PUSH2 0x0400; MLOAD; POP; PUSH1 0; JUMP
    ("memory", "5b600161040052610400515060005600"),
    // JUMPDEST; PUSH1 0; SLOAD; POP; PUSH1 0; JUMP
    ("SLOAD of a warm cell", "5b600054506000565b00"),
    // JUMPDEST; 4 x PUSH1 0; PUSH1 4; GAS; STATICCALL to the identity contract; POP; ...; JUMP
    ("calls of a built-in contract", "5b600060006000600060045afa5060005600"),
];
const PROGRAM_GAS: u64 = 100_000_000;
/// Address of the programs.
const PROGRAM: Address = Address::repeat_byte(0x77);
/// Number of runs, of which the fastest counts: other load on the machine only makes runs slower.
const RUNS: usize = 5;

fn main() -> Result<(), Failure> {
    for (name, code) in PROGRAMS {
        let code = Bytes::from(hex::decode(code)?);
        let mgas = PROGRAM_GAS as f64 / 1e6;
        let ours = fastest(|| run_program(&code))?;
        let revm = fastest(|| run_plain_program(&code))?;
        println!("{name}: {:.0} Mgas/s", mgas / ours);
        println!("{name} by plain revm: {:.0} Mgas/s", mgas / revm);
    }
    let load = Load::read()?;
    let mgas = load.blocks.iter().map(|block| block.block.header.gas_used).sum::<u64>() as f64 / 1e6;
    let ours = execute_load(&load)?;
    let (revm, failed) = execute_load_plainly(&load)?;
    println!("load: {ours:.2} s");
    println!("load: {:.0} Mgas/s", mgas / ours);
    println!("load by plain revm: {revm:.2} s");
    println!("load by plain revm: {:.0} Mgas/s", mgas / revm);
    if failed > 0 { Err(format!("plain revm: {failed} transactions failed").into()) } else { Ok(()) }
}

fn fastest(run: impl Fn() -> Result<f64, Failure>) -> Result<f64, Failure> {
    (0..RUNS).try_fold(f64::INFINITY, |least, _| Ok(least.min(run()?)))
}

fn run_program(code: &Bytes) -> Result<f64, Failure> {
    let spec = ChainSpec::regtest();
    let header = Header::new(1, &spec);
    let state = Arc::new(Memory::default());
    state.apply(&code_of(&PROGRAM, code));
    let request = CallRequest { to: Some(PROGRAM), gas: PROGRAM_GAS, ..CallRequest::default() };
    let start = Instant::now();
    let outcome =
        call(&spec, BlockEnv::from_header(&header), state, &Ancestors::default(), &request, &Deadline::none())?;
    let seconds = start.elapsed().as_secs_f64();
    if outcome.gas_used == PROGRAM_GAS { Ok(seconds) } else { Err("the program ended early".into()) }
}

fn run_plain_program(code: &Bytes) -> Result<f64, Failure> {
    let mut database = CacheDB::<EmptyDB>::default();
    let code = Bytecode::new_raw(code.clone());
    database.insert_account_info(PROGRAM, AccountInfo::default().with_code(code));
    let mut evm =
        Context::mainnet().with_db(database).modify_cfg_chained(|cfg| cfg.spec = SpecId::ISTANBUL).build_mainnet();
    let transaction = TxEnv { kind: TxKind::Call(PROGRAM), gas_limit: PROGRAM_GAS, chain_id: None, ..TxEnv::default() };
    let start = Instant::now();
    evm.transact(transaction)?;
    Ok(start.elapsed().as_secs_f64())
}

/// A state in memory without a trie.
#[derive(Default)]
struct Memory(RwLock<HashMap<Vec<u8>, Bytes>>);

impl Memory {
    fn apply(&self, delta: &StateDelta) {
        let Ok(mut values) = self.0.write() else { return };
        for (key, value) in &delta.writes {
            match value.clone().filter(|value| !value.is_empty()) {
                Some(value) => _ = values.insert(key.clone(), value),
                None => _ = values.remove(key),
            }
        }
    }
}

impl StateReader for Memory {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        Ok(self.0.read().ok().and_then(|values| values.get(key).cloned()))
    }
}

fn code_of(address: &Address, code: &Bytes) -> StateDelta {
    use rhizome_trie::AccountState;
    use rhizome_trie::keys::{account_key, code_key};
    let account = account_key(address.as_slice());
    let mut writes = BTreeMap::new();
    writes.insert(code_key(address.as_slice()), Some(code.clone()));
    writes.insert(account, Some(AccountState::default().encode()));
    StateDelta { writes, ..StateDelta::default() }
}

#[derive(Default)]
struct Ancestors(Vec<Arc<AncestorBlock>>);

impl Ancestry for Ancestors {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(usize::try_from(number).ok().and_then(|number| self.0.get(number).cloned()))
    }
}

struct Load {
    spec: ChainSpec,
    blocks: Vec<LoadBlock>,
}

struct LoadBlock {
    block: Block,
    senders: Vec<Address>,
}

impl Load {
    fn read() -> Result<Self, Failure> {
        let mut text = String::new();
        open("load.json.gz")?.read_to_string(&mut text)?;
        let json: serde_json::Value = serde_json::from_str(&text)?;
        let spec = ChainSpec::from_json(&json["spec"].to_string())?;
        let mut blocks = Vec::new();
        for line in open("load.blocks.txt.gz")?.lines() {
            let raw = hex::decode(line?.rsplit(',').next().unwrap_or_default())?;
            let block = Block::decode(&raw, &spec)?;
            let last = block.transactions.len().saturating_sub(1);
            Transaction::recover_senders(&block.transactions);
            let senders = block.transactions.iter().enumerate().map(|(index, transaction)| match index == last {
                true => Ok(Address::ZERO),
                false => transaction.recover_sender(),
            });
            let senders = senders.collect::<Result<_, _>>()?;
            blocks.push(LoadBlock { block, senders });
        }
        Ok(Self { spec, blocks })
    }
}

fn open(name: &str) -> Result<impl BufRead, Failure> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/chains"));
    Ok(BufReader::new(GzDecoder::new(File::open(folder.join(name))?)))
}

/// Returns the seconds of execution.
fn execute_load(load: &Load) -> Result<f64, Failure> {
    let nodes = Arc::new(MemoryNodes::default());
    let (first, trie) = genesis(&load.spec, nodes)?;
    let state = Arc::new(Memory::default());
    state.apply(&rhizome_trie::diff(&rhizome_trie::Trie::empty(Arc::new(MemoryNodes::default())), &trie)?);
    let mut ancestors = Ancestors::default();
    ancestors.0.push(Arc::new(AncestorBlock::new(&first, first.hash(), U256::ZERO)));
    let mut seconds = 0.0;
    for LoadBlock { block, senders } in &load.blocks {
        let start = Instant::now();
        let reader = Arc::clone(&state) as Arc<dyn StateReader>;
        let outcome = execute_block(&load.spec, block, senders, reader, &ancestors, &Deadline::none())?;
        seconds += start.elapsed().as_secs_f64();
        if outcome.gas_used != block.header.gas_used {
            return Err(format!("block {} used {} gas", block.header.number, outcome.gas_used).into());
        }
        state.apply(&outcome.delta);
        ancestors.0.push(Arc::new(AncestorBlock::new(block, block.hash(), U256::ZERO)));
    }
    Ok(seconds)
}

/// Returns the seconds of execution and the number of failed transactions. The rules and prices are those of Ethereum, so
/// each transaction has four times its gas limit and pays no fee.
fn execute_load_plainly(load: &Load) -> Result<(f64, usize), Failure> {
    let mut database = CacheDB::<EmptyDB>::default();
    for account in &load.spec.genesis.alloc {
        let mut info = AccountInfo { balance: account.balance, nonce: account.nonce, ..AccountInfo::default() };
        if let Some(code) = &account.code {
            info = info.with_code(Bytecode::new_raw(code.clone()));
        }
        database.insert_account_info(account.address, info);
        for (slot, value) in &account.storage {
            database.insert_account_storage(account.address, (*slot).into(), U256::from_be_slice(value))?;
        }
    }
    let mut evm =
        Context::mainnet().with_db(database).modify_cfg_chained(|cfg| cfg.spec = SpecId::SHANGHAI).build_mainnet();
    let (mut seconds, mut failed) = (0.0, 0);
    for LoadBlock { block, senders } in &load.blocks {
        let header = &block.header;
        let environment = RevmBlock {
            number: U256::from(header.number),
            timestamp: U256::from(header.timestamp),
            gas_limit: u64::MAX,
            basefee: 0,
            ..RevmBlock::default()
        };
        let paying = block.transactions.split_last().map_or(&[][..], |(_remasc, paying)| paying);
        let transactions: Vec<TxEnv> = paying.iter().zip(senders).map(|(one, sender)| plain(one, *sender)).collect();
        let start = Instant::now();
        evm.set_block(environment);
        for transaction in transactions {
            failed += usize::from(!evm.transact_commit(transaction)?.is_success());
        }
        seconds += start.elapsed().as_secs_f64();
    }
    Ok((seconds, failed))
}

fn plain(transaction: &Transaction, sender: Address) -> TxEnv {
    TxEnv {
        caller: sender,
        gas_limit: 4 * transaction.gas_limit().saturating_to::<u64>(),
        kind: transaction.to().map_or(TxKind::Create, TxKind::Call),
        value: transaction.value(),
        data: transaction.data().clone(),
        nonce: transaction.nonce().saturating_to(),
        chain_id: None,
        ..TxEnv::default()
    }
}
