//! Signatures of the federations (docs/spec/bridge.md, 7.8).

use crate::bitcoin_signature::BitcoinSignature;
use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::federation;
use crate::public_key::{self, compressed, encoded};
use crate::redeem_script::{RedeemScript, redeem_script_of_input};
use crate::return_value::ReturnValue;
use crate::slots::pending_federation::FederationMember;
use crate::slots::slot::SvpSpend;
use crate::storage::Storage;
use crate::svp;
use rhizome_bitcoin::{BitcoinTransaction, Digest, parse_script, push_data};
use rhizome_primitives::{B256, Log, Rule};
use secp256k1::PublicKey;

/// Adds the signatures of a member to a transaction that waits for them: one signature for each input. `key` is the member's
/// Bitcoin key, and `request` the hash of the RSK transaction that made the Bitcoin transaction.
pub(crate) fn add_signature(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    key: &[u8],
    signatures: &[&[u8]],
    request: &[u8],
) -> Result<ReturnValue> {
    require_signer(storage, ctx)?;
    if !public_key::is_key(key) || signatures.is_empty() {
        return Err(MethodFailure::Argument);
    }
    let signatures = signatures.iter().map(|signature| BitcoinSignature::parse(signature));
    let signatures = signatures.collect::<Option<Vec<_>>>().ok_or(MethodFailure::Argument)?;
    let request = B256::try_from(request).map_err(|_length| MethodFailure::Argument)?;
    if svp::is_spend_request(storage, ctx, &request)? {
        sign_spend(storage, ctx, logs, key, &signatures)?;
    } else {
        sign_peg_out(storage, ctx, logs, key, &signatures, request)?;
    }
    Ok(ReturnValue::None)
}

/// Rejects callers that are not members of the active, the retiring or the proposed federation.
fn require_signer(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
    let mut federations = federation::live(storage, ctx)?;
    federations.extend(federation::proposed(storage, ctx)?);
    let is_member = federations.iter().any(|federation| federation.member_at(&ctx.caller()).is_some());
    if is_member { Ok(()) } else { Err(MethodFailure::Rejected) }
}

/// Signs the transaction that proves that the proposed federation can spend. The slot is written whatever the result.
fn sign_spend(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    key: &[u8],
    signatures: &[BitcoinSignature],
) -> Result<()> {
    let federation = federation::proposed(storage, ctx)?.ok_or(MethodFailure::Rejected)?;
    let key = compressed(key).ok_or(MethodFailure::Rejected)?;
    let member = federation.member_with_bitcoin_key(encoded(&key)).ok_or(MethodFailure::Rejected)?;
    let waiting = storage.svp.spend_waiting.get(&mut storage.slots)?;
    let (request, mut transaction) = waiting.0.clone().ok_or(MethodFailure::Rejected)?;
    if signatures.len() != transaction.inputs.len() {
        return Ok(());
    }
    sign(storage, ctx, logs, member, signatures, request, &mut transaction)?;
    let rest = match is_complete(&transaction)? {
        true => {
            events::release_btc(logs, ctx, request, &transaction);
            None
        }
        false => Some((request, transaction)),
    };
    storage.svp.spend_waiting.set(SvpSpend(rest));
    Ok(())
}

fn sign_peg_out(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    key: &[u8],
    signatures: &[BitcoinSignature],
    request: B256,
) -> Result<()> {
    let waiting = storage.signatures.get_mut(&mut storage.slots)?.get_mut(&request);
    let Some(mut transaction) = waiting.map(|transaction| transaction.clone()) else { return Ok(()) };
    if signatures.len() != transaction.inputs.len() {
        return Ok(());
    }
    let live = federation::live(storage, ctx)?;
    let Some(member) = live.iter().find_map(|federation| federation.member_with_bitcoin_key(key)) else {
        return Ok(());
    };
    if !ctx.has(Rule::Rskip326) {
        events::add_signature(logs, ctx, request, member, display_id(&transaction));
    }
    sign(storage, ctx, logs, member, signatures, request, &mut transaction)?;
    let is_complete = is_complete(&transaction)?;
    if is_complete {
        events::release_btc(logs, ctx, request, &transaction);
    }
    let waiting = storage.signatures.get_mut(&mut storage.slots)?;
    match is_complete {
        true => _ = waiting.remove(&request),
        false => waiting.insert(request, transaction),
    }
    Ok(())
}

/// Puts signatures into the inputs, and logs them (since RSKIP-326), if each of them is right for its input.
fn sign(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    member: &FederationMember,
    signatures: &[BitcoinSignature],
    request: B256,
    transaction: &mut BitcoinTransaction,
) -> Result<()> {
    let hashes = (0..transaction.inputs.len()).map(|input| signature_hash(storage, transaction, input));
    let hashes = hashes.collect::<Result<Vec<_>>>()?;
    let key = public_key::point(&member.bitcoin).ok_or(MethodFailure::Rejected)?;
    if !signatures.iter().zip(&hashes).all(|(signature, hash)| signature.is_made_by(&key, hash)) {
        return Ok(());
    }
    let txid = display_id(transaction);
    let signer = MemberKey { key, encoded: &member.bitcoin };
    let mut is_signed = false;
    for (input, (signature, hash)) in signatures.iter().zip(&hashes).enumerate() {
        match signer.sign_input(transaction, input, signature, hash)? {
            InputVerdict::Signed => is_signed = true,
            InputVerdict::AlreadySigned => break,
            // Signatures of earlier inputs stay, but there is no event.
            InputVerdict::OtherFederation => return Ok(()),
        }
    }
    if is_signed && ctx.has(Rule::Rskip326) {
        events::add_signature(logs, ctx, request, member, txid);
    }
    Ok(())
}

/// Returns the hash that the signature of an input signs.
fn signature_hash(storage: &mut Storage<'_>, transaction: &BitcoinTransaction, input: usize) -> Result<Digest> {
    let script = redeem_script_of_input(transaction, input)?.ok_or(MethodFailure::Rejected)?;
    let has_witness = transaction.inputs.get(input).is_some_and(|input| !input.witness.is_empty());
    let hash = if has_witness {
        let values = storage.outpoint_values(&display_id(transaction))?;
        let value = values.and_then(|values| values.get(input).copied()).ok_or(MethodFailure::Rejected)?;
        transaction.segwit_signature_hash(input, &script.bytes, value as i64)
    } else {
        transaction.legacy_signature_hash(input, &script.bytes)
    };
    hash.map_err(|_no_input| MethodFailure::Rejected)
}

/// The result of signing an input.
enum InputVerdict {
    Signed,
    /// The key has signed the input before.
    AlreadySigned,
    /// The key is not in the redeem script.
    OtherFederation,
}

/// The key of a member, with its encoding in redeem scripts.
struct MemberKey<'m> {
    key: PublicKey,
    encoded: &'m [u8; 33],
}

impl MemberKey<'_> {
    fn sign_input(
        &self,
        transaction: &mut BitcoinTransaction,
        input: usize,
        signature: &BitcoinSignature,
        hash: &Digest,
    ) -> Result<InputVerdict> {
        let script = redeem_script_of_input(transaction, input)?.ok_or(MethodFailure::Rejected)?;
        let mut elements = elements(transaction, input)?;
        let present = present_signatures(&elements)?;
        if present.iter().any(|present| present.is_made_by(&self.key, hash)) {
            return Ok(InputVerdict::AlreadySigned);
        }
        let Some(position) = self.position(&script, &present, hash)? else { return Ok(InputVerdict::OtherFederation) };
        let encoded = signature.encode().ok_or(MethodFailure::Rejected)?;
        insert(&mut elements, position, encoded)?;
        set_elements(transaction, input, elements);
        Ok(InputVerdict::Signed)
    }

    /// Returns the position of a new signature among those present, which are in the order of their keys. `None` if the key,
    /// or that of a signature before it, is not in the redeem script.
    fn position(&self, script: &RedeemScript, present: &[BitcoinSignature], hash: &Digest) -> Result<Option<usize>> {
        let keys = script.keys()?;
        let Some(own) = keys.iter().position(|key| key == self.encoded) else { return Ok(None) };
        // The reference cannot look up the maker of a signature among keys that include infinity.
        if !present.is_empty() && keys.iter().any(|key| *key == public_key::INFINITY) {
            return Err(MethodFailure::Rejected);
        }
        // The order of the signatures makes it unlikely that a key before the last found one is needed.
        let mut next = 0;
        for (position, signature) in present.iter().enumerate() {
            let is_maker = |index: &usize| {
                let key = keys.get(*index).and_then(|key| public_key::point(key));
                key.is_some_and(|key| signature.is_made_by(&key, hash))
            };
            let Some(maker) = (next..keys.len()).chain(0..next).find(is_maker) else { return Ok(None) };
            if own < maker {
                return Ok(Some(position));
            }
            next = maker + 1;
        }
        Ok(Some(present.len()))
    }
}

/// Returns the stack that an input leaves: a dummy element, the slots of signatures, and the redeem script.
fn elements(transaction: &BitcoinTransaction, input: usize) -> Result<Vec<Vec<u8>>> {
    let input = transaction.inputs.get(input).ok_or(MethodFailure::Rejected)?;
    if !input.witness.is_empty() {
        return Ok(input.witness.clone());
    }
    let chunks = parse_script(&input.script)?;
    chunks.iter().map(|chunk| chunk.data.map(<[u8]>::to_vec).ok_or(MethodFailure::Rejected)).collect()
}

fn set_elements(transaction: &mut BitcoinTransaction, input: usize, elements: Vec<Vec<u8>>) {
    let Some(input) = transaction.inputs.get_mut(input) else { return };
    if !input.witness.is_empty() {
        input.witness = elements;
        return;
    }
    input.script.clear();
    elements.iter().for_each(|element| push_data(&mut input.script, element));
}

fn present_signatures(elements: &[Vec<u8>]) -> Result<Vec<BitcoinSignature>> {
    let [_dummy, slots @ .., _script] = elements else { return Ok(Vec::new()) };
    let filled = slots.iter().filter(|slot| !slot.is_empty());
    filled.map(|slot| BitcoinSignature::parse(slot).ok_or(MethodFailure::Rejected)).collect()
}

/// Inserts a signature. Empty slots move behind it, the selector of the default branch included: a signature more than
/// required takes its slot. If the last slot is taken, the call fails.
fn insert(elements: &mut Vec<Vec<u8>>, position: usize, signature: Vec<u8>) -> Result<()> {
    let [dummy, slots @ .., script] = &elements[..] else { return Err(MethodFailure::Rejected) };
    if !slots.last().unwrap_or(dummy).is_empty() {
        return Err(MethodFailure::Rejected);
    }
    let mut filled: Vec<Vec<u8>> = slots.iter().filter(|slot| !slot.is_empty()).cloned().collect();
    filled.insert(position.min(filled.len()), signature);
    filled.resize(slots.len().max(filled.len()), Vec::new());
    let (dummy, script) = (dummy.clone(), script.clone());
    *elements = std::iter::once(dummy).chain(filled).chain([script]).collect();
    Ok(())
}

/// Returns true if no input lacks a signature.
fn is_complete(transaction: &BitcoinTransaction) -> Result<bool> {
    for input in 0..transaction.inputs.len() {
        let script = redeem_script_of_input(transaction, input)?.ok_or(MethodFailure::Rejected)?;
        let elements = elements(transaction, input)?;
        let behind = if script.is_erp() { 2 } else { 1 };
        let slots = elements.get(1..elements.len().saturating_sub(behind)).unwrap_or_default();
        if slots.iter().any(Vec::is_empty) {
            return Ok(false);
        }
    }
    Ok(true)
}
