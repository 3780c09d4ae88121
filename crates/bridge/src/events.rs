//! Events of the Bridge (docs/spec/bridge.md, 10). Amounts in satoshis unless stated otherwise; Bitcoin hashes in display
//! order.

mod legacy;

use crate::context::CallContext;
use crate::display_order::display_id;
use crate::federation::{Federation, member_address};
use crate::public_key::{self, CompressedKey};
use crate::slots::pending_federation::FederationMember;
use crate::units::WEI_PER_SATOSHI;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_bitcoin::varint::put_varint;
use rhizome_primitives::{Address, B256, BRIDGE, I256, Log, Rule, U256, keccak256};

/// A value in the data of an event.
enum Value<'a> {
    Word(U256),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    fn signed(number: i64) -> Self {
        Self::Word(I256::try_from(number).map_or(U256::ZERO, I256::into_raw))
    }
}

/// Returns the ABI encoding of the values. Empty bytes have one word of zeros, as in return values.
fn data(values: &[Value<'_>]) -> Vec<u8> {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Word(word) => head.extend(word.to_be_bytes::<32>()),
            Value::Bytes(bytes) => {
                head.extend(U256::from(32 * values.len() + tail.len()).to_be_bytes::<32>());
                tail.extend(U256::from(bytes.len()).to_be_bytes::<32>());
                tail.extend_from_slice(bytes);
                let padded = tail.len().next_multiple_of(32) + if bytes.is_empty() { 32 } else { 0 };
                tail.resize(padded, 0);
            }
        }
    }
    [head, tail].concat()
}

fn log(logs: &mut Vec<Log>, signature: &str, indexed: &[B256], values: &[Value<'_>]) {
    let topics = std::iter::once(keccak256(signature)).chain(indexed.iter().copied());
    logs.push(Log { address: BRIDGE, topics: topics.collect(), data: data(values).into() });
}

fn word(address: Address) -> Value<'static> {
    Value::Word(address.into_word().into())
}

fn hash(hash: B256) -> Value<'static> {
    Value::Word(hash.into())
}

/// A call of `updateCollections`.
pub(crate) fn update_collections(logs: &mut Vec<Log>, ctx: &CallContext<'_>) {
    match ctx.has(Rule::Rskip146) {
        true => log(logs, "update_collections(address)", &[], &[word(ctx.caller())]),
        false => legacy::update_collections(logs, &ctx.caller()),
    }
}

/// A registered peg-in, from RSKIP-146 until RSKIP-170.
pub(crate) fn lock_btc(logs: &mut Vec<Log>, receiver: Address, btc_hash: B256, sender: &str, satoshis: i64) {
    let values = [hash(btc_hash), Value::Bytes(sender.as_bytes()), Value::signed(satoshis)];
    log(logs, "lock_btc(address,bytes32,string,int256)", &[receiver.into_word()], &values);
}

/// A registered peg-in, since RSKIP-170.
pub(crate) fn peg_in(logs: &mut Vec<Log>, receiver: Address, btc_hash: B256, satoshis: i64, protocol_version: i64) {
    let values = [Value::signed(satoshis), Value::signed(protocol_version)];
    log(logs, "pegin_btc(address,bytes32,int256,int256)", &[receiver.into_word(), btc_hash], &values);
}

/// A rejected peg-in (RSKIP-181).
pub(crate) fn rejected_peg_in(logs: &mut Vec<Log>, btc_hash: B256, reason: i64) {
    log(logs, "rejected_pegin(bytes32,int256)", &[btc_hash], &[Value::signed(reason)]);
}

/// A rejected peg-in without a refund (RSKIP-181).
pub(crate) fn unrefundable_peg_in(logs: &mut Vec<Log>, btc_hash: B256, reason: i64) {
    log(logs, "unrefundable_pegin(bytes32,int256)", &[btc_hash], &[Value::signed(reason)]);
}

/// A signature of a member of a federation. `btc_hash`: id of the transaction before it was signed.
pub(crate) fn add_signature(
    logs: &mut Vec<Log>,
    ctx: &CallContext<'_>,
    rsk_hash: B256,
    member: &FederationMember,
    btc_hash: B256,
) {
    if !ctx.has(Rule::Rskip146) {
        return legacy::add_signature(logs, rsk_hash, &member.bitcoin, btc_hash);
    }
    let key = if ctx.has(Rule::Rskip415) { &member.rsk } else { &member.bitcoin };
    let address = member_address::address_of(key).unwrap_or_default();
    let values = [Value::Bytes(&member.bitcoin)];
    log(logs, "add_signature(bytes32,address,bytes)", &[rsk_hash, address.into_word()], &values);
}

/// A completely signed transaction.
pub(crate) fn release_btc(
    logs: &mut Vec<Log>,
    ctx: &CallContext<'_>,
    rsk_hash: B256,
    transaction: &BitcoinTransaction,
) {
    let bytes = transaction.serialize();
    match ctx.has(Rule::Rskip146) {
        true => log(logs, "release_btc(bytes32,bytes)", &[rsk_hash], &[Value::Bytes(&bytes)]),
        false => legacy::release_btc(logs, display_id(transaction), &bytes),
    }
}

/// A federation, as the event of a commit describes it.
struct CommittedFederation {
    keys: Vec<CompressedKey>,
    /// Hash in the address.
    hash: [u8; 20],
    /// Address in Base58Check.
    address: String,
}

impl CommittedFederation {
    fn key_bytes(&self) -> Vec<u8> {
        self.keys.iter().map(public_key::encoded).collect::<Vec<_>>().concat()
    }
}

/// A committed federation, and the one before it.
pub(crate) fn commit_federation(
    logs: &mut Vec<Log>,
    ctx: &CallContext<'_>,
    old: &Federation,
    new: &Federation,
    activation_height: u64,
) -> crate::error::Result<()> {
    let describe = |federation: &Federation| {
        let address = federation.address(ctx)?;
        crate::error::Result::Ok(CommittedFederation {
            keys: federation.bitcoin_keys(),
            hash: address.hash,
            address: address.to_text(),
        })
    };
    let (old, new) = (describe(old)?, describe(new)?);
    if !ctx.has(Rule::Rskip146) {
        legacy::commit_federation(logs, &old, &new, activation_height);
        return Ok(());
    }
    let (old_keys, new_keys) = (old.key_bytes(), new.key_bytes());
    let values = [
        Value::Bytes(&old_keys),
        Value::Bytes(old.address.as_bytes()),
        Value::Bytes(&new_keys),
        Value::Bytes(new.address.as_bytes()),
        Value::Word(U256::from(activation_height)),
    ];
    log(logs, "commit_federation(bytes,string,bytes,string,int256)", &[], &values);
    Ok(())
}

/// A proposed federation that did not prove that it can sign (RSKIP-419).
pub(crate) fn commit_federation_failed(logs: &mut Vec<Log>, redeem_script: &[u8], block_number: u64) {
    let values = [Value::Bytes(redeem_script), Value::Word(U256::from(block_number))];
    log(logs, "commit_federation_failed(bytes,int256)", &[], &values);
}

/// A transaction of the Bridge (RSKIP-146).
pub(crate) fn release_requested(logs: &mut Vec<Log>, rsk_hash: B256, btc_hash: B256, satoshis: i64) {
    let values = [Value::signed(satoshis)];
    log(logs, "release_requested(bytes32,bytes32,uint256)", &[rsk_hash, btc_hash], &values);
}

/// A batch of peg-outs (RSKIP-271), and the transactions that requested them.
pub(crate) fn batch_peg_out_created(logs: &mut Vec<Log>, btc_hash: B256, requests: &[B256]) {
    let hashes: Vec<u8> = requests.iter().flat_map(|hash| hash.0).collect();
    log(logs, "batch_pegout_created(bytes32,bytes)", &[btc_hash], &[Value::Bytes(&hashes)]);
}

/// A transaction of the Bridge that waits for signatures (RSKIP-326).
pub(crate) fn peg_out_confirmed(logs: &mut Vec<Log>, btc_hash: B256, creation_height: u64) {
    let values = [Value::Word(U256::from(creation_height))];
    log(logs, "pegout_confirmed(bytes32,uint256)", &[btc_hash], &values);
}

/// The values of the coins that a transaction of the Bridge spends (RSKIP-428).
pub(crate) fn peg_out_transaction_created(logs: &mut Vec<Log>, btc_hash: B256, values: &[i64]) {
    let mut numbers = Vec::new();
    values.iter().for_each(|value| put_varint(&mut numbers, *value as u64));
    log(logs, "pegout_transaction_created(bytes32,bytes)", &[btc_hash], &[Value::Bytes(&numbers)]);
}

/// A peg-out request to the P2PKH address of `hash`.
pub(crate) fn release_received(logs: &mut Vec<Log>, ctx: &CallContext<'_>, hash: &[u8; 20], wei: U256) {
    let address = ctx.constants.key_address(*hash);
    let (signature, destination, amount) = match ctx.has(Rule::Rskip326) {
        false => ("release_request_received(address,bytes,uint256)", hash.as_slice(), wei / WEI_PER_SATOSHI),
        true => ("release_request_received(address,string,uint256)", address.as_bytes(), logged_amount(ctx, wei)),
    };
    let values = [Value::Bytes(destination), Value::Word(amount)];
    log(logs, signature, &[ctx.caller().into_word()], &values);
}

pub(crate) fn release_rejected(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256, reason: u64) {
    let values = [Value::Word(logged_amount(ctx, wei)), Value::Word(U256::from(reason))];
    log(logs, "release_request_rejected(address,uint256,int256)", &[ctx.caller().into_word()], &values);
}

/// Returns the amount in satoshis until RSKIP-427, then in wei.
fn logged_amount(ctx: &CallContext<'_>, wei: U256) -> U256 {
    if ctx.has(Rule::Rskip427) { wei } else { wei / WEI_PER_SATOSHI }
}

pub(crate) fn union_cap_increased(logs: &mut Vec<Log>, ctx: &CallContext<'_>, previous: U256, next: U256) {
    let signature = "union_bridge_locking_cap_increased(address,uint256,uint256)";
    log(logs, signature, &[ctx.caller().into_word()], &[Value::Word(previous), Value::Word(next)]);
}

pub(crate) fn union_requested(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256) {
    log(logs, "union_rbtc_requested(address,uint256)", &[ctx.caller().into_word()], &[Value::Word(wei)]);
}

pub(crate) fn union_released(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256) {
    log(logs, "union_rbtc_released(address,uint256)", &[ctx.caller().into_word()], &[Value::Word(wei)]);
}

pub(crate) fn union_permissions_updated(logs: &mut Vec<Log>, caller: Address, permissions: [bool; 2]) {
    let values = permissions.map(|is_enabled| Value::Word(U256::from(is_enabled)));
    log(logs, "union_bridge_transfer_permissions_updated(address,bool,bool)", &[caller.into_word()], &values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Call;
    use rhizome_primitives::{Network, Rules, hex};

    #[test]
    fn empty_bytes_have_a_word_of_zeros() {
        assert_eq!(data(&[Value::Bytes(&[])]).len(), 96);
        assert_eq!(data(&[Value::Bytes(&[1]), Value::signed(-1)]).len(), 128);
    }

    #[test]
    fn requests_are_in_wei_only_with_an_address_as_text() {
        let amount = |rules: Rules| {
            let call = Call { is_direct: true, is_local: false, ..Call::local(Network::Regtest, rules, 1) };
            let mut logs = Vec::new();
            release_received(&mut logs, &CallContext::of(&call).unwrap(), &[7; 20], U256::from(30_000_000_000_u64));
            U256::from_be_slice(&logs[0].data[32..64])
        };
        assert_eq!(amount(Rules::none().with(Rule::Rskip427)), U256::from(3));
        assert_eq!(amount(Rules::none().with(Rule::Rskip326)), U256::from(3));
        assert_eq!(amount(Rules::all()), U256::from(30_000_000_000_u64));
    }

    #[test]
    fn topics_are_those_of_the_reference() {
        let mut logs = Vec::new();
        peg_in(&mut logs, Address::ZERO, B256::ZERO, 1, 0);
        release_requested(&mut logs, B256::ZERO, B256::ZERO, 1);
        commit_federation_failed(&mut logs, &[], 1);
        let topics: Vec<String> = logs.iter().map(|log| hex::encode(log.topics[0])).collect();
        assert_eq!(topics[0], "44cdc782a38244afd68336ab92a0b39f864d6c0b2a50fa1da58cafc93cd2ae5a");
        assert_eq!(topics[1], "7a7c29481528ac8c2b2e93aee658fddd4dc15304fa723a5c2b88514557bcc790");
        assert_eq!(topics[2], "ab26567e87284faa001c12145bc6434c48ed0f307ab75ac435880958f7c2110d");
    }
}
