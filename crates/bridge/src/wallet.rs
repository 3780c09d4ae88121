//! Wallets: coins and the redeem scripts that spend them (docs/spec/bridge.md, 7.5).

use crate::coin_selection::SpendableCoins;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation::{self, Federation};
use crate::placeholders;
use crate::redeem_script::{RedeemScript, TESTNET_REDEEM_SCRIPT};
use crate::slots::coins::Coin;
use crate::storage::Storage;
use rhizome_bitcoin::{OutputKind, output_kind};
use rhizome_primitives::B256;
use std::collections::HashMap;
use std::rc::Rc;

/// Estimated size of a signature, bytes.
const SIGNATURE_SIZE: usize = 75;

/// The flyover addresses of a wallet.
pub(crate) enum FlyoverAddresses {
    None,
    /// Those with stored information.
    Stored,
    /// The addresses that a derivation hash gives to federations.
    Derived(B256, Vec<Rc<Federation>>),
}

/// The part of an input that follows from the redeem script of its coin.
pub(crate) struct InputPlaceholder {
    /// Number of signatures.
    pub(crate) required_signatures: usize,
    /// Estimated size of signatures and redeem script, bytes.
    pub(crate) estimated_size: usize,
    /// Script without signatures.
    pub(crate) script: Vec<u8>,
    /// Witness without signatures; empty if the signatures go into the script.
    pub(crate) witness: Vec<Vec<u8>>,
}

/// The redeem scripts of the federations of a wallet.
pub(crate) struct Spendings {
    federations: Vec<(Vec<u8>, Rc<Federation>)>,
    flyover: FlyoverAddresses,
    /// True if signatures go into witnesses.
    is_segwit: bool,
    /// By output script.
    known: HashMap<Vec<u8>, Rc<InputPlaceholder>>,
}

/// The coins of federations, and what spends them.
pub(crate) struct FederationWallet {
    pub(crate) coins: SpendableCoins,
    pub(crate) spendings: Spendings,
}

impl FederationWallet {
    /// Returns the wallet of the active federation with all its coins.
    pub(crate) fn active(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Self> {
        let federation = federation::active(storage, ctx)?;
        let coins = SpendableCoins::new(&federation::active_coins(storage, ctx)?.0);
        Self::of_federation(ctx, &federation, coins)
    }

    /// Returns the wallet of one federation.
    pub(crate) fn of_federation(
        ctx: &CallContext<'_>,
        federation: &Rc<Federation>,
        coins: SpendableCoins,
    ) -> Result<Self> {
        Self::new(ctx, federation, std::slice::from_ref(federation), FlyoverAddresses::Stored, coins)
    }

    /// Returns the wallet of `owners`. The version of `signer` decides the place of the signatures of all inputs.
    pub(crate) fn new(
        ctx: &CallContext<'_>,
        signer: &Federation,
        owners: &[Rc<Federation>],
        flyover: FlyoverAddresses,
        coins: SpendableCoins,
    ) -> Result<Self> {
        let federation = |federation: &Rc<Federation>| Ok((federation.output_script(ctx)?, federation.clone()));
        let federations = owners.iter().map(federation).collect::<Result<_>>()?;
        let spendings = Spendings { federations, flyover, is_segwit: signer.is_segwit(), known: HashMap::new() };
        Ok(Self { coins, spendings })
    }
}

impl Spendings {
    /// Returns the output script of the first federation of the wallet.
    pub(crate) fn own_script(&self) -> Result<Vec<u8>> {
        self.federations.first().map(|(script, _)| script.clone()).ok_or(MethodFailure::Rejected)
    }

    /// Returns true if signatures go into witnesses.
    pub(crate) fn is_segwit(&self) -> bool {
        self.is_segwit
    }

    /// Returns what spends each coin, in the same order.
    pub(crate) fn of_all(
        &mut self,
        storage: &mut Storage<'_>,
        ctx: &CallContext<'_>,
        coins: &[Rc<Coin>],
    ) -> Result<Vec<Rc<InputPlaceholder>>> {
        coins.iter().map(|coin| self.of(storage, ctx, coin)).collect()
    }

    /// Returns what spends a coin. A coin that no federation of the wallet owns is a call error.
    fn of(&mut self, storage: &mut Storage<'_>, ctx: &CallContext<'_>, coin: &Coin) -> Result<Rc<InputPlaceholder>> {
        if let Some(spending) = self.known.get(&coin.script) {
            return Ok(spending.clone());
        }
        let redeem_script = self.redeem_script(storage, ctx, &coin.script)?.ok_or(MethodFailure::Rejected)?;
        let spending = Rc::new(self.spending(&redeem_script)?);
        self.known.insert(coin.script.clone(), spending.clone());
        Ok(spending)
    }

    fn spending(&self, redeem_script: &[u8]) -> Result<InputPlaceholder> {
        // The reference compares elements of scripts with their positions. So it recognizes the constant of testnet behind a
        // flyover prefix in a script that it has built, but not in the bytes of an input.
        if redeem_script.ends_with(&TESTNET_REDEEM_SCRIPT) {
            return Err(MethodFailure::Rejected);
        }
        let script = RedeemScript::recognize(redeem_script)?;
        let required_signatures = script.required_signatures()?;
        let (placeholder, witness) = match self.is_segwit {
            true => (placeholders::segwit_script(&script), placeholders::segwit_witness(&script)?),
            false => (placeholders::legacy_script(&script)?, Vec::new()),
        };
        let estimated_size = SIGNATURE_SIZE * required_signatures + redeem_script.len();
        Ok(InputPlaceholder { required_signatures, estimated_size, script: placeholder, witness })
    }

    /// Returns the redeem script of an output script; `None` if it belongs to no federation of the wallet.
    fn redeem_script(
        &self,
        storage: &mut Storage<'_>,
        ctx: &CallContext<'_>,
        output_script: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let OutputKind::PayToScriptHash(hash) = output_kind(output_script)? else { return Ok(None) };
        match &self.flyover {
            FlyoverAddresses::None => {}
            FlyoverAddresses::Stored => {
                if let Some(stored) = storage.flyover_federation(&hash)? {
                    let owner = rhizome_bitcoin::p2sh_script(&stored.federation_hash);
                    let federation = self.owner_of(&owner);
                    return federation.map(|owner| owner.flyover_redeem_script(ctx, &stored.derivation)).transpose();
                }
            }
            FlyoverAddresses::Derived(derivation, federations) => {
                for federation in federations {
                    if federation.flyover_output_script(ctx, derivation)? == output_script {
                        return federation.flyover_redeem_script(ctx, derivation).map(Some);
                    }
                }
            }
        }
        self.owner_of(output_script).map(|owner| owner.redeem_script(ctx)).transpose()
    }

    fn owner_of(&self, output_script: &[u8]) -> Option<&Rc<Federation>> {
        self.federations.iter().find(|(script, _)| script == output_script).map(|(_, federation)| federation)
    }
}
