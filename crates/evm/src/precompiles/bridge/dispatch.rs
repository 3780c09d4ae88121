//! From methods to what they do.

use super::abi::Arguments;
use super::federation::{Detail, Role, word};
use super::federation_votes::KeyType;
use super::invocation::Invocation;
use super::methods::Method;
use super::union::Notice;
use super::{Answer, Failure, Result};
use rhizome_primitives::{Address, B256, I256, Rule};

/// Arguments that are known to decode.
#[derive(Clone, Copy)]
struct Given<'a>(Arguments<'a>);

impl<'a> Given<'a> {
    fn number(self, slot: usize) -> Result<I256> {
        self.0.integer(slot).ok_or(Failure::Call)
    }

    /// The low 32 bits of a number.
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
            // The reference goes over the shortest form of the number, which has no leading ff bytes to spare.
            let redundant = word.windows(2).take_while(|pair| pair[0] == 0xff && pair[1] & 0x80 != 0).count();
            word.iter_mut().take(redundant).for_each(|byte| *byte = 0);
        }
        Ok(Address::from_word(B256::from(word)))
    }

    fn word(self, slot: usize) -> Result<[u8; 32]> {
        self.0.word_at(slot).ok_or(Failure::Call)
    }

    fn bytes(self, slot: usize) -> Result<&'a [u8]> {
        self.0.bytes(slot).ok_or(Failure::Call)
    }

    fn list(self, slot: usize) -> Result<Vec<&'a [u8]>> {
        self.0.list(slot).ok_or(Failure::Call)
    }

    fn words(self, slot: usize) -> Result<Vec<[u8; 32]>> {
        self.0.words(slot).ok_or(Failure::Call)
    }

    fn key_type(self, slot: usize) -> Result<KeyType> {
        KeyType::parse(self.bytes(slot)?)
    }
}

impl Invocation<'_, '_> {
    /// Runs a method that may be called in this way.
    pub(super) fn run(&mut self, method: Method, arguments: Arguments<'_>) -> Result<Answer> {
        use Method as M;
        let given = Given(arguments);
        match method {
            M::GetFederationAddress => self.active_detail(Detail::Address),
            M::GetFederationSize => self.active_detail(Detail::Size),
            M::GetFederationThreshold => self.active_detail(Detail::Threshold),
            M::GetFederationCreationTime => self.active_detail(Detail::CreationTime),
            M::GetFederationCreationBlockNumber => self.active_detail(Detail::CreationBlock),
            M::GetFederatorPublicKey => self.active_key(given.int(0)?),
            M::GetFederatorPublicKeyOfType => {
                given.key_type(1)?;
                self.active_key(given.int(0)?)
            }
            M::GetRetiringFederationAddress => self.other_detail(Role::Retiring, Detail::Address),
            M::GetRetiringFederationSize => self.other_detail(Role::Retiring, Detail::Size),
            M::GetRetiringFederationThreshold => self.other_detail(Role::Retiring, Detail::Threshold),
            M::GetRetiringFederationCreationTime => self.other_detail(Role::Retiring, Detail::CreationTime),
            M::GetRetiringFederationCreationBlockNumber => self.other_detail(Role::Retiring, Detail::CreationBlock),
            M::GetRetiringFederatorPublicKey => self.other_key(Role::Retiring),
            M::GetRetiringFederatorPublicKeyOfType => {
                given.key_type(1)?;
                self.other_key(Role::Retiring)
            }
            M::GetProposedFederationAddress => self.other_detail(Role::Proposed, Detail::Address),
            M::GetProposedFederationSize => self.other_detail(Role::Proposed, Detail::Size),
            M::GetProposedFederationCreationTime => self.other_detail(Role::Proposed, Detail::CreationTime),
            M::GetProposedFederationCreationBlockNumber => self.other_detail(Role::Proposed, Detail::CreationBlock),
            M::GetProposedFederatorPublicKeyOfType => {
                given.key_type(1)?;
                self.other_key(Role::Proposed)
            }
            M::GetPendingFederationHash => self.pending_hash(),
            M::GetPendingFederationSize => self.pending_size(),
            M::GetPendingFederatorPublicKey => self.pending_key(given.int(0)?, KeyType::Bitcoin),
            M::GetPendingFederatorPublicKeyOfType => {
                let key = given.key_type(1)?;
                self.pending_key(given.int(0)?, key)
            }
            M::GetActivePowpegRedeemScript => Ok(Answer::Bytes(self.active_redeem_script()?)),
            M::GetActiveFederationCreationBlockHeight => self.active_creation_height(),
            M::CreateFederation => self.vote_create(),
            M::AddFederatorPublicKey => self.vote_add(vec![given.bytes(0)?]),
            M::AddFederatorPublicKeyMultikey => self.vote_add(vec![given.bytes(0)?, given.bytes(1)?, given.bytes(2)?]),
            M::CommitFederation => self.vote_commit(given.bytes(0)?),
            M::RollbackFederation => self.vote_rollback(),

            M::GetBtcBlockchainBestChainHeight => self.best_height(),
            M::GetBtcBlockchainInitialBlockHeight => self.initial_height(),
            M::GetBtcBlockchainBlockLocator => self.block_locator(),
            M::GetBtcBlockchainBlockHashAtDepth => self.hash_at_depth(given.int(0)?),
            M::GetBtcBlockchainBestBlockHeader => self.best_header_bytes(),
            M::GetBtcBlockchainBlockHeaderByHash => self.header_by_hash(given.word(0)?),
            M::GetBtcBlockchainBlockHeaderByHeight => self.header_by_height(given.int(0)?),
            M::GetBtcBlockchainParentBlockHeaderByHash => self.parent_by_hash(given.word(0)?),
            M::GetBtcTransactionConfirmations => {
                self.confirmations(given.word(0)?, given.word(1)?, given.int(2)?, &given.words(3)?)
            }
            M::ReceiveHeaders => self.receive_headers(&given.list(0)?),
            M::ReceiveHeader => self.receive_header(given.bytes(0)?),

            M::GetFeePerKb => Ok(word(self.fee_per_kb()?)),
            M::VoteFeePerKbChange => self.vote_fee_per_kb(given.number(0)?),
            M::GetMinimumLockTxValue => {
                let [old, new] = self.constants.minimum_peg_in;
                Ok(word(if self.has(Rule::Rskip219) { new } else { old }))
            }
            M::GetLockingCap => Ok(word(self.locking_cap()?)),
            M::IncreaseLockingCap => self.increase_locking_cap(given.number(0)?),
            M::GetLockWhitelistSize => self.whitelist_size(),
            M::GetLockWhitelistAddress => self.whitelist_address(given.int(0)?),
            M::GetLockWhitelistEntryByAddress => self.whitelist_entry(given.bytes(0)?),
            M::AddLockWhitelistAddress | M::AddOneOffLockWhitelistAddress => {
                self.add_one_off(given.bytes(0)?, given.number(1)?)
            }
            M::AddUnlimitedLockWhitelistAddress => self.add_unlimited(given.bytes(0)?),
            M::RemoveLockWhitelistAddress => self.remove_entry(given.bytes(0)?),
            M::SetLockWhitelistDisableBlockDelay => self.set_disable_delay(given.number(0)?),

            M::ReleaseBtc => self.release(),
            M::UpdateCollections => self.update_collections(),
            M::GetNextPegoutCreationBlockNumber => Ok(word(self.next_peg_out_height()?)),
            M::GetQueuedPegoutsCount => self.queue_size(),
            M::GetEstimatedFeesForNextPegOutEvent => self.estimate_next_batch(),
            M::GetEstimatedFeesForPegOutAmount => self.estimate_for_amount(),

            M::GetBtcTxHashProcessedHeight => self.processed_height_answer(given.bytes(0)?),
            M::IsBtcTxHashAlreadyProcessed => self.is_processed(given.bytes(0)?),
            M::HasBtcBlockCoinbaseTransactionInformation => self.has_witness_root(&B256::from(given.word(0)?)),
            M::GetStateForBtcReleaseClient => self.release_state(),
            M::GetStateForSvpClient => self.svp_state(),
            M::GetStateForDebugging => self.whole_state(),

            M::GetUnionBridgeContractAddress => self.union_address(),
            M::GetUnionBridgeLockingCap => self.union_locking_cap(),
            M::SetUnionBridgeContractAddressForTestnet => self.set_union_address(given.address(0)?),
            M::IncreaseUnionBridgeLockingCap => self.increase_union_cap(given.number(0)?),
            M::RequestUnionBridgeRbtc => self.request_union_money(given.number(0)?),
            M::ReleaseUnionBridgeRbtc => self.release_union_money(),
            M::SetUnionBridgeTransferPermissions => self.set_union_permissions([given.flag(0)?, given.flag(1)?]),
            M::GetSuperEvent => self.notice(Notice::Super),
            M::SetSuperEvent => self.set_notice(Notice::Super, given.bytes(0)?),
            M::ClearSuperEvent => self.clear_notice(Notice::Super),
            M::GetBaseEvent => self.notice(Notice::Base),
            M::SetBaseEvent => self.set_notice(Notice::Base, given.bytes(0)?),
            M::ClearBaseEvent => self.clear_notice(Notice::Base),

            M::RegisterBtcTransaction => {
                if !self.has(Rule::Rskip199) {
                    self.require_member()?;
                }
                Err(self.missing("registerBtcTransaction", 5))
            }
            M::RegisterBtcCoinbaseTransaction => Err(self.missing("registerBtcCoinbaseTransaction", 5)),
            M::AddSignature => {
                self.require_no(Role::Proposed)?;
                self.require_member()?;
                Err(self.missing("addSignature", 6))
            }
            M::RegisterFastBridgeBtcTransaction => Err(self.missing("registerFastBridgeBtcTransaction", 8)),
        }
    }
}
