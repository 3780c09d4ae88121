//! Random steps: mostly sensible ones, so that a sequence gets far, between calls that are not.

use super::call_data::{CallArgument, call_data};
use super::stand_in::{StandInBlock, public, secret, signature};
use super::world::{KEYS, Origin, World};
use crate::constants::constants;
use crate::methods::selectors;
use crate::mutation::Random;
use crate::redeem_script::redeem_script_of_input;
use rhizome_bitcoin::{
    BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, hash160, p2pkh_script, push_data,
};
use rhizome_primitives::{Address, Network, U256, address, keccak256};

/// Confirmations that a registration needs, and some more.
const CONFIRMATIONS: usize = 4;
/// The first key that belongs to no federation.
const USER: usize = 100;

/// Does one random step, at times an upgrade.
pub(super) fn act(world: &mut World, random: &mut Random) {
    if random.below(144) == 0 { world.upgrade() } else { call(world, random) }
}

/// Does one random step under the current rules.
pub(super) fn call(world: &mut World, random: &mut Random) {
    world.number += random.below(3) as u64;
    match random.below(24) {
        0..=4 => peg_in(world, random),
        5..=7 => request_peg_out(world, random),
        8..=11 => drop(world.call_as_federator("updateCollections()", &[])),
        12..=14 => sign(world, random),
        15 | 16 => register_released(world, random),
        17 if random.below(2) == 0 => vote_federation(world, random),
        17 | 18 => flyover(world, random),
        19 => vote_setting(world, random),
        20 => world.number += 60 * random.below(4) as u64,
        21 => register_again(world, random),
        _ => call_anything(world, random),
    }
}

fn amount(random: &mut Random) -> i64 {
    match random.below(8) {
        0 => *random.pick(&[0, 1, 499_999]),
        1 => 200_000_000_000,
        _ => *random.pick(&[500_000, 1_000_000, 30_000_000, 100_000_000, 20_000_000_000]),
    }
}

/// A peg-in of a user, with outputs to any federation.
fn peg_in(world: &mut World, random: &mut Random) {
    let key = public(&secret(USER + random.below(3)));
    let scripts: Vec<_> = world.scripts.iter().cloned().collect();
    let mut script = Vec::new();
    let mut witness = Vec::new();
    match random.below(4) {
        0 => {
            push_data(&mut script, &[&[0, 20][..], &hash160(&key)].concat());
            witness = vec![vec![0x30; 71], key.to_vec()];
        }
        1 => push_data(&mut script, &random.bytes(40)),
        _ => {
            push_data(&mut script, &[0x30; 71]);
            push_data(&mut script, &key);
        }
    }
    let outpoint = OutPoint { txid: world.fresh_hash().0, index: random.below(3) as u32 };
    let mut outputs = Vec::new();
    for _ in 0..=random.below(3) {
        outputs.push(TransactionOutput { satoshis: amount(random), script: random.pick(&scripts).clone() });
    }
    match random.below(6) {
        0 => outputs.push(TransactionOutput { satoshis: amount(random), script: p2pkh_script(&[5; 20]) }),
        1 => {
            let mut script = vec![0x6a];
            let refund = random.below(3) as u8;
            push_data(&mut script, &[&b"RSKT\x01"[..], &[7; 20], &[refund], &[8; 20]].concat());
            outputs.push(TransactionOutput { satoshis: 0, script });
        }
        2 => outputs.push(TransactionOutput { satoshis: 1, script: random.bytes(30) }),
        _ => {}
    }
    let input = TransactionInput { outpoint, script, sequence: u32::MAX, witness };
    register(world, random, &BitcoinTransaction { version: 1, inputs: vec![input], outputs, lock_time: 0 });
}

/// A peg-in to the flyover address of a federation, registered by a contract, more than once.
fn flyover(world: &mut World, random: &mut Random) {
    let contract = Address::repeat_byte(0xcc);
    let agreement = world.fresh_hash();
    let [user, provider] = [[111; 21], [196; 21]];
    let derivation = keccak256([&agreement[..], &user, &contract[..], &provider].concat());
    let federation = random.pick(&world.federations()).clone();
    let script = world.read(|_storage, ctx| federation.flyover_output_script(ctx, &derivation));
    let outpoint = OutPoint { txid: world.fresh_hash().0, index: 0 };
    let input = TransactionInput { outpoint, script: random.bytes(40), sequence: u32::MAX, witness: Vec::new() };
    let outputs = (0..=random.below(2)).map(|_| TransactionOutput { satoshis: amount(random), script: script.clone() });
    let transaction = BitcoinTransaction { version: 1, inputs: vec![input], outputs: outputs.collect(), lock_time: 0 };
    world.mine(&transaction);
    let (block, height) = mine_block(world, &transaction);
    let data = call_data(
        "registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)",
        &[
            CallArgument::Bytes(transaction.serialize()),
            CallArgument::number(height),
            CallArgument::Bytes(block.proof(false)),
            CallArgument::Word(agreement.0),
            CallArgument::bytes(&user),
            CallArgument::Word(contract.into_word().0),
            CallArgument::bytes(&provider),
            CallArgument::number(random.below(2)),
        ],
    );
    for _ in 0..2 {
        world.call(&data, &Origin { caller: contract, satoshis: 0, key: None }, false);
    }
}

/// Mines a block and the headers that confirm it. Returns it with its height.
fn mine_block(world: &mut World, transaction: &BitcoinTransaction) -> (StandInBlock, usize) {
    let block = world.bitcoin.next_block(transaction);
    let height = world.bitcoin.height;
    let mut headers = vec![block.header.as_bytes().to_vec()];
    for _ in 0..CONFIRMATIONS {
        headers.push(world.bitcoin.next_header([3; 32]).as_bytes().to_vec());
    }
    assert!(world.call_as_federator("receiveHeaders(bytes[])", &[CallArgument::List(headers)]));
    (block, height)
}

/// Mines a transaction and registers it, sometimes with damaged data before.
fn register(world: &mut World, random: &mut Random, transaction: &BitcoinTransaction) {
    world.mine(transaction);
    world.registered.push(transaction.clone());
    let (block, height) = mine_block(world, transaction);
    let has_witness = transaction.has_witness();
    if has_witness {
        let coinbase = [
            CallArgument::Bytes(block.coinbase.serialize()),
            CallArgument::Word(rhizome_bitcoin::display(block.header.hash())),
            CallArgument::Bytes(block.coinbase_proof()),
            CallArgument::Word(rhizome_bitcoin::display(block.witness_root())),
            CallArgument::Word([0; 32]),
        ];
        world.call_as_federator("registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)", &coinbase);
    }
    let arguments = [
        CallArgument::Bytes(transaction.serialize()),
        CallArgument::number(height),
        CallArgument::Bytes(block.proof(has_witness)),
    ];
    let data = call_data("registerBtcTransaction(bytes,int256,bytes)", &arguments);
    let caller = world.federators()[0];
    let origin = Origin { caller, satoshis: 0, key: None };
    if random.below(3) == 0 {
        let mut damaged = data.clone();
        random.mutate(&mut damaged);
        world.call(&damaged, &origin, true);
    }
    world.call(&data, &origin, true);
}

/// The same transaction in a second block.
fn register_again(world: &mut World, random: &mut Random) {
    if !world.registered.is_empty() {
        let transaction = random.pick(&world.registered).clone();
        register(world, random, &transaction);
    }
}

fn request_peg_out(world: &mut World, random: &mut Random) {
    let key = public(&secret(USER + random.below(3)));
    let origin = Origin { caller: Address::repeat_byte(9), satoshis: amount(random) as u64, key: Some(key) };
    let is_direct = random.below(5) != 0;
    world.call(&call_data("releaseBtc()", &[]), &origin, is_direct);
}

/// Signs a waiting transaction with the keys of some members.
fn sign(world: &mut World, random: &mut Random) {
    let waiting = world.read(|storage, _ctx| {
        let signatures = storage.signatures.get(&mut storage.slots)?;
        let mut waiting: Vec<_> =
            signatures.0.iter().map(|(hash, transaction)| (hash.0, transaction.clone())).collect();
        waiting.extend(storage.svp.spend_waiting.get(&mut storage.slots)?.0.clone());
        Ok(waiting)
    });
    if waiting.is_empty() {
        return;
    }
    let (request, transaction) = random.pick(&waiting).clone();
    for federation in world.federations() {
        for member in &federation.members {
            let (Some(secret), Some(caller)) = (
                world.secrets.get(&member.bitcoin).copied(),
                crate::federation::member_address::address_of(&member.rsk),
            ) else {
                continue;
            };
            let signatures = (0..transaction.inputs.len()).map(|input| sign_input(world, &transaction, input, &secret));
            let arguments = [
                CallArgument::bytes(&member.bitcoin),
                CallArgument::List(signatures.collect()),
                CallArgument::bytes(request.as_slice()),
            ];
            let data = call_data("addSignature(bytes,bytes[],bytes)", &arguments);
            world.call(&data, &Origin { caller, satoshis: 0, key: None }, true);
        }
    }
}

fn sign_input(world: &World, transaction: &BitcoinTransaction, input: usize, secret: &secp256k1::SecretKey) -> Vec<u8> {
    let script = redeem_script_of_input(transaction, input).unwrap().unwrap().bytes;
    let spending = &transaction.inputs[input];
    let hash = if spending.witness.is_empty() {
        transaction.legacy_signature_hash(input, &script)
    } else {
        let value = world.value_of(&spending.outpoint).unwrap();
        transaction.segwit_signature_hash(input, &script, value)
    };
    signature(secret, hash.unwrap())
}

/// A released transaction is mined. Its signed form replaces the built one.
fn register_released(world: &mut World, random: &mut Random) {
    if world.released.is_empty() {
        return;
    }
    let index = random.below(world.released.len());
    let transaction = world.released.swap_remove(index);
    world.built.insert(transaction.inputs[0].outpoint, transaction.clone());
    register(world, random, &transaction);
}

/// A new federation of keys with private keys.
fn vote_federation(world: &mut World, random: &mut Random) {
    let voters = &constants(Network::Regtest).unwrap().federation_change;
    let vote = |world: &mut World, signature: &str, arguments: &[CallArgument]| {
        for caller in &voters.members[..voters.required] {
            world.call(&call_data(signature, arguments), &Origin { caller: *caller, satoshis: 0, key: None }, true);
        }
    };
    if random.below(8) == 0 {
        vote(world, "rollbackFederation()", &[]);
    }
    vote(world, "createFederation()", &[]);
    let first = random.below(KEYS - 2);
    let keys: Vec<_> = (first..first + 3).map(|number| public(&secret(number + 1))).collect();
    // An output to a federation that succeeds itself is a coin of both: so it is in the reference.
    let is_live = |key: &[u8; 33]| world.federations().iter().any(|one| one.member_with_bitcoin_key(key).is_some());
    if keys.iter().all(is_live) {
        return;
    }
    for key in keys {
        let keys = [CallArgument::bytes(&key), CallArgument::bytes(&key), CallArgument::bytes(&key)];
        vote(world, "addFederatorPublicKey(bytes)", &keys[..1]);
        vote(world, "addFederatorPublicKeyMultikey(bytes,bytes,bytes)", &keys);
    }
    let pending = world.read(|storage, _ctx| Ok(storage.pending.get(&mut storage.slots)?.clone()));
    if let Some(pending) = pending {
        vote(world, "commitFederation(bytes)", &[CallArgument::bytes(&pending.hash())]);
    }
}

fn vote_setting(world: &mut World, random: &mut Random) {
    const FEE: Address = address!("53f8f6dabd612b6137215ddd7758bb5cdd638922");
    const CAP: Address = address!("6913bd4715eff3b25501f3212f15df38296d1f21");
    const WHITELIST: Address = address!("87d2a0f33744929da08b65fd62b627ea52b25f8e");
    let number = CallArgument::number(*random.pick(&[1_000, 100_000, 5_000_000, 200_000_000_000]));
    let (caller, data) = match random.below(3) {
        0 => (FEE, call_data("voteFeePerKbChange(int256)", &[number])),
        1 => (CAP, call_data("increaseLockingCap(int256)", &[number])),
        _ => {
            let key = public(&secret(USER + random.below(3)));
            let address = constants(Network::Regtest).unwrap().key_address(hash160(&key));
            let address = CallArgument::bytes(address.as_bytes());
            (WHITELIST, call_data("addUnlimitedLockWhitelistAddress(string)", &[address]))
        }
    };
    world.call(&data, &Origin { caller, satoshis: 0, key: None }, true);
}

/// A damaged former call, or any method with words of any size.
fn call_anything(world: &mut World, random: &mut Random) {
    let mut data = if random.below(2) == 0 {
        random.pick(&world.inputs).clone()
    } else {
        let all: Vec<u32> = selectors().collect();
        let mut data = random.pick(&all).to_be_bytes().to_vec();
        for _ in 0..random.below(12) {
            let word = match random.below(4) {
                0 => U256::from(32 * random.below(12)),
                1 => U256::from(random.next()),
                2 => U256::MAX - U256::from(random.below(3)),
                _ => U256::from(1) << random.below(256),
            };
            data.extend(word.to_be_bytes::<32>());
        }
        data
    };
    if random.below(3) != 0 {
        random.mutate(&mut data);
    }
    let mut callers = world.federators();
    callers.extend(authorizers());
    callers.push(Address::repeat_byte(9));
    let key = Some(public(&secret(USER)));
    let satoshis = if random.below(4) == 0 { amount(random) as u64 } else { 0 };
    let origin = Origin { caller: *random.pick(&callers), satoshis, key };
    world.call(&data, &origin, random.below(2) == 0);
}

/// Returns the accounts that may change settings.
pub(super) fn authorizers() -> impl Iterator<Item = Address> {
    let constants = constants(Network::Regtest).unwrap();
    let authorizers = [
        &constants.federation_change,
        &constants.fee_change,
        &constants.locking_cap_change,
        &constants.whitelist_change,
        &constants.union_address_change,
        &constants.union_cap_change,
        &constants.union_permission_change,
    ];
    authorizers.into_iter().flat_map(|authorizer| authorizer.members).copied()
}
