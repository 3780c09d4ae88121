//! A change of the federation on regtest: votes, commit, activation, migration age, and a validation that fails.

use crate::memory_host::{MemoryHost, regtest_call};
use rhizome_bridge::{BlockIndex, Call, federators, genesis_federation};
use rhizome_primitives::{Address, Bytes, ChainSpec, I256, Log, Network, Rule, U256, address, hex, keccak256};

const VOTERS: [Address; 3] = [
    address!("0d8c44bd578a4e7148d1758b3332b529e93e48c1"),
    address!("2e7c9159614ddc0185e335d3343e92700c3e5a2d"),
    address!("5252403bca6ac3c104abdd320a736fa38282045d"),
];
const KEYS: [[u8; 33]; 3] = [
    hex!("02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1"),
    hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124"),
    hex!("03c5946b3fbae03a654237da863c9ed534e0878657175b132b8ca630f245df04db"),
];
/// Block of the commit.
const COMMIT: u64 = 1000;
/// Blocks from the commit to the activation.
const ACTIVATION_AGE: u64 = 150;
/// Blocks from the activation to the end of the migration.
const MIGRATION_END: u64 = 150;
/// Blocks in which a proposed federation must prove that it can sign.
const VALIDATION_PERIOD: u64 = 125;
/// The code of an absent federation.
const ABSENT: i64 = -1;

const CREATE: [u8; 4] = hex!("1183d5d1");
const ADD: [u8; 4] = hex!("444ff9da");
const PENDING_HASH: [u8; 4] = hex!("6ce0ed5a");
const COMMIT_FEDERATION: [u8; 4] = hex!("1533330f");
const UPDATE_COLLECTIONS: [u8; 4] = hex!("0c5a9990");

/// A Bridge, and the rules that it follows.
struct Peg {
    spec: ChainSpec,
    host: MemoryHost,
}

impl Peg {
    fn new(spec: ChainSpec) -> Self {
        Self { spec, host: MemoryHost::default() }
    }

    fn send(&mut self, block_number: u64, caller: Address, data: &[u8]) -> (Bytes, Vec<Log>) {
        self.call(block_number, caller, data, false)
    }

    /// Returns the output of a local call.
    fn view(&mut self, block_number: u64, data: &[u8]) -> Bytes {
        self.call(block_number, VOTERS[0], data, true).0
    }

    fn call(&mut self, block_number: u64, caller: Address, data: &[u8], is_local: bool) -> (Bytes, Vec<Log>) {
        let rules = self.spec.rules(block_number);
        let call = Call { rules, block_number, is_local, ..regtest_call(caller) };
        let mut logs = Vec::new();
        let output = rhizome_bridge::run(data, &call, &mut self.host, &mut logs, &mut BlockIndex::new()).unwrap();
        (output.unwrap_or_default(), logs)
    }

    /// Votes until the change is made. Returns the code of the last vote and the logs of the commit.
    fn vote(&mut self, block_number: u64, data: &[u8]) -> (i64, Vec<Log>) {
        let votes = VOTERS.map(|voter| self.send(block_number, voter, data));
        let [.., (code, logs)] = votes;
        (number(&code), logs)
    }

    /// Commits a federation of two members: Bitcoin keys 0 and 1, Rootstock keys 1 and 2.
    fn commit(&mut self) -> Vec<Log> {
        assert_eq!(self.vote(COMMIT, &CREATE).0, 1);
        for (bitcoin, rsk) in [(KEYS[0], KEYS[1]), (KEYS[1], KEYS[2])] {
            assert_eq!(self.vote(COMMIT, &with_bytes(ADD, &[&bitcoin, &rsk, &bitcoin])).0, 1);
        }
        let hash = self.view(COMMIT, &PENDING_HASH);
        let (code, logs) = self.vote(COMMIT, &with_bytes(COMMIT_FEDERATION, &[&hash[64..96]]));
        assert_eq!(code, 1);
        logs
    }

    /// Returns the sizes of the active and of the retiring federation.
    fn sizes(&mut self, block_number: u64) -> [i64; 2] {
        [hex!("802ad4b6"), hex!("d970b0fd")].map(|getter| number(&self.view(block_number, &getter)))
    }

    /// Returns the size of the proposed federation.
    fn proposed_size(&mut self, block_number: u64) -> i64 {
        number(&self.view(block_number, &hex!("06ebeb8c")))
    }

    fn federators(&mut self, height: u64) -> Vec<Address> {
        federators(Network::Regtest, self.spec.rules(height), height, &mut self.host).unwrap()
    }
}

fn number(word: &[u8]) -> i64 {
    I256::from_be_bytes::<32>(word.try_into().unwrap()).try_into().unwrap()
}

/// Returns call data with arguments of the type `bytes`, of at most 64 bytes each.
fn with_bytes(selector: [u8; 4], arguments: &[&[u8]]) -> Vec<u8> {
    let word = |number: usize| U256::from(number).to_be_bytes::<32>();
    let mut data = selector.to_vec();
    (0..arguments.len()).for_each(|index| data.extend(word(32 * arguments.len() + 96 * index)));
    for argument in arguments {
        data.extend(word(argument.len()));
        data.extend(*argument);
        data.resize(data.len() + 64 - argument.len(), 0);
    }
    data
}

fn has_event(logs: &[Log], signature: &str) -> bool {
    logs.iter().any(|log| log.topics.first() == Some(&keccak256(signature)))
}

#[test]
fn a_federation_is_active_at_its_activation_age_and_its_predecessor_retires() {
    let mut peg = Peg::new(ChainSpec::regtest().with_rule_height(Rule::Rskip419, None));
    let genesis = genesis_federation(Network::Regtest).unwrap();
    let logs = peg.commit();
    assert!(has_event(&logs, "commit_federation(bytes,string,bytes,string,int256)"));

    let activation = COMMIT + ACTIVATION_AGE;
    assert_eq!(peg.sizes(activation - 1), [3, ABSENT]);
    assert_eq!(peg.federators(activation - 1), genesis);
    assert_eq!(peg.vote(activation - 1, &CREATE).0, -2);

    assert_eq!(peg.sizes(activation), [2, 3]);
    // REMASC pays the addresses of the Rootstock keys, in the order of the Bitcoin keys.
    let paid = peg.federators(activation);
    assert_eq!(paid, [genesis[1], genesis[2]]);
    assert_eq!(peg.vote(activation, &CREATE).0, -3);

    let end = activation + MIGRATION_END;
    peg.send(end - 1, paid[0], &UPDATE_COLLECTIONS);
    assert_eq!(peg.sizes(end - 1), [2, 3]);
    peg.send(end, paid[0], &UPDATE_COLLECTIONS);
    assert_eq!(peg.sizes(end), [2, ABSENT]);
    assert_eq!(peg.vote(end, &CREATE).0, 1);
}

#[test]
fn a_federation_that_proves_nothing_is_given_up() {
    let mut peg = Peg::new(ChainSpec::regtest());
    peg.commit();
    assert_eq!((peg.sizes(COMMIT), peg.proposed_size(COMMIT)), ([3, ABSENT], 2));
    assert_eq!(peg.vote(COMMIT, &CREATE).0, -4);

    let failed = "commit_federation_failed(bytes,int256)";
    let member = genesis_federation(Network::Regtest).unwrap()[0];
    let end = COMMIT + VALIDATION_PERIOD;
    // Without coins there is no transaction to prove with.
    let (_, logs) = peg.send(end - 1, member, &UPDATE_COLLECTIONS);
    assert!(!has_event(&logs, failed));
    let (_, logs) = peg.send(end, member, &UPDATE_COLLECTIONS);
    assert!(has_event(&logs, failed));
    assert_eq!((peg.sizes(end), peg.proposed_size(end)), ([3, ABSENT], ABSENT));
    assert_eq!(peg.vote(end, &CREATE).0, 1);
}

#[test]
fn the_point_at_infinity_is_a_key_of_a_member() {
    let mut peg = Peg::new(ChainSpec::regtest());
    peg.vote(COMMIT, &CREATE);
    let members: [([&[u8]; 3], i64); 4] = [
        ([&[0], &KEYS[0], &KEYS[1]], 1),
        ([&KEYS[0], &[0], &[0]], 1),
        ([&[0], &KEYS[1], &KEYS[2]], -2),
        ([&KEYS[1], &[0], &KEYS[2]], -2),
    ];
    for (keys, code) in members {
        assert_eq!(peg.vote(COMMIT, &with_bytes(ADD, &keys)).0, code);
    }
    let hash = peg.view(COMMIT, &PENDING_HASH);
    assert_eq!(hash[64..96], keccak256([&[0xe3, 0, 0xa1][..], &KEYS[0]].concat()).0);
    assert_eq!(peg.vote(COMMIT, &with_bytes(COMMIT_FEDERATION, &[&hash[64..96]])).0, 1);
    assert_eq!(peg.proposed_size(COMMIT), 2);
}

#[test]
fn the_devnet_has_no_federators() {
    let rules = ChainSpec::regtest().rules(1);
    assert!(federators(Network::Devnet, rules, 1, &mut MemoryHost::default()).is_err());
}
