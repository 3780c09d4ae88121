//! Constants of each network (docs/spec/bridge.md, 12).

use rhizome_bitcoin::BitcoinAddress;
use rhizome_primitives::{Address, Network, U256, address, hex};

/// Satoshis of one bitcoin.
const BTC: u64 = 100_000_000;

/// Addresses with the right to vote, and the number of votes required.
pub(crate) struct Authorizer {
    pub(crate) members: &'static [Address],
    pub(crate) required: usize,
}

impl Authorizer {
    const fn one(members: &'static [Address]) -> Authorizer {
        Authorizer { members, required: 1 }
    }

    pub(crate) fn contains(&self, address: &Address) -> bool {
        self.members.contains(address)
    }
}

/// The first Bitcoin block of a header store.
pub struct FirstBlock {
    /// Height in the Bitcoin chain.
    pub height: i32,
    /// Chain work up to and including the block.
    pub work: U256,
    /// The header.
    pub header: [u8; 80],
}

impl FirstBlock {
    /// Returns the time of the header, in seconds since 1970.
    pub fn time(&self) -> u32 {
        let [.., a, b, c, d, _, _, _, _, _, _, _, _] = self.header;
        u32::from_le_bytes([a, b, c, d])
    }
}

/// The difficulty rules of a Bitcoin network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BitcoinRules {
    Mainnet,
    Testnet,
    Regtest,
}

/// The constants of one network. Amounts in satoshis unless stated otherwise.
pub(crate) struct Constants {
    pub(crate) bitcoin: BitcoinRules,
    /// Highest target of a Bitcoin header.
    pub(crate) target_limit: U256,
    pub(crate) genesis: FirstBlock,
    /// Version bytes of P2PKH and P2SH addresses.
    pub(crate) address_versions: [u8; 2],
    /// Bitcoin height from which the index by height is complete (RSKIP-199).
    pub(crate) index_height: i32,
    /// Depth that look-ups by height reach until the index is longer (RSKIP-199).
    pub(crate) search_depth: i32,
    /// First Bitcoin height whose chain work does not fit into its slot (until RSKIP-434).
    pub(crate) excessive_work_height: Option<i32>,
    /// Until RSKIP-219, and since.
    pub(crate) minimum_peg_in: [u64; 2],
    /// Until RSKIP-219. Exclusive.
    pub(crate) legacy_minimum_peg_out: u64,
    pub(crate) minimum_peg_out: u64,
    /// Percentage above the fee that a peg-out must cover.
    pub(crate) peg_out_gap: u64,
    pub(crate) blocks_between_batches: u64,
    /// Confirmations of a Bitcoin transaction that the Bridge registers.
    pub(crate) bitcoin_confirmations: i32,
    /// RSK blocks between the creation of a peg-out and its signatures.
    pub(crate) rsk_confirmations: u64,
    /// Bitcoin height from which peg-outs are recognized by the index of their hashes (RSKIP-379).
    pub(crate) peg_out_index_height: i32,
    /// Maximum number of inputs of a migration (RSKIP-294).
    pub(crate) migration_inputs: usize,
    /// RSK blocks from the creation of a federation to its activation: until RSKIP-383, until RSKIP-419, and since.
    pub(crate) activation_ages: [u64; 3],
    /// RSK blocks from the activation to the begin and to the end of the migration.
    pub(crate) migration_ages: [u64; 2],
    /// The end of the migration while RSKIP-357 is active and RSKIP-374 is not.
    pub(crate) long_migration_end: Option<u64>,
    /// RSK blocks in which a proposed federation must prove that it can sign (RSKIP-419).
    pub(crate) validation_period: u64,
    /// Keys of the emergency branch, in ascending order.
    pub(crate) emergency_keys: &'static [[u8; 33]],
    /// Bitcoin blocks after which the emergency branch can spend.
    pub(crate) emergency_delay: u32,
    /// Hash of the P2SH address of the federation before the genesis federation.
    pub(crate) old_federation: [u8; 20],
    /// As stored: milliseconds on regtest, seconds on mainnet and testnet.
    pub(crate) federation_creation: u64,
    pub(crate) fee_per_kb: u64,
    pub(crate) initial_locking_cap: u64,
    pub(crate) federation_change: Authorizer,
    pub(crate) fee_change: Authorizer,
    pub(crate) locking_cap_change: Authorizer,
    pub(crate) whitelist_change: Authorizer,
    pub(crate) union_address_change: Authorizer,
    pub(crate) union_cap_change: Authorizer,
    pub(crate) union_permission_change: Authorizer,
    /// True if the union bridge can have an address.
    pub(crate) has_union_bridge: bool,
}

/// Maximum fee per kilobyte of a vote.
pub(crate) const MAXIMUM_FEE_PER_KB: i64 = 5_000_000;
/// Minimum time between two headers of `receiveHeader`, seconds.
pub(crate) const SECONDS_BETWEEN_HEADERS: u64 = 300;
/// Maximum depth of a header of `receiveHeader` below the best header.
pub(crate) const HEADER_DEPTH_LIMIT: i32 = 25;
/// Initial cap of the union bridge: 1 RBTC in wei.
pub(crate) const INITIAL_UNION_CAP: u64 = 1_000_000_000_000_000_000;

const BITCOIN_LIMIT: U256 = U256::from_limbs([0, 0, 0, 0xffff_0000]);
const REGTEST_LIMIT: U256 = U256::from_limbs([u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1]);

/// Builds Bitcoin's genesis header from time, bits and nonce, which differ between networks.
const fn genesis(end: [u8; 12], work: u64) -> FirstBlock {
    let common: [u8; 68] = hex!(
        "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3"
            "888a51323a9fb8aa4b1e5e4a"
    );
    let mut header = [0; 80];
    header.split_at_mut(68).0.copy_from_slice(&common);
    header.split_at_mut(68).1.copy_from_slice(&end);
    FirstBlock { height: 0, work: U256::from_limbs([work, 0, 0, 0]), header }
}

/// The zero address, which signs no transaction.
const NO_AUTHORIZER: [Address; 1] = [Address::ZERO];
const MAINNET_FEE: [Address; 3] = [
    address!("180a7edda4e640ea5a3e495e17a1efad260c39e9"),
    address!("8418edc8fea47183116b4c8cd6a12e51a7e169c1"),
    address!("a02db0ed94a5894bc6f9079bb9a2d93ada1917f3"),
];
const TESTNET_FEE: [Address; 3] = [
    address!("4502d34c8e889b2be7e1bfe1a645df8fa3f9204b"),
    address!("9e472a8b3f3c95736b0b255db2b7ba38c687c751"),
    address!("f7d8befef29878e5c35fee23e6889ed88afb56b8"),
];

const MAINNET_EMERGENCY_KEYS: [[u8; 33]; 4] = [
    hex!("02370a9838e4d15708ad14a104ee5606b36caaaaf739d833e67770ce9fd9b3ec80"),
    hex!("0257c293086c4d4fe8943deda5f890a37d11bebd140e220faa76258a41d077b4d4"),
    hex!("03c2660a46aa73078ee6016dee953488566426cf55fc8011edd0085634d75395f9"),
    hex!("03cd3e383ec6e12719a6c69515e5559bcbe037d0aa24c187e1e26ce932e22ad7b3"),
];
const TESTNET_EMERGENCY_KEYS: [[u8; 33]; 3] = [
    hex!("0216c23b2ea8e4f11c3f9e22711addb1d16a93964796913830856b568cc3ea21d3"),
    hex!("0275562901dd8faae20de0a4166362a4f82188db77dbed4ca887422ea1ec185f14"),
    hex!("034db69f2112f4fb1bb6141bf6e2bd6631f0484d0bd95b16767902c9fe219d4a6f"),
];
const REGTEST_EMERGENCY_KEYS: [[u8; 33]; 4] = [
    hex!("029cecea902067992d52c38b28bf0bb2345bda9b21eca76b16a17c477a64e43301"),
    hex!("03284178e5fbcc63c54c3b38e3ef88adf2da6c526313650041b0ef955763634ebd"),
    hex!("03ab0e2cd7ed158687fc13b88019990860cdb72b1f5777b58513312550ea1584bc"),
    hex!("03b9fc46657cf72a1afa007ecf431de1cd27ff5cc8829fa625b66ca47b967e6b24"),
];

static MAINNET: Constants = Constants {
    bitcoin: BitcoinRules::Mainnet,
    target_limit: BITCOIN_LIMIT,
    genesis: genesis(hex!("29ab5f49ffff001d1dac2b7c"), 4_295_032_833),
    address_versions: [0, 5],
    index_height: 696_022,
    search_depth: 4320,
    excessive_work_height: Some(849_138),
    minimum_peg_in: [1_000_000, 500_000],
    legacy_minimum_peg_out: 800_000,
    minimum_peg_out: 400_000,
    peg_out_gap: 80,
    blocks_between_batches: 360,
    bitcoin_confirmations: 100,
    rsk_confirmations: 4000,
    peg_out_index_height: 837_589 + 4320,
    migration_inputs: 50,
    activation_ages: [18_500, 40_320, 40_320],
    migration_ages: [0, 10_585],
    long_migration_end: Some(172_800),
    validation_period: 20_000,
    emergency_keys: &MAINNET_EMERGENCY_KEYS,
    emergency_delay: 52_560,
    old_federation: hex!("279d4b44e8cf5e3f04c0ea21c78f1a0ecaa4cd9f"),
    federation_creation: 1_514_948_400,
    fee_per_kb: 500_000,
    initial_locking_cap: 300 * BTC,
    federation_change: Authorizer {
        members: &[
            address!("56bc5087ac97bc85a877bd20dfef910b78b1dc5a"),
            address!("6fe1cd06a80fa52eb34d7e4d1845881c2b5de89a"),
            address!("d41f4d4c7fc8d5fa9468d0c466c9a726397f91b6"),
        ],
        required: 2,
    },
    fee_change: Authorizer { members: &MAINNET_FEE, required: 2 },
    locking_cap_change: Authorizer::one(&MAINNET_FEE),
    whitelist_change: Authorizer::one(&[address!("6ba9d41b07da470fe340cbd439a42538795eb75b")]),
    union_address_change: Authorizer::one(&NO_AUTHORIZER),
    union_cap_change: Authorizer::one(&NO_AUTHORIZER),
    union_permission_change: Authorizer::one(&NO_AUTHORIZER),
    has_union_bridge: false,
};

static TESTNET: Constants = Constants {
    bitcoin: BitcoinRules::Testnet,
    target_limit: BITCOIN_LIMIT,
    genesis: genesis(hex!("dae5494dffff001d1aa4ae18"), 4_295_032_833),
    address_versions: [111, 196],
    index_height: 2_039_594,
    search_depth: 4320,
    excessive_work_height: None,
    minimum_peg_in: [1_000_000, 500_000],
    legacy_minimum_peg_out: 500_000,
    minimum_peg_out: 250_000,
    peg_out_gap: 80,
    blocks_between_batches: 360,
    bitcoin_confirmations: 10,
    rsk_confirmations: 10,
    peg_out_index_height: 2_589_553 + 1440,
    migration_inputs: 50,
    activation_ages: [60, 120, 2400],
    migration_ages: [60, 900],
    long_migration_end: None,
    validation_period: 2000,
    emergency_keys: &TESTNET_EMERGENCY_KEYS,
    emergency_delay: 52_560,
    old_federation: hex!("9d0f4eb1edb9bcb7078b36f413a01fbe85fabf40"),
    federation_creation: 1_538_967_600,
    fee_per_kb: 100_000,
    initial_locking_cap: 200 * BTC,
    federation_change: Authorizer {
        members: &[
            address!("112140a53537b49788456daffda2e20efd1865cd"),
            address!("5526529f386c4c77044f1c29bb965b37a7767c3d"),
            address!("5990aaedfccc88e2f7321a5b8d8db1f6e64abf03"),
        ],
        required: 2,
    },
    fee_change: Authorizer { members: &TESTNET_FEE, required: 2 },
    locking_cap_change: Authorizer::one(&TESTNET_FEE),
    whitelist_change: Authorizer::one(&[address!("54fdb399cf235c9b0d464ab4055af9251883bbfe")]),
    union_address_change: Authorizer::one(&[address!("54fdb399cf235c9b0d464ab4055af9251883bbfe")]),
    union_cap_change: Authorizer::one(&[address!("1a8109af0f019ed3045fbcdf45e5e90d6b6aafaf")]),
    union_permission_change: Authorizer::one(&[address!("8db1f83e8119e4dce5bc708ec2f4390ffd910b19")]),
    has_union_bridge: true,
};

static REGTEST: Constants = Constants {
    bitcoin: BitcoinRules::Regtest,
    target_limit: REGTEST_LIMIT,
    genesis: genesis(hex!("dae5494dffff7f2002000000"), 2),
    address_versions: [111, 196],
    index_height: 10,
    search_depth: 5,
    excessive_work_height: None,
    minimum_peg_in: [1_000_000, 500_000],
    legacy_minimum_peg_out: 500_000,
    minimum_peg_out: 250_000,
    peg_out_gap: 20,
    blocks_between_batches: 50,
    bitcoin_confirmations: 3,
    rsk_confirmations: 3,
    peg_out_index_height: 250 + 100,
    migration_inputs: 10,
    activation_ages: [10, 150, 150],
    migration_ages: [15, 150],
    long_migration_end: None,
    validation_period: 125,
    emergency_keys: &REGTEST_EMERGENCY_KEYS,
    emergency_delay: 500,
    old_federation: hex!("9d0f4eb1edb9bcb7078b36f413a01fbe85fabf40"),
    federation_creation: 1_451_606_400_000,
    fee_per_kb: 100_000,
    initial_locking_cap: 1000 * BTC,
    federation_change: Authorizer {
        members: &[
            address!("0d8c44bd578a4e7148d1758b3332b529e93e48c1"),
            address!("2e7c9159614ddc0185e335d3343e92700c3e5a2d"),
            address!("5252403bca6ac3c104abdd320a736fa38282045d"),
            address!("566bca18df14ed75efcc1a8a4f3947e81132dbbc"),
            address!("f0652637df184eca87e6bde29893825721dfb79f"),
        ],
        required: 3,
    },
    fee_change: Authorizer::one(&[address!("53f8f6dabd612b6137215ddd7758bb5cdd638922")]),
    locking_cap_change: Authorizer::one(&[address!("6913bd4715eff3b25501f3212f15df38296d1f21")]),
    whitelist_change: Authorizer::one(&[address!("87d2a0f33744929da08b65fd62b627ea52b25f8e")]),
    union_address_change: Authorizer::one(&[address!("6c9dfd950bf748bb26f893f7e5f693c7f60a8f85")]),
    union_cap_change: Authorizer::one(&[address!("377e67e16c13994a4d44791daf0a4d4cac445783")]),
    union_permission_change: Authorizer::one(&[address!("377e67e16c13994a4d44791daf0a4d4cac445783")]),
    has_union_bridge: true,
};

impl Constants {
    /// Returns the P2PKH address of the hash of a key.
    pub(crate) fn key_address(&self, hash: [u8; 20]) -> String {
        let [version, _script] = self.address_versions;
        BitcoinAddress { version, hash }.to_text()
    }
}

/// Returns the constants of a network. The reference has no constants for the devnet.
pub(crate) fn constants(network: Network) -> Option<&'static Constants> {
    match network {
        Network::Mainnet => Some(&MAINNET),
        Network::Testnet | Network::Testnet2 => Some(&TESTNET),
        Network::Regtest => Some(&REGTEST),
        Network::Devnet => None,
    }
}
