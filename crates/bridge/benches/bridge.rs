//! Speed of the calls of the Bridge that do the most work: `cargo bench -p rhizome-bridge --profile release`.
//!
//! The slots are in memory. Each line of output is `name: value unit`.

#[path = "../tests/memory_host.rs"]
mod memory_host;

use memory_host::{MemoryHost, regtest_call};
use rhizome_bitcoin::BitcoinHeader;
use rhizome_bridge::{BlockIndex, genesis_federation};
use rhizome_primitives::{B256, Network, U256, hex, keccak256, rlp};
use std::error::Error;
use std::time::Instant;

type Failure = Box<dyn Error>;

/// Headers in one call of `receiveHeaders`.
const HEADERS: usize = 500;
/// Requests in the queue.
const REQUESTS: usize = 1_000;
/// Coins of the active federation.
const COINS: usize = 2_000;
/// Number of runs, of which the fastest counts: other load on the machine only makes runs slower.
const RUNS: usize = 5;
/// Target of the headers of regtest, in the compact form.
const REGTEST_BITS: u32 = 0x207f_ffff;
/// Slot of the requests.
const QUEUE: &str = "releaseRequestQueueWithTxHash";
/// Recipient, satoshis and transaction.
const FIELDS_PER_REQUEST: usize = 3;
const RECEIVE_HEADERS: [u8; 4] = hex!("e5400e7b");
const UPDATE_COLLECTIONS: [u8; 4] = hex!("0c5a9990");
/// Output script of the genesis federation of regtest.
const FEDERATION_SCRIPT: [u8; 23] = hex!("a914896ed9f3446d51b5510f7f0b6ef81b2bde55140e87");
const GENESIS_HASH: [u8; 32] = hex!("06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f");

fn main() -> Result<(), Failure> {
    let headers = receive_headers();
    let seconds = fastest(&MemoryHost::default(), &headers)?;
    println!("receiveHeaders of {HEADERS} headers: {:.2} ms", seconds * 1e3);
    let mut slots = MemoryHost::default();
    slots.put(QUEUE, queue());
    slots.put("newFederationBtcUTXOs", coins());
    let seconds = fastest(&slots, &UPDATE_COLLECTIONS)?;
    println!("updateCollections of {REQUESTS} requests and {COINS} coins: {:.2} ms", seconds * 1e3);
    Ok(())
}

/// Runs a call several times on the same slots. Returns the seconds of the fastest run.
fn fastest(slots: &MemoryHost, input: &[u8]) -> Result<f64, Failure> {
    let caller = genesis_federation(Network::Regtest).and_then(|members| members.first()).ok_or("no federation")?;
    let call = regtest_call(*caller);
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let (mut slots, mut logs, mut index) = (slots.clone(), Vec::new(), BlockIndex::new());
        let start = Instant::now();
        rhizome_bridge::run(input, &call, &mut slots, &mut logs, &mut index)
            .map_err(|failure| format!("{failure:?}"))?;
        least = least.min(start.elapsed().as_secs_f64());
        check_changes(&slots, input)?;
    }
    Ok(least)
}

/// Fails if the call did not do its work.
fn check_changes(slots: &MemoryHost, input: &[u8]) -> Result<(), Failure> {
    let is_done = match input {
        [_, _, _, _] => slots.list(QUEUE)?.len() < FIELDS_PER_REQUEST * REQUESTS,
        _ => slots.slots.len() > HEADERS,
    };
    if is_done { Ok(()) } else { Err("the call did nothing".into()) }
}

/// Returns the call data with headers that follow the genesis block of regtest.
fn receive_headers() -> Vec<u8> {
    let word = |number: usize| U256::from(number).to_be_bytes::<32>();
    let mut data = [&RECEIVE_HEADERS[..], &word(32), &word(HEADERS)].concat();
    (0..HEADERS).for_each(|index| data.extend(word(32 * HEADERS + 128 * index)));
    let mut previous = GENESIS_HASH;
    for index in 0..HEADERS {
        let header = mined_header(previous, index as u32);
        previous = header.hash();
        data.extend(word(header.as_bytes().len()));
        data.extend(header.as_bytes());
        data.extend([0; 16]);
    }
    data
}

/// Returns a header whose hash meets the target of regtest: half of all hashes do.
fn mined_header(previous: [u8; 32], index: u32) -> BitcoinHeader {
    let root = keccak256(index.to_be_bytes()).0;
    let mut header = BitcoinHeader::new(1, previous, root, 1_500_000_000 + index, REGTEST_BITS, 0);
    let mut nonce = 0;
    while header.hash().last().is_some_and(|byte| *byte >= 0x7f) {
        nonce += 1;
        header = header.with_nonce(nonce);
    }
    header
}

/// Returns the encoded queue: recipient, satoshis and transaction of each request (docs/spec/bridge.md, 3.3.4).
fn queue() -> Vec<u8> {
    let mut items = Vec::new();
    for index in 0..REQUESTS {
        let hash: B256 = keccak256(index.to_be_bytes());
        rlp::put_bytes(&mut items, hash.get(..20).unwrap_or_default());
        rlp::put_u64(&mut items, 1_000_000);
        rlp::put_bytes(&mut items, hash.as_slice());
    }
    rlp::list(&items)
}

/// Returns the encoded coins (docs/spec/bridge.md, 3.3.1), worth a bit more than the requests in all: a batch of all requests is
/// too large and is cut twice.
fn coins() -> Vec<u8> {
    let mut items = Vec::new();
    for index in 0..COINS as u32 {
        let mut coin = 510_000_i64.to_le_bytes().to_vec();
        coin.extend((FEDERATION_SCRIPT.len() as u32).to_le_bytes());
        coin.extend(FEDERATION_SCRIPT);
        coin.extend(keccak256(index.to_be_bytes()));
        coin.extend([index.to_le_bytes(), [0; 4]].concat());
        coin.push(0);
        rlp::put_bytes(&mut items, &coin);
    }
    rlp::list(&items)
}
