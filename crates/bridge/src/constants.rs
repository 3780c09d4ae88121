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
    pub(crate) federation_address: &'static str,
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
    federation_address: "39AHNvUmzaYgewA8yCtBtNsfRz7QD7ZJYi",
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
    federation_address: "2N1N5mdHWmRUfv49f7GnUeFfuyLcBQK7hj2",
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
    federation_address: "2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p",
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
    /// Returns the hash in an address of the network, P2PKH or P2SH; `None` if `text` is not such an address.
    pub(crate) fn address_hash(&self, text: &[u8]) -> Option<[u8; 20]> {
        BitcoinAddress::parse(text)
            .filter(|address| self.address_versions.contains(&address.version))
            .map(|address| address.hash)
    }

    /// Returns the P2PKH address of the hash of a key.
    pub(crate) fn key_address(&self, hash: [u8; 20]) -> String {
        let [version, _script] = self.address_versions;
        BitcoinAddress { version, hash }.to_text()
    }

    /// Returns the P2SH address of the hash of a script.
    pub(crate) fn script_address(&self, hash: [u8; 20]) -> String {
        let [_key, version] = self.address_versions;
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
