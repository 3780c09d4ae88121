//! The network upgrades (hard forks) of Rootstock.

macro_rules! upgrades {
    ($($variant:ident = $name:literal,)*) => {
        /// Network upgrade. Its activation height is part of the chain specification.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the names are all there is to say")]
        pub enum Upgrade {
            $($variant,)*
        }

        impl Upgrade {
            /// All upgrades, oldest first.
            pub const ALL: &'static [Upgrade] = &[$(Upgrade::$variant,)*];

            /// Returns the name in chain specifications, as in `wasabi100`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Upgrade::$variant => $name,)*
                }
            }
        }
    };
}

upgrades! {
    Bahamas = "bahamas",
    AfterBridgeSync = "afterBridgeSync",
    Orchid = "orchid",
    Orchid060 = "orchid060",
    Wasabi100 = "wasabi100",
    TwoToThree = "twoToThree",
    Papyrus200 = "papyrus200",
    Iris300 = "iris300",
    Hop400 = "hop400",
    Hop401 = "hop401",
    Fingerroot500 = "fingerroot500",
    Arrowhead600 = "arrowhead600",
    Arrowhead631 = "arrowhead631",
    Lovell700 = "lovell700",
    Reed800 = "reed800",
    Reed810 = "reed810",
    Vetiver900 = "vetiver900",
}

impl Upgrade {
    /// Returns the upgrade with this name.
    pub fn by_name(name: &str) -> Option<Upgrade> {
        Upgrade::ALL.iter().copied().find(|upgrade| upgrade.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upgrades_are_found_by_name() {
        assert_eq!(Upgrade::by_name("orchid060"), Some(Upgrade::Orchid060));
        assert_eq!(Upgrade::by_name("Orchid"), None);
    }
}
