//! Members of the genesis federation of each network (docs/spec/bridge.md, 12).
//!
//! Members are sorted by their Bitcoin keys. Genesis members use one key for everything, so their addresses do not depend on
//! RSKIP-415.

use crate::federation::member_address::address_of;
use rhizome_primitives::{Address, Network, hex};
use std::sync::OnceLock;

const MAINNET: [[u8; 33]; 15] = [
    hex!("03b53899c390573471ba30e5054f78376c5f797fda26dde7a760789f02908cbad2"),
    hex!("027319afb15481dbeb3c426bcc37f9a30e7f51ceff586936d85548d9395bcc2344"),
    hex!("0355a2e9bf100c00fc0a214afd1bf272647c7824eb9cb055480962f0c382596a70"),
    hex!("02566d5ded7c7db1aa7ee4ef6f76989fb42527fcfdcddcd447d6793b7d869e46f7"),
    hex!("0294c817150f78607566e961b3c71df53a22022a80acbb982f83c0c8baac040adc"),
    hex!("0372cd46831f3b6afd4c044d160b7667e8ebf659d6cb51a825a3104df6ee0638c6"),
    hex!("0340df69f28d69eef60845da7d81ff60a9060d4da35c767f017b0dd4e20448fb44"),
    hex!("02ac1901b6fba2c1dbd47d894d2bd76c8ba1d296d65f6ab47f1c6b22afb53e73eb"),
    hex!("031aabbeb9b27258f98c2bf21f36677ae7bae09eb2d8c958ef41a20a6e88626d26"),
    hex!("0245ef34f5ee218005c9c21227133e8568a4f3f11aeab919c66ff7b816ae1ffeea"),
    hex!("02550cc87fa9061162b1dd395a16662529c9d8094c0feca17905a3244713d65fe8"),
    hex!("02481f02b7140acbf3fcdd9f72cf9a7d9484d8125e6df7c9451cfa55ba3b077265"),
    hex!("03f909ae15558c70cc751aff9b1f495199c325b13a9e5b934fd6299cd30ec50be8"),
    hex!("02c6018fcbd3e89f3cf9c7f48b3232ea3638eb8bf217e59ee290f5f0cfb2fb9259"),
    hex!("03b65694ccccda83cbb1e56b31308acd08e993114c33f66a456b627c2c1c68bed6"),
];

const TESTNET: [[u8; 33]; 4] = [
    hex!("039a060badbeb24bee49eb2063f616c0f0f0765d4ca646b20a88ce828f259fcdb9"),
    hex!("02afc230c2d355b1a577682b07bc2646041b5d0177af0f98395a46018da699b6da"),
    hex!("0344a3c38cd59afcba3edcebe143e025574594b001700dec41e59409bdbd0f2a09"),
    hex!("034844a99cd7028aa319476674cc381df006628be71bc5593b8b5fdb32bb42ef85"),
];

const REGTEST: [[u8; 33]; 3] = [
    hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124"),
    hex!("03c5946b3fbae03a654237da863c9ed534e0878657175b132b8ca630f245df04db"),
    hex!("02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1"),
];

fn keys_of(network: Network) -> Option<&'static [[u8; 33]]> {
    match network {
        Network::Mainnet => Some(&MAINNET),
        Network::Testnet | Network::Testnet2 => Some(&TESTNET),
        Network::Regtest => Some(&REGTEST),
        Network::Devnet => None,
    }
}

/// Returns the compressed keys of the genesis federation, in the order of its members.
pub(crate) fn genesis_keys(network: Network) -> Option<Vec<[u8; 33]>> {
    let mut keys = keys_of(network)?.to_vec();
    keys.sort_unstable();
    Some(keys)
}

/// Returns the addresses of the genesis federation, in the order of payment; `None` on the devnet,
/// which has no federation.
pub fn genesis_federation(network: Network) -> Option<&'static [Address]> {
    static MAINNET_MEMBERS: OnceLock<Vec<Address>> = OnceLock::new();
    static TESTNET_MEMBERS: OnceLock<Vec<Address>> = OnceLock::new();
    static REGTEST_MEMBERS: OnceLock<Vec<Address>> = OnceLock::new();
    let members = match network {
        Network::Mainnet => &MAINNET_MEMBERS,
        Network::Testnet | Network::Testnet2 => &TESTNET_MEMBERS,
        Network::Regtest => &REGTEST_MEMBERS,
        Network::Devnet => return None,
    };
    let keys = genesis_keys(network)?;
    let members = members.get_or_init(|| keys.iter().filter_map(address_of).collect());
    // A key that is not a point has no address; then there is no federation to pay.
    (members.len() == keys.len()).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::address;

    #[test]
    fn regtest_members_in_order() {
        let expected = [
            address!("6b045752f4d650a510a353bbf7e52988331e7f5b"),
            address!("85845342b0d5260d516d6da5280a7df9a96d1925"),
            address!("138161cda86b55c0de1bc3a0adef974633c85fbe"),
        ];
        assert_eq!(genesis_federation(Network::Regtest), Some(&expected[..]));
    }

    #[test]
    fn every_network() {
        let size = |network| genesis_federation(network).map(<[_]>::len);
        assert_eq!(size(Network::Mainnet), Some(15));
        assert_eq!(size(Network::Testnet), Some(4));
        assert_eq!(size(Network::Testnet2), Some(4));
        assert_eq!(size(Network::Devnet), None);
    }
}
