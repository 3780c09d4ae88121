//! The satoshis of the genesis federation to the last one: under the rules of every upgrade, coins and change are always
//! equal to issued bitcoins and requests. `src/random_calls.rs` goes through more methods, with a weaker equation.

use crate::memory_host::MemoryHost;
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{
    BitcoinHeader, BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, display, hash160, p2pkh_script,
    parse_script, push_data,
};
use rhizome_bridge::{BlockIndex, Call, CallFailure, CallMode, genesis_federation, selectors};
use rhizome_primitives::{Address, ChainSpec, I256, Log, Network, Rule, Rules, U256, address, hex, keccak256, rlp};
use secp256k1::{Message, PublicKey, SecretKey, global::SECP256K1};
use std::collections::HashMap;

/// Heights of mainnet, one under the rules of each upgrade.
const HEIGHTS: [u64; 11] = [
    800_000, 1_700_000, 2_400_000, 3_700_000, 4_600_000, 5_000_000, 5_500_000, 6_300_000, 7_400_000, 8_100_000,
    8_900_000,
];
const SEEDS: u64 = 4;
const STEPS: u64 = 200;
const WEI_PER_SATOSHI: u64 = 10_000_000_000;
/// Bitcoin blocks behind a registered transaction.
const CONFIRMATIONS: usize = 3;
/// Output script of the genesis federation of regtest.
const FEDERATION_SCRIPT: [u8; 23] = hex!("a914896ed9f3446d51b5510f7f0b6ef81b2bde55140e87");
const BITCOIN_GENESIS: [u8; 32] = hex!("0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206");
const WHITELIST_AUTHORIZER: Address = address!("87d2a0f33744929da08b65fd62b627ea52b25f8e");
const REGISTER: [u8; 4] = hex!("43dc0656");
const RECEIVE_HEADERS: [u8; 4] = hex!("e5400e7b");
const UPDATE_COLLECTIONS: [u8; 4] = hex!("0c5a9990");
const ADD_SIGNATURE: [u8; 4] = hex!("f10b9c59");
const DISABLE_WHITELIST: [u8; 4] = hex!("c1cc54f5");
const STATE_FOR_DEBUGGING: [u8; 4] = hex!("0d0cee93");

/// Transaction id in display order, and index.
type OutPointKey = ([u8; 32], u32);

/// A repeatable source of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 += 1;
        u64::from_be_bytes(self.bytes(8).try_into().unwrap()) % limit
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            self.0 += 1;
            bytes.extend(keccak256(self.0.to_be_bytes()));
        }
        bytes.truncate(count);
        bytes
    }
}

/// A Bridge on regtest with users, federators and a Bitcoin chain.
struct Life {
    host: MemoryHost,
    rules: Rules,
    height: u64,
    bitcoin_height: i32,
    bitcoin_head: [u8; 32],
    /// Outputs to the federation in mined Bitcoin transactions.
    mined: HashMap<OutPointKey, i64>,
    /// Coins after the last step.
    coins: HashMap<OutPointKey, i64>,
    /// Outputs back to the federation of its transactions that are not registered, by the first input.
    change: HashMap<OutPointKey, i64>,
    /// Values that the Bridge keeps although it has rejected the request, satoshis.
    lost: i64,
    released: Vec<BitcoinTransaction>,
    peg_outs: usize,
    refunds: usize,
}

impl Life {
    fn new(rules_at: u64) -> Self {
        let mut life = Self {
            host: MemoryHost { balance: initial_balance(), ..MemoryHost::default() },
            rules: ChainSpec::mainnet().rules(rules_at),
            height: 1_000,
            bitcoin_height: 0,
            bitcoin_head: display(BITCOIN_GENESIS),
            mined: HashMap::new(),
            coins: HashMap::new(),
            change: HashMap::new(),
            lost: 0,
            released: Vec::new(),
            peg_outs: 0,
            refunds: 0,
        };
        life.call(WHITELIST_AUTHORIZER, &encode(&DISABLE_WHITELIST, &[Argument::Number(1)])).unwrap();
        life.mine([7; 32], 2);
        life
    }

    fn step(&mut self, numbers: &mut Numbers) {
        self.height += numbers.below(30);
        match numbers.below(12) {
            0..=2 => self.peg_in(numbers),
            3..=4 => self.release(numbers),
            5..=6 => drop(self.call(federator(), &UPDATE_COLLECTIONS)),
            7..=8 => self.sign(numbers),
            9 => self.register_released(numbers),
            10 => self.garbage(numbers),
            _ => self.damaged_peg_in(numbers),
        }
    }

    /// Runs a call as a transaction without value.
    fn call(&mut self, caller: Address, input: &[u8]) -> Result<Vec<Log>, CallFailure> {
        self.run(caller, input, U256::ZERO, None)
    }

    fn run(
        &mut self,
        caller: Address,
        input: &[u8],
        value: U256,
        key: Option<[u8; 33]>,
    ) -> Result<Vec<Log>, CallFailure> {
        self.height += 1;
        let (mut logs, hash) = (Vec::new(), keccak256(self.height.to_be_bytes()));
        let call = Call {
            network: Network::Regtest,
            rules: self.rules,
            block_number: self.height,
            block_timestamp: 1_700_000_000 + self.height,
            caller,
            value,
            mode: CallMode::Call,
            is_direct: true,
            is_local: input == STATE_FOR_DEBUGGING,
            transaction_hash: hash,
            origin_transaction_hash: hash,
            public_key: &|| key.map(Vec::from),
            is_past_deadline: &|| false,
        };
        match rhizome_bridge::run(input, &call, &mut self.host, &mut logs, &mut BlockIndex::new()) {
            Ok(_) => self.host.balance += I256::from_raw(value),
            Err(CallFailure::Rejected) => return Err(CallFailure::Rejected),
            Err(CallFailure::Fatal(error)) => panic!("{error}"),
        }
        Ok(logs)
    }

    /// Mines Bitcoin blocks, the first one with this Merkle root, and sends their headers.
    fn mine(&mut self, merkle_root: [u8; 32], count: usize) {
        let mut headers = Vec::new();
        for index in 0..count {
            let root = if index == 0 { merkle_root } else { [9; 32] };
            let header = BitcoinHeader::new(2, self.bitcoin_head, root, 1_600_000_000, 0x207f_ffff, 0);
            let is_valid = |header: &BitcoinHeader| header.hash()[31] < 0x7f;
            let header = (0..).map(|nonce| header.with_nonce(nonce)).find(is_valid).unwrap();
            self.bitcoin_head = header.hash();
            self.bitcoin_height += 1;
            headers.push(header.as_bytes().to_vec());
        }
        self.call(federator(), &encode(&RECEIVE_HEADERS, &[Argument::List(headers)])).unwrap();
    }

    /// Puts a transaction into a Bitcoin block. Returns the call that registers it.
    fn registration(&mut self, transaction: &BitcoinTransaction) -> Vec<u8> {
        let txid = transaction.txid();
        self.mine(txid, CONFIRMATIONS + 1);
        for (index, output) in (0..).zip(&transaction.outputs) {
            if output.script == FEDERATION_SCRIPT {
                self.mined.insert((display(txid), index), output.satoshis);
            }
        }
        let height = self.bitcoin_height as u64 - CONFIRMATIONS as u64;
        let proof = PartialTree::of_first_leaf(&[txid], 1).encode();
        encode(&REGISTER, &[Argument::Bytes(transaction.serialize()), Argument::Number(height), Argument::Bytes(proof)])
    }

    fn peg_in(&mut self, numbers: &mut Numbers) {
        let transaction = deposit(numbers);
        let call = self.registration(&transaction);
        for _again in 0..1 + numbers.below(2) {
            drop(self.call(federator(), &call));
        }
    }

    fn damaged_peg_in(&mut self, numbers: &mut Numbers) {
        let transaction = deposit(numbers);
        let mut call = self.registration(&transaction);
        match numbers.below(3) {
            0 => call.truncate(numbers.below(call.len() as u64) as usize),
            1 => {
                let position = 4 + numbers.below(call.len() as u64 - 4) as usize;
                call[position] ^= 1 << numbers.below(8);
            }
            _ => call.extend(numbers.bytes(40)),
        }
        drop(self.call(federator(), &call));
    }

    fn garbage(&mut self, numbers: &mut Numbers) {
        let all: Vec<u32> = selectors().collect();
        let selector = all[numbers.below(all.len() as u64) as usize];
        let length = numbers.below(400) as usize;
        let mut input = [&selector.to_be_bytes()[..], &numbers.bytes(length)].concat();
        // Small offsets and lengths reach further into the methods.
        for position in (4..input.len()).step_by(32) {
            if numbers.below(2) == 0 {
                let end = input.len().min(position + 31);
                input[position..end].fill(0);
            }
        }
        drop(self.call(federator(), &input));
    }

    fn release(&mut self, numbers: &mut Numbers) {
        let secret = secret(&format!("user{}", numbers.below(4)));
        let key = PublicKey::from_secret_key(SECP256K1, &secret).serialize();
        let satoshis = 100_000 + numbers.below(900_000);
        let queued = self.queue();
        let kept = self.run(address_of(&secret), &[], U256::from(satoshis) * U256::from(WEI_PER_SATOSHI), Some(key));
        if kept.is_ok() && self.queue() == queued && !self.rules.is_active(Rule::Rskip185) {
            self.lost += satoshis as i64;
        }
    }

    fn sign(&mut self, numbers: &mut Numbers) {
        let waiting = self.host.list("rskTxsWaitingFS").unwrap();
        let count = waiting.len() as u64 / 2;
        if count == 0 {
            return;
        }
        let at = 2 * numbers.below(count) as usize;
        let transaction = BitcoinTransaction::parse(&waiting[at + 1]).unwrap();
        let secret = secret(&format!("federator{}", 1 + numbers.below(3)));
        let key = PublicKey::from_secret_key(SECP256K1, &secret).serialize();
        let signature = |(index, input): (usize, &TransactionInput)| {
            let redeem_script = parse_script(&input.script).unwrap().last().unwrap().data.unwrap();
            let hash = transaction.legacy_signature_hash(index, redeem_script).unwrap();
            SECP256K1.sign_ecdsa(Message::from_digest(hash), &secret).serialize_der().to_vec()
        };
        let signatures = transaction.inputs.iter().enumerate().map(signature).collect();
        let arguments =
            [Argument::Bytes(key.to_vec()), Argument::List(signatures), Argument::Bytes(waiting[at].clone())];
        let Ok(logs) = self.call(federator(), &encode(&ADD_SIGNATURE, &arguments)) else { return };
        if self.host.list("rskTxsWaitingFS").unwrap().len() < waiting.len() {
            self.released.push(signed_transaction(logs.last().unwrap()));
        }
    }

    fn register_released(&mut self, numbers: &mut Numbers) {
        if self.released.is_empty() {
            return;
        }
        let at = numbers.below(self.released.len() as u64) as usize;
        let transaction = self.released.swap_remove(at);
        let call = self.registration(&transaction);
        drop(self.call(federator(), &call));
        if transaction.outputs.iter().any(|output| output.script == FEDERATION_SCRIPT) {
            let registered = self.stored_coins().keys().any(|(txid, _)| *txid == display(transaction.txid()));
            assert!(registered, "a transaction of the federation is not registered");
        }
        self.change.remove(&outpoint(&transaction.inputs[0]));
    }

    /// Compares coins and change with issued bitcoins and requests.
    fn check(&mut self) {
        let coins = self.stored_coins();
        for (outpoint, satoshis) in &coins {
            assert_eq!(self.mined.get(outpoint), Some(satoshis), "a coin without a mined output");
        }
        for transaction in self.new_transactions() {
            let inputs: Vec<i64> = transaction.inputs.iter().map(|input| self.mined[&outpoint(input)]).collect();
            let outputs: i64 = transaction.outputs.iter().map(|output| output.satoshis).sum();
            assert!(outputs > 0 && outputs < inputs.iter().sum(), "{outputs} paid out of {inputs:?}");
            let first = outpoint(&transaction.inputs[0]);
            if !self.coins.contains_key(&first) {
                self.refunds += 1;
                self.change.insert(first, 0);
                continue;
            }
            self.peg_outs += 1;
            assert!(!coins.contains_key(&first), "a spent coin stays");
            let change = transaction.outputs.iter().filter(|output| output.script == FEDERATION_SCRIPT);
            self.change.insert(first, change.map(|output| output.satoshis).sum());
        }
        // Users without rBTC may release more than came in.
        let issued = (initial_balance() - self.host.balance) / I256::try_from(WEI_PER_SATOSHI).unwrap();
        let issued = i64::try_from(issued).unwrap();
        let owned = coins.values().sum::<i64>() + self.change.values().sum::<i64>();
        assert_eq!(owned, issued + self.queue().iter().sum::<i64>() + self.lost, "coins against issued and queued");
        self.coins = coins;
        let state = self.call(federator(), &STATE_FOR_DEBUGGING);
        assert!(state.is_ok(), "a slot cannot be read");
    }

    /// Returns the waiting transactions that no earlier check has seen.
    fn new_transactions(&self) -> Vec<BitcoinTransaction> {
        let mut waiting = Vec::new();
        for (slot, size) in [("releaseTransactionSet", 2), ("releaseTransactionSetWithTxHash", 3)] {
            waiting.extend(
                self.host.list(slot).unwrap().chunks(size).map(|entry| BitcoinTransaction::parse(&entry[0]).unwrap()),
            );
        }
        waiting.retain(|transaction| !self.change.contains_key(&outpoint(&transaction.inputs[0])));
        waiting
    }

    fn stored_coins(&self) -> HashMap<OutPointKey, i64> {
        let coin = |bytes: Vec<u8>| {
            let satoshis = i64::from_le_bytes(bytes[..8].try_into().unwrap());
            let index = u32::from_le_bytes(bytes[67..71].try_into().unwrap());
            ((bytes[35..67].try_into().unwrap(), index), satoshis)
        };
        let coins = self.host.list("newFederationBtcUTXOs").unwrap();
        let count = coins.len();
        let coins: HashMap<_, _> = coins.into_iter().map(coin).collect();
        assert_eq!(coins.len(), count, "a coin is there twice");
        coins
    }

    fn queue(&self) -> Vec<i64> {
        let mut amounts = Vec::new();
        for (slot, size) in [("releaseRequestQueue", 2), ("releaseRequestQueueWithTxHash", 3)] {
            let amount = |entry: &[Vec<u8>]| rlp::read_u64(&entry[1], u64::MAX, "amount").unwrap() as i64;
            amounts.extend(self.host.list(slot).unwrap().chunks(size).map(amount));
        }
        amounts
    }
}

/// Returns a transaction of a user, or of a multisig, that pays to the federation.
fn deposit(numbers: &mut Numbers) -> BitcoinTransaction {
    let mut script = Vec::new();
    let key = PublicKey::from_secret_key(SECP256K1, &secret(&format!("user{}", numbers.below(4)))).serialize();
    if numbers.below(4) == 0 {
        let mut redeem_script = vec![0x51];
        push_data(&mut redeem_script, &key);
        redeem_script.extend([0x51, 0xae]);
        script.push(0);
        push_data(&mut script, &numbers.bytes(71));
        push_data(&mut script, &redeem_script);
    } else {
        push_data(&mut script, &numbers.bytes(71));
        push_data(&mut script, &key);
    }
    let previous = OutPoint { txid: numbers.bytes(32).try_into().unwrap(), index: numbers.below(3) as u32 };
    let mut outputs = Vec::new();
    for _output in 0..1 + numbers.below(2) {
        let satoshis = 400_000 + numbers.below(2_000_000) as i64;
        outputs.push(TransactionOutput { satoshis, script: FEDERATION_SCRIPT.to_vec() });
    }
    outputs.push(TransactionOutput { satoshis: 5_000, script: p2pkh_script(&hash160(&key)) });
    if numbers.below(4) == 0 {
        let payload = [&b"RSKT"[..], &[1], &numbers.bytes(20)].concat();
        let mut script = vec![0x6a];
        push_data(&mut script, &payload);
        outputs.push(TransactionOutput { satoshis: 0, script });
    }
    let inputs = vec![TransactionInput { outpoint: previous, script, sequence: u32::MAX, witness: Vec::new() }];
    BitcoinTransaction { version: 1, inputs, outputs, lock_time: 0 }
}

enum Argument {
    Number(u64),
    Bytes(Vec<u8>),
    List(Vec<Vec<u8>>),
}

/// Returns the ABI encoding of a call.
fn encode(selector: &[u8; 4], arguments: &[Argument]) -> Vec<u8> {
    let word = |number: usize| U256::from(number).to_be_bytes::<32>();
    let (mut head, mut tail) = (selector.to_vec(), Vec::new());
    for argument in arguments {
        let offset = word(32 * arguments.len() + tail.len());
        match argument {
            Argument::Number(number) => head.extend(word(*number as usize)),
            Argument::Bytes(bytes) => {
                head.extend(offset);
                tail.extend(sized(bytes));
            }
            Argument::List(items) => {
                head.extend(offset);
                tail.extend(word(items.len()));
                let mut position = 32 * items.len();
                let items: Vec<Vec<u8>> = items.iter().map(|item| sized(item)).collect();
                for item in &items {
                    tail.extend(word(position));
                    position += item.len();
                }
                tail.extend(items.concat());
            }
        }
    }
    [head, tail].concat()
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut sized = [&U256::from(bytes.len()).to_be_bytes::<32>()[..], bytes].concat();
    sized.resize(sized.len().next_multiple_of(32), 0);
    sized
}

/// Returns the transaction in the event of its release.
fn signed_transaction(log: &Log) -> BitcoinTransaction {
    let bytes = match rlp::decode_list(&log.data).and_then(|list| list.list("event")) {
        Ok(items) => items[1].bytes().to_vec(),
        Err(_) => log.data[64..].to_vec(),
    };
    BitcoinTransaction::parse(&bytes).unwrap()
}

fn outpoint(input: &TransactionInput) -> OutPointKey {
    (display(input.outpoint.txid), input.outpoint.index)
}

/// Returns the balance of the Bridge before the first peg-in: 21 million rBTC in wei.
fn initial_balance() -> I256 {
    I256::try_from(U256::from(21_000_000) * U256::from(10).pow(U256::from(18))).unwrap()
}

fn federator() -> Address {
    genesis_federation(Network::Regtest).unwrap()[0]
}

fn secret(name: &str) -> SecretKey {
    SecretKey::from_byte_array(keccak256(name).0).unwrap()
}

fn address_of(secret: &SecretKey) -> Address {
    let key = PublicKey::from_secret_key(SECP256K1, secret).serialize_uncompressed();
    Address::from_slice(&keccak256(&key[1..])[12..])
}

#[test]
fn random_sequences_conserve_satoshis() {
    let (mut peg_outs, mut refunds, mut coins) = (0, 0, 0);
    for height in HEIGHTS {
        for seed in 0..SEEDS {
            let mut numbers = Numbers((height << 8 | seed) << 20);
            let mut life = Life::new(height);
            for step in 0..STEPS {
                // The name of the thread's current step, printed if an assertion fails.
                println!("rules of {height}, seed {seed}, step {step}");
                life.step(&mut numbers);
                life.check();
            }
            peg_outs += life.peg_outs;
            refunds += life.refunds;
            coins += life.coins.len();
        }
    }
    println!("{peg_outs} peg-outs, {refunds} refunds, {coins} coins at the ends");
    assert!(peg_outs > 50 && refunds > 50 && coins > 50);
}
