//! The networks. A network is data: one file in `networks/`, in the format that custom chain specifications use too.

/// The network whose defaults a chain starts from. A few constants of the reference hang on it rather than on the chain id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// The network with real money.
    Mainnet,
    /// The public test network.
    Testnet,
    /// The second public test network.
    Testnet2,
    /// One-node development network: difficulty 1, funded accounts.
    Regtest,
    /// Development network of several nodes.
    Devnet,
}

impl Network {
    /// Every network.
    pub const ALL: &'static [Network] =
        &[Network::Mainnet, Network::Testnet, Network::Testnet2, Network::Regtest, Network::Devnet];

    /// The name on the command line and in chain specifications.
    pub fn name(self) -> &'static str {
        match self {
            Network::Mainnet => "mainnet",
            Network::Testnet => "testnet",
            Network::Testnet2 => "testnet2",
            Network::Regtest => "regtest",
            Network::Devnet => "devnet",
        }
    }

    /// The network of that name; the reference's `main` is accepted too.
    pub fn by_name(name: &str) -> Option<Network> {
        match name {
            "main" => Some(Network::Mainnet),
            _ => Network::ALL.iter().copied().find(|network| network.name() == name),
        }
    }

    /// The built-in chain specification, as JSON.
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
