//! Flyover peg-ins: a liquidity provider advances RBTC to a user and gets the amount of the peg-in (RSKIP-176;
//! docs/spec/bridge.md, 6.6).
//!
//! The user pays to an address of the federation that a hash of the agreement derives. The contract of the provider calls.

use crate::context::CallContext;
use crate::display_order::{display_hash, display_id};
use crate::error::{MethodFailure, Result};
use crate::federation::{self, Federation};
use crate::federation_outputs::{IndexedOutput, coins_of, outputs_to, sum};
use crate::locking_cap;
use crate::refunds::{Refund, RefundSource, build_refund};
use crate::return_value::ReturnValue;
use crate::slots::compound::FlyoverFederation;
use crate::storage::Storage;
use crate::submission::Submission;
use crate::units::WEI_PER_SATOSHI;
use rhizome_bitcoin::script::script_hash;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, OutputKind, output_kind};
use rhizome_primitives::{Address, B256, Log, Rule, U256, keccak256};

/// Size of a serialized Bitcoin address: version and hash.
const ADDRESS_SIZE: usize = 21;
const REFUNDED_TO_USER: i64 = -100;
const REFUNDED_TO_PROVIDER: i64 = -200;
const NOT_A_CONTRACT: i64 = -300;
const OTHER_CALLER: i64 = -301;
const ALREADY_PROCESSED: i64 = -302;
const NOT_PROVEN: i64 = -303;
const NO_AMOUNT: i64 = -304;
const AMOUNT_BELOW_MINIMUM: i64 = -305;
const FAILED: i64 = -900;

/// The arguments of `registerFastBridgeBtcTransaction`.
pub(crate) struct FlyoverArguments<'a> {
    pub(crate) submission: Submission<'a>,
    /// Hash of the agreement.
    pub(crate) agreement: [u8; 32],
    /// Bitcoin address of the user, version and hash.
    pub(crate) user: &'a [u8],
    /// The contract that calls.
    pub(crate) contract: Address,
    /// Bitcoin address of the provider, version and hash.
    pub(crate) provider: &'a [u8],
    /// True if a refund goes to the provider, not to the user.
    pub(crate) refunds_provider: bool,
}

/// The flyover address of a federation.
struct FlyoverAddress {
    /// Output script of the address.
    script: Vec<u8>,
    /// Hash in the output script of the federation.
    federation_hash: [u8; 20],
}

/// Pays the amount of a flyover peg-in to the caller. Returns it in wei, or a negative code. A failure is a code, too, and
/// the save keeps the values that were set before it.
pub(crate) fn register(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    arguments: &FlyoverArguments<'_>,
) -> Result<ReturnValue> {
    match run(storage, ctx, logs, arguments) {
        Err(MethodFailure::Rejected | MethodFailure::Argument) => Ok(ReturnValue::code(FAILED)),
        result => result,
    }
}

fn run(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    arguments: &FlyoverArguments<'_>,
) -> Result<ReturnValue> {
    let code = |code| Ok(ReturnValue::code(code));
    let user = decode_address(ctx, arguments.user)?;
    let provider = decode_address(ctx, arguments.provider)?;
    if ctx.call.is_direct {
        return code(NOT_A_CONTRACT);
    }
    if ctx.caller() != arguments.contract {
        return code(OTHER_CALLER);
    }
    let derivation = derivation(arguments, &user, &provider);
    let submission = arguments.submission;
    let hash = display_hash(submission.hash());
    if storage.is_flyover_used(&hash, &derivation)? {
        return code(ALREADY_PROCESSED);
    }
    if !submission.is_proven(storage, ctx)? {
        return code(NOT_PROVEN);
    }
    let transaction = submission.parse()?;
    let id = display_id(&transaction);
    if id != hash && storage.is_flyover_used(&id, &derivation)? {
        return code(ALREADY_PROCESSED);
    }
    let active = FlyoverAddress::of(ctx, &*federation::active(storage, ctx)?, &derivation)?;
    let retiring = federation::retiring(storage, ctx)?.filter(|_| ctx.has(Rule::Rskip293));
    let retiring = retiring.map(|retiring| FlyoverAddress::of(ctx, &retiring, &derivation)).transpose()?;
    let scripts: Vec<_> = [Some(&active), retiring.as_ref()].into_iter().flatten().map(|a| a.script.clone()).collect();
    let outputs = paid_outputs(ctx, &transaction, &scripts)?;
    let satoshis = sum(&outputs)?;
    if satoshis == 0 {
        return code(NO_AMOUNT);
    }
    let minimum = ctx.minimum_peg_in();
    if ctx.has(Rule::Rskip293) && outputs.iter().any(|(_, output)| output.satoshis < minimum) {
        return code(AMOUNT_BELOW_MINIMUM);
    }
    if !locking_cap::allows(storage, ctx, satoshis)? {
        storage.mark_flyover_used(&id, &derivation);
        let (to, result) = match arguments.refunds_provider {
            true => (provider, REFUNDED_TO_PROVIDER),
            false => (user, REFUNDED_TO_USER),
        };
        let (source, hash) = (RefundSource::Flyover(derivation), ctx.call.origin_transaction_hash);
        build_refund(storage, ctx, logs, &transaction, &Refund { source, to, satoshis, hash })?;
        return code(result);
    }
    let wei = U256::from(satoshis.unsigned_abs()).saturating_mul(WEI_PER_SATOSHI);
    storage.slots.pay(arguments.contract, wei)?;
    let to_active = paid_outputs(ctx, &transaction, std::slice::from_ref(&active.script))?;
    storage.mark_flyover_used(&id, &derivation);
    active.store(storage, derivation)?;
    federation::active_coins(storage, ctx)?.0.extend(coins_of(&transaction, &to_active));
    if let Some(retiring) = retiring {
        let to_retiring = paid_outputs(ctx, &transaction, std::slice::from_ref(&retiring.script))?;
        if !to_retiring.is_empty() {
            retiring.store(storage, derivation)?;
            federation::retiring_coins(storage, ctx)?.0.extend(coins_of(&transaction, &to_retiring));
        }
    }
    Ok(ReturnValue::Word(wei))
}

impl FlyoverAddress {
    fn of(ctx: &CallContext<'_>, federation: &Federation, derivation: &B256) -> Result<Self> {
        let federation_hash = script_hash(&federation.output_script(ctx)?).ok_or(MethodFailure::Rejected)?;
        Ok(Self { script: federation.flyover_output_script(ctx, derivation)?, federation_hash })
    }

    /// Stores the way from the address to its federation.
    fn store(&self, storage: &mut Storage<'_>, derivation: B256) -> Result<()> {
        let hash = script_hash(&self.script).ok_or(MethodFailure::Rejected)?;
        let federation = FlyoverFederation { derivation, federation_hash: self.federation_hash };
        storage.set_flyover_federation(&hash, &federation);
        Ok(())
    }
}

/// Reads a version byte and a hash. Until RSKIP-284 the version is signed, so that versions from 128 on are rejected, and
/// bytes after the hash are ignored.
fn decode_address(ctx: &CallContext<'_>, bytes: &[u8]) -> Result<BitcoinAddress> {
    let is_legacy = !ctx.has(Rule::Rskip284);
    let exact: Option<&[u8; ADDRESS_SIZE]> = if is_legacy { bytes.first_chunk() } else { bytes.try_into().ok() };
    let [version, hash @ ..] = *exact.ok_or(MethodFailure::Rejected)?;
    let is_signed = is_legacy && version >= 0x80;
    if is_signed || !ctx.constants.address_versions.contains(&version) {
        return Err(MethodFailure::Rejected);
    }
    Ok(BitcoinAddress { version, hash })
}

/// Returns the hash that the redeem script of the address begins with.
fn derivation(arguments: &FlyoverArguments<'_>, user: &BitcoinAddress, provider: &BitcoinAddress) -> B256 {
    let mut data = arguments.agreement.to_vec();
    data.push(user.version);
    data.extend(user.hash);
    data.extend(arguments.contract);
    data.push(provider.version);
    data.extend(provider.hash);
    keccak256(data)
}

/// Returns the outputs with one of the scripts. Until RSKIP-293 an output without an address is a failure.
fn paid_outputs<'a>(
    ctx: &CallContext<'_>,
    transaction: &'a BitcoinTransaction,
    scripts: &[Vec<u8>],
) -> Result<Vec<IndexedOutput<'a>>> {
    if !ctx.has(Rule::Rskip293) {
        for output in &transaction.outputs {
            if !matches!(output_kind(&output.script)?, OutputKind::PayToKeyHash(_) | OutputKind::PayToScriptHash(_)) {
                return Err(MethodFailure::Rejected);
            }
        }
    }
    outputs_to(transaction, scripts)
}
