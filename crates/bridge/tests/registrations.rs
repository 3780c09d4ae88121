//! Registration of hostile Bitcoin transactions: bounded time, no panic.

use crate::memory_host::{MemoryHost, regtest_call};
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{
    BitcoinHeader, BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, display, p2pkh_script, push_data,
    sha256d,
};
use rhizome_bridge::{BlockIndex, CallFailure};
use rhizome_primitives::{Address, Bytes, I256, Log, U256, hex};
use std::time::{Duration, Instant};

const REGISTER: [u8; 4] = hex!("43dc0656");
/// Output script of the genesis federation of regtest.
const FEDERATION_SCRIPT: [u8; 23] = hex!("a914896ed9f3446d51b5510f7f0b6ef81b2bde55140e87");
const KEY: [u8; 33] = hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124");
const COINS: &str = "newFederationBtcUTXOs";
/// Balance of the Bridge before a registration, in satoshis.
const SUPPLY: i64 = 21_000_000 * 100_000_000;
const SATOSHIS: i64 = 500_000;
/// Heights before and after the index of peg-outs.
const HEIGHTS: [i32; 2] = [200, 5_000];
/// Far above the time that a registration needs, far below that of a quadratic one.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Returns a header store in which the block at `height` has the root `root`.
fn host_with_block(height: i32, root: [u8; 32]) -> MemoryHost {
    let mut host = MemoryHost { balance: wei(SUPPLY), ..MemoryHost::default() };
    let mut previous = [9; 32];
    let mut best = Vec::new();
    for above in 0..3 {
        let header = BitcoinHeader::new(1, previous, root, 1_500_000_000, 0x207f_ffff, above as u32);
        best = [&[0; 32][..], &(height + above).to_be_bytes(), header.as_bytes()].concat();
        previous = header.hash();
        host.slots.insert(U256::from_be_bytes(display(previous)), best.clone().into());
    }
    host.put("blockStoreChainHead", best);
    host
}

fn wei(satoshis: i64) -> I256 {
    I256::try_from(satoshis).unwrap() * I256::try_from(10_u64.pow(10)).unwrap()
}

/// Returns the wei that the Bridge has paid.
fn paid(host: &MemoryHost) -> I256 {
    wei(SUPPLY) - host.balance
}

/// Registers bytes that the block at `height` contains.
fn register(height: i32, transaction: &[u8], proof: Option<&[u8]>) -> (MemoryHost, Result<Option<Bytes>, CallFailure>) {
    let root = sha256d(transaction);
    let mut host = host_with_block(height, root);
    let valid = PartialTree::of_first_leaf(&[root], 1).encode();
    let word = |number: usize| U256::from(number).to_be_bytes::<32>();
    let padded = |bytes: &[u8]| {
        let mut padded = [&word(bytes.len())[..], bytes].concat();
        padded.resize(padded.len().next_multiple_of(32), 0);
        padded
    };
    let first = padded(transaction);
    let second = padded(proof.unwrap_or(&valid));
    let head = [REGISTER.to_vec(), word(96).to_vec(), word(height as usize).to_vec(), word(96 + first.len()).to_vec()];
    let input = [head.concat(), first, second].concat();
    let call = regtest_call(Address::repeat_byte(1));
    let started = Instant::now();
    let result = rhizome_bridge::run(&input, &call, &mut host, &mut Vec::<Log>::new(), &mut BlockIndex::new());
    assert!(started.elapsed() < TIME_LIMIT, "{:?}", started.elapsed());
    assert!(!matches!(result, Err(CallFailure::Fatal(_))));
    (host, result)
}

fn input(index: u32, script: Vec<u8>) -> TransactionInput {
    TransactionInput { outpoint: OutPoint { txid: [7; 32], index }, script, sequence: u32::MAX, witness: Vec::new() }
}

fn peg_in(outputs: Vec<TransactionOutput>) -> BitcoinTransaction {
    let mut script = Vec::new();
    push_data(&mut script, &[48; 71]);
    push_data(&mut script, &KEY);
    BitcoinTransaction { version: 2, inputs: vec![input(0, script)], outputs, lock_time: 0 }
}

fn to_federation() -> TransactionOutput {
    TransactionOutput { satoshis: SATOSHIS, script: FEDERATION_SCRIPT.to_vec() }
}

#[test]
fn peg_ins_with_many_outputs_register() {
    for height in HEIGHTS {
        let (host, result) = register(height, &peg_in(vec![to_federation(); 10_000]).serialize(), None);
        assert!(result.is_ok());
        assert_eq!(paid(&host), wei(SATOSHIS * 10_000));
        assert_eq!(host.list(COINS).unwrap().len(), 10_000);
    }
}

#[test]
fn long_scripts_do_not_matter() {
    let long = |script| TransactionOutput { satoshis: 0, script };
    let mut outputs = vec![to_federation()];
    outputs.extend((0..20).flat_map(|_| [long(vec![0; 10_000]), long(vec![0x51; 10_000]), long(vec![0x6a; 10_000])]));
    for height in HEIGHTS {
        let (host, result) = register(height, &peg_in(outputs.clone()).serialize(), None);
        assert!(result.is_ok());
        assert_eq!(paid(&host), wei(SATOSHIS));
    }
}

#[test]
fn redeem_scripts_that_require_millions_of_signatures_are_bounded() {
    let redeem_script = [&hex!("03ffff7f21")[..], &KEY, &hex!("51ae")].concat();
    let mut script = vec![0, 0];
    push_data(&mut script, &redeem_script);
    let mut transaction =
        peg_in(vec![to_federation(), TransactionOutput { satoshis: 1, script: p2pkh_script(&[1; 20]) }]);
    transaction.inputs = (0..5_000).map(|index| input(index, script.clone())).collect();
    for height in HEIGHTS {
        let (host, _result) = register(height, &transaction.serialize(), None);
        assert!(paid(&host).is_zero());
    }
}

#[test]
fn truncated_transactions_and_proofs_pay_nothing() {
    let whole = peg_in(vec![to_federation(), to_federation()]).serialize();
    for length in 0..whole.len() {
        let (host, _result) = register(HEIGHTS[1], &whole[..length], None);
        assert!(paid(&host).is_zero(), "{length} bytes");
    }
    let proof = PartialTree::of_first_leaf(&[sha256d(&whole)], 1).encode();
    for length in 0..proof.len() {
        let (_host, result) = register(HEIGHTS[1], &whole, Some(&proof[..length]));
        assert!(result.is_err(), "{length} bytes");
    }
    for lie in [&hex!("01000000ffffffffffffffffff01")[..], &hex!("01000000feffffffff"), &hex!("ffffffff000101")] {
        let (_host, result) = register(HEIGHTS[1], &whole, Some(lie));
        assert!(result.is_err());
    }
}
