//! Dispatch from methods to their implementations.

use crate::coinbase_information::CoinbaseSubmission;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation::views::{self, FederationProperty};
use crate::federation::{self, Role};
use crate::federation_votes::{self, KeyType};
use crate::flyover::FlyoverArguments;
use crate::headers::confirmations::confirmations;
use crate::methods::Method;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use crate::submission::Submission;
use crate::union_bridge::{self, UnionEvent};
use crate::{
    batches, coinbase_information, fee_estimates, fee_per_kb, flyover, headers, locking_cap, processed_transactions,
    registration, release_requests, signing, state_views, update_collections, whitelist,
};
use rhizome_primitives::abi::Arguments;
use rhizome_primitives::{Address, B256, I256, Log, Rule};

/// Arguments that [`crate::methods::parse`] has checked.
#[derive(Clone, Copy)]
struct DecodedArguments<'a>(Arguments<'a>);

impl<'a> DecodedArguments<'a> {
    fn number(self, slot: usize) -> Result<I256> {
        self.0.integer(slot).ok_or(MethodFailure::Rejected)
    }

    /// Returns the low 32 bits of a number.
    fn int(self, slot: usize) -> Result<i32> {
        let [low, ..] = *self.number(slot)?.into_raw().as_limbs();
        Ok(low as i32)
    }

    fn flag(self, slot: usize) -> Result<bool> {
        Ok(self.int(slot)? != 0)
    }

    fn address(self, slot: usize) -> Result<Address> {
        let number = self.number(slot)?;
        let mut word = number.into_raw().to_be_bytes::<32>();
        if number.is_negative() {
            // The reference uses the shortest form of the number, which has no redundant ff bytes.
            let redundant = word.windows(2).take_while(|pair| pair[0] == 0xff && pair[1] & 0x80 != 0).count();
            word.iter_mut().take(redundant).for_each(|byte| *byte = 0);
        }
        Ok(Address::from_word(B256::from(word)))
    }

    fn word(self, slot: usize) -> Result<[u8; 32]> {
        self.0.word_at(slot).ok_or(MethodFailure::Rejected)
    }

    fn bytes(self, slot: usize) -> Result<&'a [u8]> {
        self.0.bytes(slot).ok_or(MethodFailure::Rejected)
    }

    fn list(self, slot: usize) -> Result<Vec<&'a [u8]>> {
        self.0.list(slot).ok_or(MethodFailure::Rejected)
    }

    fn words(self, slot: usize) -> Result<Vec<[u8; 32]>> {
        self.0.words(slot).ok_or(MethodFailure::Rejected)
    }

    /// Returns the transaction, its block and its proof, the first arguments of a registration.
    fn submission(self) -> Result<Submission<'a>> {
        Ok(Submission { transaction: self.bytes(0)?, height: self.int(1)?, proof: self.bytes(2)? })
    }

    fn key_type(self, slot: usize) -> Result<KeyType> {
        KeyType::parse(self.bytes(slot)?)
    }
}

/// Runs a method that the call may reach.
pub(crate) fn run(
    method: Method,
    arguments: Arguments<'_>,
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
) -> Result<ReturnValue> {
    use Method as M;
    let arguments = DecodedArguments(arguments);
    match method {
        M::GetFederationAddress => views::property(storage, ctx, Role::Active, FederationProperty::Address),
        M::GetFederationSize => views::property(storage, ctx, Role::Active, FederationProperty::Size),
        M::GetFederationThreshold => views::property(storage, ctx, Role::Active, FederationProperty::Threshold),
        M::GetFederationCreationTime => views::property(storage, ctx, Role::Active, FederationProperty::CreationTime),
        M::GetFederationCreationBlockNumber => {
            views::property(storage, ctx, Role::Active, FederationProperty::CreationBlock)
        }
        M::GetFederatorPublicKey => views::member_key(storage, ctx, Role::Active, arguments.int(0)?, KeyType::Bitcoin),
        M::GetFederatorPublicKeyOfType => {
            let key = arguments.key_type(1)?;
            views::member_key(storage, ctx, Role::Active, arguments.int(0)?, key)
        }
        M::GetRetiringFederationAddress => views::property(storage, ctx, Role::Retiring, FederationProperty::Address),
        M::GetRetiringFederationSize => views::property(storage, ctx, Role::Retiring, FederationProperty::Size),
        M::GetRetiringFederationThreshold => {
            views::property(storage, ctx, Role::Retiring, FederationProperty::Threshold)
        }
        M::GetRetiringFederationCreationTime => {
            views::property(storage, ctx, Role::Retiring, FederationProperty::CreationTime)
        }
        M::GetRetiringFederationCreationBlockNumber => {
            views::property(storage, ctx, Role::Retiring, FederationProperty::CreationBlock)
        }
        M::GetRetiringFederatorPublicKey => {
            views::member_key(storage, ctx, Role::Retiring, arguments.int(0)?, KeyType::Bitcoin)
        }
        M::GetRetiringFederatorPublicKeyOfType => {
            let key = arguments.key_type(1)?;
            views::member_key(storage, ctx, Role::Retiring, arguments.int(0)?, key)
        }
        M::GetProposedFederationAddress => views::property(storage, ctx, Role::Proposed, FederationProperty::Address),
        M::GetProposedFederationSize => views::property(storage, ctx, Role::Proposed, FederationProperty::Size),
        M::GetProposedFederationCreationTime => {
            views::property(storage, ctx, Role::Proposed, FederationProperty::CreationTime)
        }
        M::GetProposedFederationCreationBlockNumber => {
            views::property(storage, ctx, Role::Proposed, FederationProperty::CreationBlock)
        }
        M::GetProposedFederatorPublicKeyOfType => {
            let key = arguments.key_type(1)?;
            views::member_key(storage, ctx, Role::Proposed, arguments.int(0)?, key)
        }
        M::GetPendingFederationHash => federation_votes::pending_hash(storage),
        M::GetPendingFederationSize => federation_votes::pending_size(storage),
        M::GetPendingFederatorPublicKey => federation_votes::pending_key(storage, arguments.int(0)?, KeyType::Bitcoin),
        M::GetPendingFederatorPublicKeyOfType => {
            let key = arguments.key_type(1)?;
            federation_votes::pending_key(storage, arguments.int(0)?, key)
        }
        M::GetActivePowpegRedeemScript => views::active_redeem_script(storage, ctx),
        M::GetActiveFederationCreationBlockHeight => views::active_creation_height(storage, ctx),
        M::CreateFederation => federation_votes::vote_create(storage, ctx, logs),
        M::AddFederatorPublicKey => federation_votes::vote_add(storage, ctx, logs, &[arguments.bytes(0)?]),
        M::AddFederatorPublicKeyMultikey => federation_votes::vote_add(
            storage,
            ctx,
            logs,
            &[arguments.bytes(0)?, arguments.bytes(1)?, arguments.bytes(2)?],
        ),
        M::CommitFederation => federation_votes::vote_commit(storage, ctx, logs, arguments.bytes(0)?),
        M::RollbackFederation => federation_votes::vote_rollback(storage, ctx, logs),

        M::GetBtcBlockchainBestChainHeight => headers::best_height(storage, ctx),
        M::GetBtcBlockchainInitialBlockHeight => headers::initial_height(storage, ctx),
        M::GetBtcBlockchainBlockLocator => headers::block_locator(storage, ctx),
        M::GetBtcBlockchainBlockHashAtDepth => headers::hash_at_depth(storage, ctx, arguments.int(0)?),
        M::GetBtcBlockchainBestBlockHeader => headers::best_header_bytes(storage, ctx),
        M::GetBtcBlockchainBlockHeaderByHash => headers::header_by_hash(storage, ctx, arguments.word(0)?),
        M::GetBtcBlockchainBlockHeaderByHeight => headers::header_by_height(storage, ctx, arguments.int(0)?),
        M::GetBtcBlockchainParentBlockHeaderByHash => headers::parent_by_hash(storage, ctx, arguments.word(0)?),
        M::GetBtcTransactionConfirmations => {
            confirmations(storage, ctx, arguments.word(0)?, arguments.word(1)?, arguments.int(2)?, &arguments.words(3)?)
        }
        M::ReceiveHeaders => headers::receive_headers(storage, ctx, &arguments.list(0)?),
        M::ReceiveHeader => headers::receive_header(storage, ctx, arguments.bytes(0)?),

        M::GetFeePerKb => Ok(ReturnValue::number(fee_per_kb::fee_per_kb(storage, ctx)?)),
        M::VoteFeePerKbChange => fee_per_kb::vote(storage, ctx, arguments.number(0)?),
        M::GetMinimumLockTxValue => {
            let [old, new] = ctx.constants.minimum_peg_in;
            Ok(ReturnValue::number(if ctx.has(Rule::Rskip219) { new } else { old }))
        }
        M::GetLockingCap => Ok(ReturnValue::number(locking_cap::locking_cap(storage, ctx)?)),
        M::IncreaseLockingCap => locking_cap::increase(storage, ctx, arguments.number(0)?),
        M::GetLockWhitelistSize => whitelist::size(storage),
        M::GetLockWhitelistAddress => whitelist::address_at(storage, ctx, arguments.int(0)?),
        M::GetLockWhitelistEntryByAddress => whitelist::entry_of(storage, ctx, arguments.bytes(0)?),
        M::AddLockWhitelistAddress | M::AddOneOffLockWhitelistAddress => {
            whitelist::add_one_off(storage, ctx, arguments.bytes(0)?, arguments.number(1)?)
        }
        M::AddUnlimitedLockWhitelistAddress => whitelist::add_unlimited(storage, ctx, arguments.bytes(0)?),
        M::RemoveLockWhitelistAddress => whitelist::remove(storage, ctx, arguments.bytes(0)?),
        M::SetLockWhitelistDisableBlockDelay => whitelist::set_disable_delay(storage, ctx, arguments.number(0)?),

        M::ReleaseBtc => release_requests::release(storage, ctx, logs),
        M::UpdateCollections => update_collections::update_collections(storage, ctx, logs),
        M::GetNextPegoutCreationBlockNumber => Ok(ReturnValue::number(batches::next_peg_out_height(storage, ctx)?)),
        M::GetQueuedPegoutsCount => release_requests::queue_size(storage),
        M::GetEstimatedFeesForNextPegOutEvent => fee_estimates::estimate_next_batch(storage, ctx),
        M::GetEstimatedFeesForPegOutAmount => fee_estimates::estimate_for_amount(storage, ctx, arguments.number(0)?),

        M::GetBtcTxHashProcessedHeight => processed_transactions::height(storage, ctx, arguments.bytes(0)?),
        M::IsBtcTxHashAlreadyProcessed => processed_transactions::is_processed(storage, ctx, arguments.bytes(0)?),
        M::HasBtcBlockCoinbaseTransactionInformation => {
            coinbase_information::has_witness_root(storage, &B256::from(arguments.word(0)?))
        }
        M::GetStateForBtcReleaseClient => state_views::release_state(storage),
        M::GetStateForSvpClient => state_views::svp_state(storage),
        M::GetStateForDebugging => state_views::whole_state(storage, ctx),

        M::GetUnionBridgeContractAddress => union_bridge::address(storage, ctx),
        M::GetUnionBridgeLockingCap => union_bridge::locking_cap(storage),
        M::SetUnionBridgeContractAddressForTestnet => union_bridge::set_address(storage, ctx, arguments.address(0)?),
        M::IncreaseUnionBridgeLockingCap => union_bridge::increase_cap(storage, ctx, logs, arguments.number(0)?),
        M::RequestUnionBridgeRbtc => union_bridge::request(storage, ctx, logs, arguments.number(0)?),
        M::ReleaseUnionBridgeRbtc => union_bridge::release(storage, ctx, logs),
        M::SetUnionBridgeTransferPermissions => {
            union_bridge::set_permissions(storage, ctx, logs, [arguments.flag(0)?, arguments.flag(1)?])
        }
        M::GetSuperEvent => union_bridge::event(storage, UnionEvent::Super),
        M::SetSuperEvent => union_bridge::set_event(storage, ctx, UnionEvent::Super, arguments.bytes(0)?),
        M::ClearSuperEvent => union_bridge::set_event(storage, ctx, UnionEvent::Super, &[]),
        M::GetBaseEvent => union_bridge::event(storage, UnionEvent::Base),
        M::SetBaseEvent => union_bridge::set_event(storage, ctx, UnionEvent::Base, arguments.bytes(0)?),
        M::ClearBaseEvent => union_bridge::set_event(storage, ctx, UnionEvent::Base, &[]),

        M::RegisterBtcTransaction => {
            if !ctx.has(Rule::Rskip199) {
                federation::require_member(storage, ctx)?;
            }
            registration::register(storage, ctx, logs, arguments.submission()?)
        }
        M::RegisterBtcCoinbaseTransaction => {
            let submission = CoinbaseSubmission {
                coinbase: arguments.bytes(0)?,
                block: B256::from(arguments.word(1)?),
                proof: arguments.bytes(2)?,
                witness_root: arguments.word(3)?,
                reserved: arguments.word(4)?,
            };
            coinbase_information::register(storage, ctx, &submission)
        }
        M::AddSignature => {
            let (key, request) = (arguments.bytes(0)?, arguments.bytes(2)?);
            signing::add_signature(storage, ctx, logs, key, &arguments.list(1)?, request)
        }
        M::RegisterFastBridgeBtcTransaction => {
            let flyover = FlyoverArguments {
                submission: arguments.submission()?,
                agreement: arguments.word(3)?,
                user: arguments.bytes(4)?,
                contract: arguments.address(5)?,
                provider: arguments.bytes(6)?,
                refunds_provider: arguments.flag(7)?,
            };
            flyover::register(storage, ctx, logs, &flyover)
        }
    }
}
