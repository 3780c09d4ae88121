//! Batches of random requests out of random coins: no satoshi appears or disappears.

use crate::memory_host::{MemoryHost, regtest_call};
use rhizome_bitcoin::{BitcoinTransaction, display};
use rhizome_bridge::{BlockIndex, genesis_federation};
use rhizome_primitives::{I256, Log, Network, hex, keccak256, rlp};
use std::collections::HashMap;

const UPDATE_COLLECTIONS: [u8; 4] = hex!("0c5a9990");
/// Output script of the genesis federation of regtest.
const FEDERATION_SCRIPT: [u8; 23] = hex!("a914896ed9f3446d51b5510f7f0b6ef81b2bde55140e87");
const QUEUE: &str = "releaseRequestQueueWithTxHash";
const COINS: &str = "newFederationBtcUTXOs";
const WAITING: &str = "releaseTransactionSetWithTxHash";
const CASES: u64 = 400;
const WEI_PER_SATOSHI: u64 = 10_000_000_000;

/// Returns the satoshis of the coins by txid (display order) and index.
fn coins(host: &MemoryHost) -> HashMap<([u8; 32], u32), i64> {
    let coin = |bytes: &Vec<u8>| {
        let satoshis = i64::from_le_bytes(bytes[..8].try_into().unwrap());
        let index = u32::from_le_bytes(bytes[67..71].try_into().unwrap());
        ((bytes[35..67].try_into().unwrap(), index), satoshis)
    };
    host.list(COINS).unwrap().iter().map(coin).collect()
}

/// Returns the satoshis of the requests in the queue.
fn requests(host: &MemoryHost) -> Vec<i64> {
    let amount = |request: &[Vec<u8>]| rlp::read_u64(&request[1], u64::MAX, "amount").unwrap() as i64;
    host.list(QUEUE).unwrap().chunks(3).map(amount).collect()
}

/// Returns the transactions that wait for confirmations.
fn waiting(host: &MemoryHost) -> Vec<BitcoinTransaction> {
    host.list(WAITING).unwrap().chunks(3).map(|entry| BitcoinTransaction::parse(&entry[0]).unwrap()).collect()
}

/// A repeatable source of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 += 1;
        let hash = keccak256(self.0.to_be_bytes());
        u64::from_be_bytes(hash[..8].try_into().unwrap()) % limit
    }
}

fn random_host(numbers: &mut Numbers) -> MemoryHost {
    let mut host = MemoryHost::default();
    let (mut queue, mut coins, mut total) = (Vec::new(), Vec::new(), 0);
    for index in 0..1 + numbers.below(5) {
        let hash = keccak256([index as u8]);
        let satoshis = 250_000 + numbers.below(400_000);
        total += satoshis;
        rlp::put_bytes(&mut queue, &hash[..20]);
        rlp::put_u64(&mut queue, satoshis);
        rlp::put_bytes(&mut queue, hash.as_slice());
    }
    // Often the coins exceed the requests by a few satoshis, so that the change would be dust.
    let mut missing = total + numbers.below(4_000);
    let mut index = 0;
    while missing > 0 {
        let satoshis = missing.min(1 + numbers.below(500_000));
        missing -= satoshis;
        let mut coin = satoshis.to_le_bytes().to_vec();
        coin.extend((FEDERATION_SCRIPT.len() as u32).to_le_bytes());
        coin.extend(FEDERATION_SCRIPT);
        coin.extend(keccak256([7, index]));
        coin.extend([u32::from(index).to_le_bytes(), [0; 4]].concat());
        coin.push(0);
        rlp::put_bytes(&mut coins, &coin);
        index += 1;
    }
    host.put(QUEUE, rlp::list(&queue));
    host.put(COINS, rlp::list(&coins));
    host
}

fn update(host: &mut MemoryHost) -> Vec<Log> {
    let call = regtest_call(genesis_federation(Network::Regtest).unwrap()[0]);
    let mut logs = Vec::new();
    rhizome_bridge::run(&UPDATE_COLLECTIONS, &call, host, &mut logs, &mut BlockIndex::new()).unwrap();
    logs
}

#[test]
fn batches_conserve_satoshis() {
    let mut numbers = Numbers(0);
    let (mut built, mut burnt) = (0, 0);
    for case in 0..CASES {
        let mut host = random_host(&mut numbers);
        let (coins_before, requests_before) = (coins(&host), requests(&host));
        update(&mut host);
        let burnt_here = i64::try_from(-host.balance / I256::try_from(WEI_PER_SATOSHI).unwrap()).unwrap();
        let built_here = waiting(&host);
        let [transaction] = built_here.as_slice() else {
            assert_eq!((coins(&host), requests(&host), burnt_here), (coins_before, requests_before, 0), "case {case}");
            continue;
        };
        built += 1;
        burnt += i64::from(burnt_here > 0);
        let mut remaining = coins_before;
        let value = |input: &rhizome_bitcoin::TransactionInput| {
            remaining.remove(&(display(input.outpoint.txid), input.outpoint.index)).unwrap()
        };
        let inputs: i64 = transaction.inputs.iter().map(value).sum();
        assert_eq!(coins(&host), remaining, "case {case}: coins that are not spent");
        let change = transaction.outputs.iter().filter(|output| output.script == FEDERATION_SCRIPT);
        let change: i64 = change.map(|output| output.satoshis).sum();
        assert_eq!(
            inputs - change + burnt_here,
            requests_before.iter().sum::<i64>(),
            "case {case}: value of the requests"
        );
        let outputs: i64 = transaction.outputs.iter().map(|output| output.satoshis).sum();
        assert!(inputs > outputs, "case {case}: fee");
        assert_eq!(requests(&host), Vec::<i64>::new());
    }
    assert!(built > CASES as i64 / 2 && burnt > 0, "{built} built, {burnt} with burnt change");
}
