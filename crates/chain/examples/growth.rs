//! Makes the chain of the benchmark `growth`: blocks that grow the state to given sizes, and after each size mainnet-like
//! blocks and updates of old storage slots. The contract is `bench/growth/Growth.sol`.
//!
//! `cargo run --release -p rhizome-chain --example growth -- SPEC.json FOLDER ENTRIES...`
//!
//! Each part of the chain is `FOLDER/ENTRIES-KIND.blocks`, described by a JSON file of the same name. Existing parts are
//! imported, so a longer chain begins with the blocks of a shorter one. The same arguments give the same blocks.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhizome_chain::{BlockTime, Chain, ChainConfig, DataDir, PoolOptions, PoolRejection};
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, SignatureError, Transaction, U256};
use rhizome_primitives::{UnsignedTransaction, keccak256};

/// Contracts with storage, each with its own sender.
const CONTRACTS: u64 = 64;
/// Transactions of a block that grows the state.
const CALLS: u64 = 10;
/// New entries of such a block: 630 storage slots and 188 accounts.
const SLOTS_OF_CALL: u64 = 63;
const ACCOUNTS_OF_BLOCK: u64 = 188;
const ENTRIES_OF_BLOCK: u64 = CALLS * SLOTS_OF_CALL + ACCOUNTS_OF_BLOCK;
const LOGS_OF_CALL: u64 = 20;

const MAINNET_BLOCKS: u64 = 1_000;
const UPDATE_BLOCKS: u64 = 200;
/// Transactions of a mainnet-like block or of a block of updates.
const SMALL_CALLS: u64 = 4;
const UPDATES_OF_CALL: u64 = 100;

/// Seconds between blocks.
const INTERVAL: u64 = 30;
/// Wei for each unit of gas of the last transaction of a block.
const GAS_PRICE: u64 = 60_000_000;

type Failure = Box<dyn Error>;

#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error(transparent)]
    Pool(#[from] PoolRejection),
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

/// Part of the chain after the state has reached a size.
#[derive(Clone, Copy)]
enum Part {
    /// Up to the size.
    Growth,
    /// Blocks of four small transactions.
    Mainnet,
    /// Blocks of random updates of old storage slots.
    Updates,
}

impl Part {
    const ALL: [Self; 3] = [Self::Growth, Self::Mainnet, Self::Updates];

    fn name(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::Mainnet => "mainnet",
            Self::Updates => "updates",
        }
    }
}

/// A transaction without nonce and signature.
struct Call {
    sender: u64,
    to: Address,
    value: U256,
    gas: u64,
    data: Bytes,
}

struct Generator {
    chain: Arc<Chain>,
    folder: PathBuf,
    /// Blocks so far that grew the state.
    grown: u64,
}

impl Generator {
    /// Makes or imports one part of the chain.
    fn add(&mut self, entries: u64, part: Part) -> Result<(), Failure> {
        let name = format!("{entries}-{}", part.name());
        let (blocks, description) =
            (self.folder.join(format!("{name}.blocks")), self.folder.join(format!("{name}.json")));
        let from = self.chain.head().number() + 1;
        let target = entries.div_ceil(ENTRIES_OF_BLOCK);
        if description.exists() {
            self.chain.import_blocks(BufReader::new(File::open(&blocks)?), |_| ControlFlow::Continue(()))?;
            self.grown = target;
        } else {
            match part {
                Part::Growth => {
                    while self.grown < target {
                        self.mine(self.growth_calls())?;
                        self.grown += 1;
                    }
                }
                Part::Mainnet => (0..MAINNET_BLOCKS).try_for_each(|_| self.mine(self.mainnet_calls()))?,
                Part::Updates => (0..UPDATE_BLOCKS).try_for_each(|_| self.mine(self.update_calls()))?,
            }
            let unfinished = blocks.with_extension("part");
            let mut file = BufWriter::new(File::create(&unfinished)?);
            self.chain.export_blocks(from, u64::MAX, &mut file, |_| ControlFlow::Continue(()))?;
            fs::rename(unfinished, &blocks)?;
            fs::write(description, self.describe(entries, part, from))?;
        }
        let head = self.chain.head();
        println!("{name}: blocks {from} to {}, state root {:#x}", head.number(), head.record.state_root);
        Ok(())
    }

    fn describe(&self, entries: u64, part: Part, from: u64) -> String {
        let (head, grown, kind) = (self.chain.head(), self.grown, part.name());
        let (to, hash, state_root) = (head.number(), head.hash(), head.record.state_root);
        format!(
            "{{\"entries\":{entries},\"kind\":\"{kind}\",\"from\":{from},\"to\":{to},\"growthBlocks\":{grown},\
             \"hash\":\"{hash:#x}\",\"stateRoot\":\"{state_root:#x}\"}}\n"
        )
    }

    /// Mines one block that contains all calls. Fails if one of them is missing or has failed.
    fn mine(&self, calls: Vec<Call>) -> Result<(), Failure> {
        let count = calls.len();
        for (call, premium) in calls.into_iter().zip((0..count as u64).rev()) {
            let Call { sender, to, value, gas, data } = call;
            let key = sender_key(sender);
            let sign = |nonce: u64| -> Result<Transaction, SendError> {
                let unsigned = UnsignedTransaction {
                    nonce: U256::from(nonce),
                    // Orders the transactions of the block.
                    gas_price: U256::from(GAS_PRICE + premium),
                    gas_limit: gas,
                    to: Some(to),
                    value,
                    data: data.clone(),
                };
                Ok(Transaction::sign(unsigned, self.chain.spec().chain_id, &key)?)
            };
            self.chain.submit_next(&sender_address(sender)?, sign)?;
        }
        let time = self.chain.head().record.block.header.timestamp + INTERVAL;
        let block = self.chain.mine_at(time, BlockTime::At(time))?;
        let receipts = self.chain.receipts(&block.hash)?.ok_or("a mined block has no receipts")?;
        // With the REMASC transaction.
        if receipts.len() != count + 1 || receipts.iter().any(|receipt| !receipt.success) {
            return Err(format!("a call of block {} is missing or failed", block.number()).into());
        }
        Ok(())
    }

    fn growth_calls(&self) -> Vec<Call> {
        let salt = self.next_number();
        let call = |index: u64| {
            let call = self.grown * CALLS + index;
            let contract = call % CONTRACTS;
            let before = |count: u64| (count * ACCOUNTS_OF_BLOCK) / CALLS;
            let first_account = self.grown * ACCOUNTS_OF_BLOCK + before(index);
            let accounts = before(index + 1) - before(index);
            let first = (call / CONTRACTS) * SLOTS_OF_CALL;
            let words = [first, SLOTS_OF_CALL, first_account, accounts, LOGS_OF_CALL, salt];
            let data = encode("grow(uint256,uint256,uint256,uint256,uint256,uint256)", &words);
            Call { sender: contract, to: contract_address(contract), value: U256::ZERO, gas: 4_000_000, data }
        };
        (0..CALLS).map(call).collect()
    }

    /// Two transfers to old accounts, and two calls like a transfer of a token: two changed slots and one log.
    fn mainnet_calls(&self) -> Vec<Call> {
        let number = self.next_number();
        let transfer = |index: u64| {
            let account = random(number, 2 + index) % (self.grown * ACCOUNTS_OF_BLOCK);
            let (sender, to, value) = ((number + index) % CONTRACTS, account_address(account), U256::from(number));
            Call { sender, to, value, gas: 30_000, data: Bytes::new() }
        };
        let calls = (2..SMALL_CALLS).map(|index| self.update_call(index, 2));
        (0..2).map(transfer).chain(calls).collect()
    }

    fn update_calls(&self) -> Vec<Call> {
        (0..SMALL_CALLS).map(|index| self.update_call(index, UPDATES_OF_CALL)).collect()
    }

    fn update_call(&self, index: u64, updates: u64) -> Call {
        let number = self.next_number();
        let sender = (number + index) % CONTRACTS;
        // Differs from call to call: each has its own contract.
        let contract = (random(number, 1) + index) % CONTRACTS;
        let calls = (self.grown * CALLS).saturating_sub(contract).div_ceil(CONTRACTS);
        let data = encode("update(uint256,uint256,uint256)", &[calls * SLOTS_OF_CALL, updates, number]);
        let gas = 100_000 + updates * 10_000;
        Call { sender, to: contract_address(contract), value: U256::ZERO, gas, data }
    }

    fn next_number(&self) -> u64 {
        self.chain.head().number() + 1
    }
}

fn encode(signature: &str, words: &[u64]) -> Bytes {
    let selector = keccak256(signature);
    let words = words.iter().flat_map(|word| U256::from(*word).to_be_bytes::<32>());
    selector.iter().take(4).copied().chain(words).collect()
}

/// Returns a number that depends on two others only.
fn random(seed: u64, index: u64) -> u64 {
    let hash = keccak256([U256::from(seed).to_be_bytes::<32>(), U256::from(index).to_be_bytes()].concat());
    U256::from_be_bytes(hash.0).as_limbs()[0]
}

fn sender_key(index: u64) -> B256 {
    keccak256(format!("rhizome bench: growth sender {index}"))
}

fn sender_address(index: u64) -> Result<Address, SignatureError> {
    let unsigned = UnsignedTransaction {
        nonce: U256::ZERO,
        gas_price: U256::ZERO,
        gas_limit: 0,
        to: None,
        value: U256::ZERO,
        data: Bytes::new(),
    };
    Transaction::sign(unsigned, 1, &sender_key(index))?.recover_sender()
}

fn contract_address(index: u64) -> Address {
    Address::from_slice(&keccak256(format!("rhizome bench: growth contract {index}"))[12..])
}

fn account_address(index: u64) -> Address {
    let hash = keccak256([U256::from(index).to_be_bytes::<32>(), U256::from(1).to_be_bytes()].concat());
    Address::from_slice(&hash[12..])
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [spec, folder, sizes @ ..] = arguments.as_slice() else {
        return Err("usage: growth SPEC.json FOLDER ENTRIES...".into());
    };
    let spec = ChainSpec::from_json(&fs::read_to_string(Path::new(spec))?)?;
    let mut config = ChainConfig::new(Arc::new(spec), DataDir::Temporary);
    config.target_gas_limit = config.spec.genesis.gas_limit;
    config.extra_data = Bytes::from_static(b"growth");
    config.cache_bytes = 1 << 30;
    config.trie_bytes = 1 << 30;
    config.pool = PoolOptions { has_rate_limiter: false, outdated_seconds: None, ..PoolOptions::default() };
    let mut generator = Generator { chain: Chain::open(config)?, folder: folder.into(), grown: 0 };
    for size in sizes {
        let entries = size.parse()?;
        Part::ALL.into_iter().try_for_each(|part| generator.add(entries, part))?;
    }
    Ok(())
}
