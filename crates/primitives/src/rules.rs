//! Consensus rules. Each belongs to an upgrade and activates with it, unless a network states a separate height.

use crate::upgrades::Upgrade;

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $upgrade:expr,)*) => {
        /// Consensus rule, named as in the reference node.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// All rules, in the order of declaration.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// Returns the name in chain specifications, as in `rskip85`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)*
                }
            }

            /// Returns the upgrade of the rule; `None` if only a separate height activates it.
            pub fn upgrade(self) -> Option<Upgrade> {
                match self {
                    $(Rule::$variant => $upgrade,)*
                }
            }
        }
    };
}

rules! {
    /// Bridge calls of the genesis federation and of the authorised keys stop being free.
    AreBridgeTxsPaid = "areBridgeTxsPaid" => Some(Upgrade::AfterBridgeSync),
    /// REMASC improvements; state root check (together with 126).
    Rskip85 = "rskip85" => Some(Upgrade::Orchid),
    /// Whitelist for unlimited peg-ins.
    Rskip87 = "rskip87" => Some(Upgrade::Orchid),
    /// Restriction of the callers of the Bridge.
    Rskip88 = "rskip88" => Some(Upgrade::Orchid),
    /// Bridge methods that return Bitcoin blocks.
    Rskip89 = "rskip89" => Some(Upgrade::Orchid),
    /// EXTCODESIZE and return data of precompiles.
    Rskip90 = "rskip90" => Some(Upgrade::Orchid),
    /// STATICCALL.
    Rskip91 = "rskip91" => Some(Upgrade::Orchid),
    /// Short Merkle proof; block hash without proof and coinbase.
    Rskip92 = "rskip92" => Some(Upgrade::Orchid),
    /// No drop to minimum difficulty after 10 minutes.
    Rskip97 = "rskip97" => Some(Upgrade::Orchid),
    /// No fallback (signed) blocks; Bitcoin header must be 80 bytes.
    Rskip98 = "rskip98" => Some(Upgrade::Orchid),
    /// Stack and value handling of DELEGATECALL and STATICCALL.
    Rskip103 = "rskip103" => Some(Upgrade::Orchid060),
    /// HD wallet utilities precompile.
    Rskip106 = "rskip106" => Some(Upgrade::Wasabi100),
    /// Fork detection data in the merged mining hash.
    Rskip110 = "rskip110" => Some(Upgrade::Wasabi100),
    /// Block header precompile.
    Rskip119 = "rskip119" => Some(Upgrade::Wasabi100),
    /// Shift opcodes.
    Rskip120 = "rskip120" => Some(Upgrade::Wasabi100),
    /// Bridge method for Bitcoin confirmations.
    Rskip122 = "rskip122" => Some(Upgrade::Wasabi100),
    /// Federation members with several keys.
    Rskip123 = "rskip123" => Some(Upgrade::Wasabi100),
    /// Bitcoin header size in the bridge.
    Rskip124 = "rskip124" => Some(Upgrade::Wasabi100),
    /// CREATE2.
    Rskip125 = "rskip125" => Some(Upgrade::Wasabi100),
    /// Unitrie roots (state, transactions, receipts).
    Rskip126 = "rskip126" => Some(Upgrade::Wasabi100),
    /// Gas of receiveHeaders.
    Rskip132 = "rskip132" => Some(Upgrade::Wasabi100),
    /// Locking cap.
    Rskip134 = "rskip134" => Some(Upgrade::Papyrus200),
    /// Saturating gas arithmetic, basic cost counted for precompiled calls.
    Rskip136 = "rskip136" => Some(Upgrade::Bahamas),
    /// Alt_bn128 precompiles.
    Rskip137 = "rskip137" => Some(Upgrade::Papyrus200),
    /// EXTCODEHASH.
    Rskip140 = "rskip140" => Some(Upgrade::Papyrus200),
    /// Peg-ins from other address types.
    Rskip143 = "rskip143" => Some(Upgrade::Papyrus200),
    /// Parallel execution sublists.
    Rskip144 = "rskip144" => Some(Upgrade::Reed810),
    /// Bridge events as solidity events.
    Rskip146 = "rskip146" => Some(Upgrade::Papyrus200),
    /// Call depth 400, bounded call memory writes, saturating call gas.
    Rskip150 = "rskip150" => Some(Upgrade::TwoToThree),
    /// SELFBALANCE.
    Rskip151 = "rskip151" => Some(Upgrade::Papyrus200),
    /// CHAINID.
    Rskip152 = "rskip152" => Some(Upgrade::Papyrus200),
    /// BLAKE2 compression precompile.
    Rskip153 = "rskip153" => Some(Upgrade::Iris300),
    /// Difficulty divisor 400.
    Rskip156 = "rskip156" => Some(Upgrade::Papyrus200),
    /// EXTCODEHASH correction.
    Rskip169 = "rskip169" => Some(Upgrade::Iris300),
    /// Peg-in to any address.
    Rskip170 = "rskip170" => Some(Upgrade::Iris300),
    /// Clean return buffer in calls.
    Rskip171 = "rskip171" => Some(Upgrade::Iris300),
    /// Keep balance when creating at an existing address.
    Rskip174 = "rskip174" => Some(Upgrade::Iris300),
    /// Fast bridge / flyover.
    Rskip176 = "rskip176" => Some(Upgrade::Iris300),
    /// Bitcoin and RSK timestamps linked.
    Rskip179 = "rskip179" => Some(Upgrade::Iris300),
    /// Merkle proof at most 960 bytes.
    Rskip180 = "rskip180" => Some(Upgrade::Iris300),
    /// Peg-in rejection events.
    Rskip181 = "rskip181" => Some(Upgrade::Iris300),
    /// Peg-out refund and events.
    Rskip185 = "rskip185" => Some(Upgrade::Iris300),
    /// Federation creation height.
    Rskip186 = "rskip186" => Some(Upgrade::Iris300),
    /// Removal of RSK-only opcodes.
    Rskip191 = "rskip191" => Some(Upgrade::Iris300),
    /// Errors inside precompiles fail the call.
    Rskip197 = "rskip197" => Some(Upgrade::Iris300),
    /// RegisterBtcTransaction public.
    Rskip199 = "rskip199" => Some(Upgrade::Iris300),
    /// Receive headers limits.
    Rskip200 = "rskip200" => Some(Upgrade::Iris300),
    /// Time locked emergency multisig.
    Rskip201 = "rskip201" => Some(Upgrade::Iris300),
    /// Call stack depth precompile.
    Rskip203 = "rskip203" => Some(Upgrade::Arrowhead600),
    /// New REMASC reward address.
    Rskip218 = "rskip218" => Some(Upgrade::Iris300),
    /// New minimum peg values.
    Rskip219 = "rskip219" => Some(Upgrade::Iris300),
    /// Bridge methods about Bitcoin blocks.
    Rskip220 = "rskip220" => Some(Upgrade::Iris300),
    /// Gas price cap of 100 times the block minimum.
    Rskip252 = "rskip252" => Some(Upgrade::Fingerroot500),
    /// Peg-out batching.
    Rskip271 = "rskip271" => Some(Upgrade::Hop400),
    /// Flyover refund addresses, ERP script.
    Rskip284 = "rskip284" => Some(Upgrade::Hop400),
    /// Testnet minimum difficulty 550000000.
    Rskip290 = "rskip290" => Some(Upgrade::Hop400),
    /// Flyover improvements.
    Rskip293 = "rskip293" => Some(Upgrade::Hop400),
    /// Inputs per migration transaction.
    Rskip294 = "rskip294" => Some(Upgrade::Hop400),
    /// Testnet timestamp link relaxed to 7200 s.
    Rskip297 = "rskip297" => Some(Upgrade::Hop400),
    /// Segwit federation.
    Rskip305 = "rskip305" => Some(Upgrade::Reed800),
    /// Address form in release event.
    Rskip326 = "rskip326" => Some(Upgrade::Fingerroot500),
    /// Versioned header with compressed extension.
    Rskip351 = "rskip351" => Some(Upgrade::Reed810),
    /// P2SH ERP redeem script.
    Rskip353 = "rskip353" => Some(Upgrade::Hop401),
    /// Migration period change.
    Rskip357 = "rskip357" => Some(Upgrade::Hop401),
    /// Migration period restored.
    Rskip374 = "rskip374" => Some(Upgrade::Fingerroot500),
    /// Peg-out creation hash as key.
    Rskip375 = "rskip375" => Some(Upgrade::Fingerroot500),
    /// Version 2 migration transactions.
    Rskip376 = "rskip376" => Some(Upgrade::Arrowhead600),
    /// Last retired federation script.
    Rskip377 = "rskip377" => Some(Upgrade::Fingerroot500),
    /// Peg-out transaction index.
    Rskip379 = "rskip379" => Some(Upgrade::Arrowhead600),
    /// Federation activation age.
    Rskip383 = "rskip383" => Some(Upgrade::Fingerroot500),
    /// Estimated fees method.
    Rskip385 = "rskip385" => Some(Upgrade::Fingerroot500),
    /// PUSH0.
    Rskip398 = "rskip398" => Some(Upgrade::Arrowhead600),
    /// 16 gas per non-zero data byte.
    Rskip400 = "rskip400" => Some(Upgrade::Arrowhead600),
    /// BASEFEE.
    Rskip412 = "rskip412" => Some(Upgrade::Arrowhead600),
    /// Federation address derivation.
    Rskip415 = "rskip415" => Some(Upgrade::Arrowhead600),
    /// Empty bridge answers.
    Rskip417 = "rskip417" => Some(Upgrade::Arrowhead600),
    /// Federation spendability protocol.
    Rskip419 = "rskip419" => Some(Upgrade::Lovell700),
    /// Event amounts in wei.
    Rskip427 = "rskip427" => Some(Upgrade::Lovell700),
    /// Peg-out creation event.
    Rskip428 = "rskip428" => Some(Upgrade::Lovell700),
    /// Chain work up to 12 bytes.
    Rskip434 = "rskip434" => Some(Upgrade::Arrowhead631),
    /// Init code size limit and cost.
    Rskip438 = "rskip438" => Some(Upgrade::Lovell700),
    /// MCOPY.
    Rskip445 = "rskip445" => Some(Upgrade::Lovell700),
    /// Transient storage.
    Rskip446 = "rskip446" => Some(Upgrade::Lovell700),
    /// No account on failed CREATE.
    Rskip453 = "rskip453" => Some(Upgrade::Lovell700),
    /// Chain work up to 32 bytes.
    Rskip454 = "rskip454" => Some(Upgrade::Lovell700),
    /// Rejected peg-ins marked processed.
    Rskip459 = "rskip459" => Some(Upgrade::Lovell700),
    /// Witness commitment search.
    Rskip460 = "rskip460" => Some(Upgrade::Lovell700),
    /// Union Bridge.
    Rskip502 = "rskip502" => Some(Upgrade::Reed810),
    /// Secp256k1 precompiles.
    Rskip516 = "rskip516" => Some(Upgrade::Reed800),
    /// Storage slots of the Union Bridge.
    Rskip529 = "rskip529" => Some(Upgrade::Reed810),
    /// Base event in header (version 2).
    Rskip535 = "rskip535" => None,
    /// More block header precompile methods.
    Rskip536 = "rskip536" => Some(Upgrade::Reed810),
    /// Estimated fees methods.
    Rskip540 = "rskip540" => Some(Upgrade::Vetiver900),
    /// Reject code starting with EF.
    Rskip544 = "rskip544" => Some(Upgrade::Vetiver900),
    /// 459 disabled.
    Rskip551 = "rskip551" => Some(Upgrade::Vetiver900),
    /// BLAKE2 input validation.
    Rskip552 = "rskip552" => Some(Upgrade::Vetiver900),
    /// UMM root element in header.
    RskipUmm = "rskipUMM" => Some(Upgrade::Papyrus200),
}

impl Rule {
    /// The rule of that name.
    pub fn by_name(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

// A set of rules has one bit for each rule in a u128.
const _: () = assert!(Rule::ALL.len() <= 128);

/// Set of the rules that are active at a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules(u128);

impl Rules {
    /// No rule.
    pub const fn none() -> Rules {
        Rules(0)
    }

    /// Every rule.
    pub const fn all() -> Rules {
        Rules(u128::MAX >> (128 - Rule::ALL.len()))
    }

    /// True if blocks divide their transactions into sublists (RSKIP-144 with RSKIP-351).
    pub const fn has_sublists(&self) -> bool {
        self.is_active(Rule::Rskip144) && self.is_active(Rule::Rskip351)
    }

    /// True when the rule is active.
    pub const fn is_active(&self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// The same set with the rule.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Rules {
        Rules(self.0 | (1 << rule as u8))
    }

    /// The same set without the rule.
    #[must_use]
    pub const fn without(self, rule: Rule) -> Rules {
        Rules(self.0 & !(1 << rule as u8))
    }

    /// The active rules in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = Rule> {
        let rules = *self;
        Rule::ALL.iter().copied().filter(move |&rule| rules.is_active(rule))
    }
}

impl FromIterator<Rule> for Rules {
    fn from_iter<T: IntoIterator<Item = Rule>>(rules: T) -> Self {
        rules.into_iter().fold(Rules::none(), Rules::with)
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_contain_the_added_rules() {
        let rules = Rules::none().with(Rule::Rskip85).with(Rule::RskipUmm);
        assert!(rules.is_active(Rule::Rskip85) && rules.is_active(Rule::RskipUmm) && !rules.is_active(Rule::Rskip87));
        assert_eq!(rules.without(Rule::Rskip85).iter().collect::<Vec<_>>(), [Rule::RskipUmm]);
        assert_eq!(Rules::all().iter().count(), Rule::ALL.len());
        assert_eq!(Rule::ALL.iter().copied().collect::<Rules>(), Rules::all());
    }

    #[test]
    fn rules_are_found_by_name() {
        assert_eq!(Rule::by_name("rskipUMM"), Some(Rule::RskipUmm));
        assert_eq!(Rule::by_name("rskip86"), None);
        assert!(Rule::ALL.iter().all(|&rule| Rule::by_name(rule.name()) == Some(rule)));
    }
}
