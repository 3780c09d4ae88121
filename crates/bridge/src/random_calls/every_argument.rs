//! Every argument of every method: truncated, too long, random, and with offsets and lengths that lie. No call panics, lacks a
//! verdict or takes long.

use super::actions;
use super::bad_input::{mine, peg_in};
use super::call_data::{CallArgument, call_data, encode};
use super::stand_in::{public, secret, signature};
use super::world::{Origin, World};
use crate::constants::constants;
use crate::methods::{ArgumentType, Method, MethodEntry, ROWS, parse};
use crate::mutation::Random;
use rhizome_bitcoin::display;
use rhizome_primitives::{Address, Network, U256};
use std::time::{Duration, Instant};

/// Random calls before the first bad one, so that slots are not empty.
const PREPARATION: usize = 60;
/// Largest time of a call from all callers, also on a busy machine: it needs up to 15 ms, or 0.1 s from each caller if it decodes a
/// long Base58 text.
const TIME_LIMIT: Duration = Duration::from_secs(15);
/// About the largest call data that a block has gas for.
const LONG: usize = 100_000;
/// Elements of a list in call data of that size, besides an element of half of it.
const MANY: usize = LONG / 2 / 32;
/// Random and mutated values of an argument.
const RANDOM_VALUES: usize = 16;

/// A caller for each right that a method requires.
struct Callers {
    senders: Vec<Address>,
    /// Also the union bridge.
    contract: Address,
}

impl Callers {
    fn new(world: &mut World) -> Self {
        let contract = Address::repeat_byte(9);
        let mut senders: Vec<_> = actions::authorizers().collect();
        for caller in &senders {
            let origin = Origin { caller: *caller, satoshis: 0, key: None };
            let address = [CallArgument::Word(contract.into_word().0)];
            world.call(&call_data("setUnionBridgeContractAddressForTestnet(address)", &address), &origin, true);
        }
        senders.push(world.federators()[0]);
        Self { senders, contract }
    }

    /// Makes the call from all callers, and as `eth_call`.
    fn call(&self, world: &mut World, input: &[u8]) {
        let start = Instant::now();
        world.call_locally(input);
        // The callers do not matter to data that select no method.
        if parse(input, &world.rules()).is_some() {
            for caller in &self.senders {
                world.call(input, &Origin { caller: *caller, satoshis: 0, key: None }, true);
            }
        }
        world.call(input, &Origin { caller: self.contract, satoshis: 0, key: None }, false);
        assert!(start.elapsed() < TIME_LIMIT, "{} bytes: {:?}", input.len(), start.elapsed());
        world.inputs.clear();
    }
}

/// Arguments that get far.
struct Samples {
    /// A transaction in a block of the header store.
    transaction: Vec<u8>,
    height: usize,
    proof: Vec<u8>,
    /// Display order.
    block: [u8; 32],
    header: Vec<u8>,
    /// Hash of the request of a peg-out that waits for signatures, if any.
    request: [u8; 32],
    /// Number of signatures that it needs.
    signatures: usize,
}

impl Samples {
    fn new(world: &mut World) -> Self {
        let header = world.bitcoin.next_header([4; 32]);
        let headers = CallArgument::List(vec![header.as_bytes().to_vec()]);
        assert!(world.call_as_federator("receiveHeaders(bytes[])", &[headers]));
        let peg_in = peg_in(world);
        world.mine(&peg_in);
        let (height, proof) = mine(world, &peg_in.serialize());
        let (request, signatures) = world.read(|storage, _ctx| {
            let waiting = &storage.signatures.get(&mut storage.slots)?.0;
            Ok(waiting.iter().next().map_or(([0; 32], 1), |(hash, spend)| (hash.0.0, spend.inputs.len())))
        });
        let block = display(header.hash());
        Self {
            transaction: peg_in.serialize(),
            height,
            proof,
            block,
            header: header.as_bytes().to_vec(),
            request,
            signatures,
        }
    }

    fn arguments(&self, row: &MethodEntry) -> Vec<CallArgument> {
        let submission = || {
            let height = CallArgument::number(self.height);
            [CallArgument::bytes(&self.transaction), height, CallArgument::bytes(&self.proof)]
        };
        match row.method {
            Method::RegisterBtcTransaction => submission().to_vec(),
            Method::RegisterFastBridgeBtcTransaction => {
                let mut arguments = submission().to_vec();
                let [user, provider] = [[111; 21], [196; 21]].map(|address| CallArgument::bytes(&address));
                let contract = CallArgument::Word(Address::repeat_byte(9).into_word().0);
                arguments.extend([CallArgument::Word([1; 32]), user, contract, provider, CallArgument::number(1)]);
                arguments
            }
            Method::RegisterBtcCoinbaseTransaction => {
                let words = [CallArgument::Word([2; 32]), CallArgument::Word([0; 32])];
                let [transaction, _height, proof] = submission();
                [&[transaction, CallArgument::Word(self.block), proof][..], &words].concat()
            }
            Method::AddSignature => {
                let one = signature(&secret(1), [5; 32]);
                let key = CallArgument::bytes(&public(&secret(1)));
                vec![key, CallArgument::List(vec![one; self.signatures]), CallArgument::bytes(&self.request)]
            }
            Method::GetBtcTransactionConfirmations => {
                let words = [[4; 32], self.block].map(CallArgument::Word);
                [&words[..], &[CallArgument::number(1), CallArgument::Words(vec![[6; 32]; 2])]].concat()
            }
            Method::ReceiveHeader => vec![CallArgument::bytes(&self.header)],
            Method::ReceiveHeaders => vec![CallArgument::List(vec![self.header.clone(); 2])],
            _ => row.arguments.iter().map(|kind| self.argument(*kind, row.arguments.len())).collect(),
        }
    }

    /// Returns an argument of a method with `count` arguments.
    fn argument(&self, kind: ArgumentType, count: usize) -> CallArgument {
        match kind {
            ArgumentType::Int | ArgumentType::Bool | ArgumentType::Address => CallArgument::number(1),
            ArgumentType::Word => CallArgument::Word(self.block),
            ArgumentType::Bytes => CallArgument::bytes(&public(&secret(4))),
            // The second argument of getters is the kind of a key.
            ArgumentType::Text if count == 2 => CallArgument::bytes(b"btc"),
            ArgumentType::Text => {
                let address = constants(Network::Regtest).unwrap().key_address([8; 20]);
                CallArgument::bytes(address.as_bytes())
            }
            ArgumentType::ByteList => CallArgument::List(vec![self.header.clone()]),
            ArgumentType::WordList => CallArgument::Words(vec![self.block]),
        }
    }
}

/// Returns bad values in place of the bytes of an argument.
fn bad_bytes(good: &[u8], random: &mut Random) -> Vec<Vec<u8>> {
    let mut bad: Vec<_> = (0..good.len()).map(|length| good[..length].to_vec()).collect();
    bad.extend([0, 0x30, 0x51, 0x80, 0xfd, 0xff].map(|byte| vec![byte; LONG]));
    bad.push([good, &vec![0; LONG]].concat());
    // Names of key types, and text that is no UTF-8.
    bad.extend([&b"btc"[..], b"rsk", b"mst", &[0xc3, 0x28], &[b'0'; 64], &[b'z'; 64]].map(<[u8]>::to_vec));
    bad.extend((0..RANDOM_VALUES).map(|_| random.bytes(300)));
    for _ in 0..RANDOM_VALUES {
        let mut mutated = good.to_vec();
        random.mutate(&mut mutated);
        bad.push(mutated);
    }
    bad
}

/// Returns bad values in place of an argument.
fn bad_arguments(good: &CallArgument, random: &mut Random) -> Vec<CallArgument> {
    match good {
        CallArgument::Word(_) => (0..RANDOM_VALUES).map(|_| CallArgument::Word(random_word(random))).collect(),
        CallArgument::Bytes(good) => bad_bytes(good, random).into_iter().map(CallArgument::Bytes).collect(),
        CallArgument::List(good) => {
            let mut lists =
                vec![vec![], vec![vec![]; LONG / 64], good[..good.len() - 1].to_vec(), [&good[..], good].concat()];
            lists.extend(bad_bytes(&good[0], random).into_iter().map(|bad| [&[bad], &good[1..]].concat()));
            let mut bad: Vec<_> = lists.into_iter().map(CallArgument::List).collect();
            bad.extend([0, 0x30, 0x80].map(|byte| CallArgument::Repeated(MANY, vec![byte; LONG / 2])));
            bad.push(CallArgument::Repeated(MANY, good[0].clone()));
            bad
        }
        CallArgument::Words(good) => {
            let random_words = (0..RANDOM_VALUES).map(|count| (0..count).map(|_| random_word(random)).collect());
            random_words.chain([vec![], vec![good[0]; LONG / 32]]).map(CallArgument::Words).collect()
        }
        CallArgument::Repeated(..) => Vec::new(),
    }
}

/// Returns a word of random size.
fn random_word(random: &mut Random) -> [u8; 32] {
    let high = U256::from_limbs(std::array::from_fn(|_| random.next()));
    (high >> random.below(256)).to_be_bytes()
}

/// Returns numbers that lie as an offset or a length in `size` bytes, or do not fit into a smaller type.
fn lies(size: usize) -> Vec<U256> {
    let power = |exponent: usize| U256::from(1) << exponent;
    let mut lies: Vec<_> = [31, 32, 63, 64, 128, 255].map(power).to_vec();
    lies.extend([31, 32, 64, 255].map(|exponent| power(exponent) - U256::from(1)));
    lies.extend([0, 1, 31, 32, 33, size.saturating_sub(32), size.saturating_sub(31), size, size + 1].map(U256::from));
    lies.extend([U256::MAX, U256::MAX - U256::from(31), power(32) + U256::from(32)]);
    lies
}

/// Makes all bad calls of a method.
fn attack(row: &MethodEntry, samples: &Samples, callers: &Callers, world: &mut World, random: &mut Random) {
    let good = samples.arguments(row);
    let data = |arguments: &[CallArgument]| [&row.selector.to_be_bytes()[..], &encode(arguments)].concat();
    let whole = data(&good);
    (0..=whole.len()).for_each(|length| callers.call(world, &whole[..length]));
    for surplus in [1, 31, 32, LONG] {
        callers.call(world, &[&whole[..], &vec![0xff; surplus]].concat());
    }
    for position in (4..whole.len()).step_by(32) {
        for lie in lies(whole.len() - 4) {
            let mut lying = whole.clone();
            lying[position..][..32].copy_from_slice(&lie.to_be_bytes::<32>());
            callers.call(world, &lying);
        }
    }
    for (index, argument) in good.iter().enumerate() {
        for bad in bad_arguments(argument, random) {
            let mut arguments = good.clone();
            arguments[index] = bad;
            callers.call(world, &data(&arguments));
        }
    }
    for _ in 0..RANDOM_VALUES {
        callers.call(world, &[&row.selector.to_be_bytes()[..], &random.bytes(400)].concat());
    }
}

#[test]
fn no_argument_of_a_method_panics() {
    let mut missing: Vec<_> = ROWS.iter().map(|row| row.method).collect();
    for era in (0..World::ERAS).step_by(2) {
        let random = &mut Random::new(9);
        let world = &mut World::in_era(era, random);
        (0..PREPARATION).for_each(|_| actions::call(world, random));
        world.check();
        let (callers, samples) = (Callers::new(world), Samples::new(world));
        for row in &ROWS {
            // Printed if a call panics.
            println!("era {era}: {row:?}");
            let good = [&row.selector.to_be_bytes()[..], &encode(&samples.arguments(row))].concat();
            if parse(&good, &world.rules()).is_some() {
                missing.retain(|method| *method != row.method);
            }
            attack(row, &samples, &callers, world, random);
            world.check();
        }
    }
    assert_eq!(missing, [], "no set of rules has these methods");
}
