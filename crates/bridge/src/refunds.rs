//! Refunds of peg-ins (docs/spec/bridge.md, 6.7).

use crate::coin_selection::SpendableCoins;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation::{self, Federation};
use crate::federation_outputs::{coins_of, outputs_to};
use crate::settlement::{log_request, record_input_values, wait_for_confirmations};
use crate::storage::Storage;
use crate::transaction_builder::build_empty_wallet;
use crate::wallet::{FederationWallet, FlyoverAddresses};
use rhizome_bitcoin::script::script_hash;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, p2pkh_script, p2sh_script, parse_script};
use rhizome_primitives::{B256, Log, Rule};
use std::rc::Rc;

/// The outputs that a refund spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefundSource {
    /// Outputs to the live federations.
    Federations,
    /// Outputs to the flyover addresses of a derivation hash: that of the active federation, and since RSKIP-293 that of
    /// the retiring one.
    Flyover(B256),
}

/// A refund of a peg-in.
pub(crate) struct Refund {
    pub(crate) source: RefundSource,
    pub(crate) to: BitcoinAddress,
    /// Amount in the event.
    pub(crate) satoshis: i64,
    /// RSK transaction in the event.
    pub(crate) hash: B256,
}

/// Sends the outputs of a peg-in, less the fee, to an address. If no transaction can be built, nothing happens.
pub(crate) fn build_refund(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &BitcoinTransaction,
    refund: &Refund,
) -> Result<()> {
    let Refund { source, to, satoshis, hash } = *refund;
    let live = federation::live(storage, ctx)?;
    let is_paid = |federation: &Rc<Federation>| source.output_script(ctx, federation);
    let scripts = live.iter().map(is_paid).collect::<Result<Vec<_>>>()?;
    let spent =
        if source == RefundSource::Federations || ctx.has(Rule::Rskip293) { &scripts[..] } else { &scripts[..1] };
    let coins = coins_of(peg_in, &outputs_to(peg_in, spent)?);
    if let (RefundSource::Flyover(_), [active, retiring]) = (source, spent)
        && java_hash(active) == java_hash(retiring)
    {
        return Err(MethodFailure::Rejected);
    }
    let signer = first_paid(peg_in, &live, &scripts)?;
    let flyover = match source {
        RefundSource::Federations => FlyoverAddresses::None,
        RefundSource::Flyover(derivation) => FlyoverAddresses::Derived(derivation, live[..spent.len()].to_vec()),
    };
    let mut wallet = FederationWallet::new(ctx, &signer, &live, flyover, SpendableCoins::new(&coins))?;
    let [key_version, _script_version] = ctx.constants.address_versions;
    let script = if to.version == key_version { p2pkh_script(&to.hash) } else { p2sh_script(&to.hash) };
    let Ok(built) = build_empty_wallet(storage, ctx, &mut wallet, &script)? else { return Ok(()) };
    wait_for_confirmations(storage, ctx, &built.transaction, Some(hash))?;
    log_request(ctx, logs, &built.transaction, Some(hash), satoshis);
    record_input_values(storage, ctx, logs, &built.transaction, &built.input_values)
}

/// Returns the Java hash code of the hash in an output script. The reference looks up flyover addresses by it and fails if two
/// have the same, as those of federations with the same keys do.
fn java_hash(script: &[u8]) -> Option<i32> {
    let next = |code: i32, byte: &u8| code.wrapping_mul(31).wrapping_add(i32::from(*byte as i8));
    Some(script_hash(script)?.iter().fold(1, next))
}

impl RefundSource {
    fn output_script(self, ctx: &CallContext<'_>, federation: &Federation) -> Result<Vec<u8>> {
        match self {
            Self::Federations => federation.output_script(ctx),
            Self::Flyover(derivation) => federation.flyover_output_script(ctx, &derivation),
        }
    }
}

/// Returns the first federation with an output. An output script that cannot be parsed is a call error if it precedes the
/// output.
fn first_paid(peg_in: &BitcoinTransaction, live: &[Rc<Federation>], scripts: &[Vec<u8>]) -> Result<Rc<Federation>> {
    for (federation, script) in live.iter().zip(scripts) {
        for output in &peg_in.outputs {
            if output.script == *script {
                return Ok(federation.clone());
            }
            parse_script(&output.script)?;
        }
    }
    Err(MethodFailure::Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Call;
    use crate::random_calls::world::Account;
    use rhizome_bitcoin::TransactionOutput;
    use rhizome_primitives::{Network, Rules};

    #[test]
    fn flyover_refunds_fail_while_federations_have_the_same_keys() {
        let call = Call::local(Network::Regtest, Rules::all(), 1000);
        let ctx = CallContext::of(&call).unwrap();
        let is_refunded = |has_retiring: bool| {
            let mut account = Account::default();
            let mut storage = Storage::new(&mut account, Network::Regtest, call.rules, Vec::new());
            let active = federation::active(&mut storage, &ctx).unwrap();
            let derivation = B256::repeat_byte(9);
            let script = active.flyover_output_script(&ctx, &derivation).unwrap();
            let outputs = vec![TransactionOutput { satoshis: 1_000_000, script }];
            let peg_in = BitcoinTransaction { version: 2, inputs: Vec::new(), outputs, lock_time: 0 };
            storage.federations.new.set(Some(active.clone()));
            storage.federations.old.set(has_retiring.then_some(active));
            let [version, _script] = ctx.constants.address_versions;
            let to = BitcoinAddress { version, hash: [8; 20] };
            let source = RefundSource::Flyover(derivation);
            let refund = Refund { source, to, satoshis: 1_000_000, hash: B256::ZERO };
            build_refund(&mut storage, &ctx, &mut Vec::new(), &peg_in, &refund).is_ok()
        };
        assert_eq!([false, true].map(is_refunded), [true, false]);
    }

    #[test]
    fn hash_codes_are_those_of_java() {
        let hash: [u8; 20] = std::array::from_fn(|index| (index * 37) as u8);
        assert_eq!(java_hash(&p2sh_script(&hash)), Some(1_257_921_011));
    }
}
