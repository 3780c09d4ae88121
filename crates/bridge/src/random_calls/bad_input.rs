//! Transactions and proofs that lie about their sizes, under each set of rules.

use super::call_data::CallArgument;
use super::stand_in::{public, secret};
use super::world::World;
use crate::mutation::Random;
use rhizome_bitcoin::{BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, push_data, sha256d};
use std::time::{Duration, Instant};

/// Largest time under one set of rules, also on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Before it, the Bridge refunds users that are not on the list.
const FIRST_ERA_WITHOUT_WHITELIST: usize = 9;
const REGISTER: &str = "registerBtcTransaction(bytes,int256,bytes)";

/// Mines a block with one transaction. Returns its height and the proof.
pub(super) fn mine(world: &mut World, transaction: &[u8]) -> (usize, Vec<u8>) {
    let root = sha256d(transaction);
    let mut headers = vec![world.bitcoin.next_header(root).as_bytes().to_vec()];
    let height = world.bitcoin.height;
    headers.extend((0..4).map(|_| world.bitcoin.next_header([3; 32]).as_bytes().to_vec()));
    assert!(world.call_as_federator("receiveHeaders(bytes[])", &[CallArgument::List(headers)]));
    (height, [&[1, 0, 0, 0, 1][..], &root, &[1, 1]].concat())
}

fn arguments(transaction: &[u8], height: usize, proof: &[u8]) -> [CallArgument; 3] {
    [CallArgument::bytes(transaction), CallArgument::number(height), CallArgument::bytes(proof)]
}

fn register(world: &mut World, transaction: &[u8]) -> bool {
    let (height, proof) = mine(world, transaction);
    world.call_as_federator(REGISTER, &arguments(transaction, height, &proof))
}

fn has_coins(world: &World) -> bool {
    world.read(|storage, _ctx| Ok(!storage.new_coins.get(&mut storage.slots)?.0.is_empty()))
}

pub(super) fn peg_in(world: &mut World) -> BitcoinTransaction {
    let outpoint = OutPoint { txid: world.fresh_hash().0, index: 0 };
    let mut key_and_signature = Vec::new();
    push_data(&mut key_and_signature, &[0x30; 71]);
    push_data(&mut key_and_signature, &public(&secret(100)));
    let federations = world.federations();
    let script = world.read(|_storage, ctx| federations[0].output_script(ctx));
    BitcoinTransaction {
        version: 1,
        inputs: vec![TransactionInput { outpoint, script: key_and_signature, sequence: 0, witness: Vec::new() }],
        outputs: vec![TransactionOutput { satoshis: 100_000_000, script }],
        lock_time: 0,
    }
}

#[test]
fn transactions_that_lie_or_are_large() {
    for era in 0..World::ERAS {
        let world = &mut World::in_era(era, &mut Random::new(7));
        let start = Instant::now();
        let no_inputs = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let witness_without_inputs = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let many_inputs = [1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x7f];
        let plain = peg_in(world).serialize();
        let cut_witness = [&plain[..4], &[0, 1], &plain[4..plain.len() - 4]].concat();
        for bytes in [&no_inputs[..], &witness_without_inputs, &many_inputs, &plain[..50], &cut_witness] {
            assert!(!register(world, bytes), "era {era}: {bytes:?}");
            world.check();
        }
        let mut many_outputs = peg_in(world);
        many_outputs.outputs = vec![many_outputs.outputs[0].clone(); 10_000];
        let mut long_scripts = peg_in(world);
        long_scripts.inputs[0].script = vec![0; 10_000];
        long_scripts.outputs.push(TransactionOutput { satoshis: 1, script: vec![0x51; 10_000] });
        let mut long_push = peg_in(world);
        long_push.inputs[0].script = [&[0x4d, 0x10, 0x27][..], &[0x52; 10_000]].concat();
        for transaction in [many_outputs, long_scripts, long_push] {
            world.mine(&transaction);
            register(world, &transaction.serialize());
            world.check();
        }
        assert!(start.elapsed() < TIME_LIMIT, "era {era}");
    }
}

#[test]
fn proofs_that_lie_change_nothing() {
    for era in 0..World::ERAS {
        let world = &mut World::in_era(era, &mut Random::new(8));
        let peg_in = peg_in(world);
        world.mine(&peg_in);
        let transaction = peg_in.serialize();
        let (height, proof) = mine(world, &transaction);
        let hash = sha256d(&transaction);
        let header = |count: u32, hashes: u8| [&count.to_le_bytes()[..], &[hashes]].concat();
        let lies = [
            [&header(0, 1)[..], &hash, &[1, 1]].concat(),
            [&header(u32::MAX, 1)[..], &hash, &[1, 1]].concat(),
            [&header(1, 2)[..], &hash, &hash, &[1, 1]].concat(),
            // CVE-2012-2459: equal children.
            [&header(2, 2)[..], &hash, &hash, &[1, 5]].concat(),
            [&header(1, 1)[..], &hash, &[2, 1, 0]].concat(),
            [&header(1, 1)[..], &hash, &[0]].concat(),
            [&header(1, 0xfd)[..], &[0xff, 0xff], &hash, &[1, 1]].concat(),
            proof[..proof.len() - 1].to_vec(),
            [&proof[..], &[0]].concat(),
        ];
        for lie in lies {
            world.call_as_federator(REGISTER, &arguments(&transaction, height, &lie));
            assert!(!has_coins(world), "era {era}: {lie:?}");
            world.check();
        }
        let is_registered = world.call_as_federator(REGISTER, &arguments(&transaction, height, &proof));
        if era >= FIRST_ERA_WITHOUT_WHITELIST {
            assert!(is_registered && has_coins(world), "era {era}");
        }
        world.check();
    }
}
