//! Built-in networks. A network is data: one file in `networks/`, in the format of custom chain specifications.

/// Network that provides the defaults of a chain. A few constants of the reference depend on it rather than on the
/// chain id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// The network with real money.
    Mainnet,
    /// The public test network.
    Testnet,
    /// The second public test network.
    Testnet2,
    /// Development network of one node: difficulty 1, funded accounts.
    Regtest,
    /// Development network of several nodes.
    Devnet,
}

impl Network {
    /// All networks.
    pub const ALL: &'static [Network] =
        &[Network::Mainnet, Network::Testnet, Network::Testnet2, Network::Regtest, Network::Devnet];

    /// Returns the name on the command line and in chain specifications.
    pub fn name(self) -> &'static str {
        match self {
            Network::Mainnet => "mainnet",
            Network::Testnet => "testnet",
            Network::Testnet2 => "testnet2",
            Network::Regtest => "regtest",
            Network::Devnet => "devnet",
        }
    }

    /// Returns the network with this name; `main`, the name in the reference, is accepted too.
    pub fn by_name(name: &str) -> Option<Network> {
        match name {
            "main" => Some(Network::Mainnet),
            _ => Network::ALL.iter().copied().find(|network| network.name() == name),
        }
    }

    /// Returns the built-in chain specification in JSON.
    pub fn spec_json(self) -> &'static str {
        match self {
            Network::Mainnet => include_str!("networks/mainnet.json"),
            Network::Testnet => include_str!("networks/testnet.json"),
            Network::Testnet2 => include_str!("networks/testnet2.json"),
            Network::Regtest => include_str!("networks/regtest.json"),
            Network::Devnet => include_str!("networks/devnet.json"),
        }
    }
}
