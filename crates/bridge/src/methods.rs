//! The table of methods (docs/spec/bridge.md, 2.1): selector, arguments, rules, gas, and accepted calls.
use Activation::{Always, Since, Until};
use ArgumentType::{Address, Bool, ByteList, Bytes, Int, Text, Word, WordList};
use MethodAccess::{LocalRead, LocalReadUntil, Read, Write};
use rhizome_primitives::Rule::{
    self, Rskip87, Rskip89, Rskip122, Rskip123, Rskip134, Rskip143, Rskip176, Rskip186, Rskip200, Rskip220, Rskip271,
    Rskip293, Rskip419, Rskip502, Rskip529, Rskip540,
};
use rhizome_primitives::Rules;
use rhizome_primitives::abi::{self, Arguments};

/// A method, named as in the ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    AddFederatorPublicKey,
    AddFederatorPublicKeyMultikey,
    AddLockWhitelistAddress,
    AddOneOffLockWhitelistAddress,
    AddSignature,
    AddUnlimitedLockWhitelistAddress,
    ClearBaseEvent,
    ClearSuperEvent,
    CommitFederation,
    CreateFederation,
    GetActiveFederationCreationBlockHeight,
    GetActivePowpegRedeemScript,
    GetBaseEvent,
    GetBtcBlockchainBestBlockHeader,
    GetBtcBlockchainBestChainHeight,
    GetBtcBlockchainBlockHashAtDepth,
    GetBtcBlockchainBlockHeaderByHash,
    GetBtcBlockchainBlockHeaderByHeight,
    GetBtcBlockchainBlockLocator,
    GetBtcBlockchainInitialBlockHeight,
    GetBtcBlockchainParentBlockHeaderByHash,
    GetBtcTransactionConfirmations,
    GetBtcTxHashProcessedHeight,
    GetEstimatedFeesForNextPegOutEvent,
    GetEstimatedFeesForPegOutAmount,
    GetFederationAddress,
    GetFederationCreationBlockNumber,
    GetFederationCreationTime,
    GetFederationSize,
    GetFederationThreshold,
    GetFederatorPublicKey,
    GetFederatorPublicKeyOfType,
    GetFeePerKb,
    GetLockingCap,
    GetLockWhitelistAddress,
    GetLockWhitelistEntryByAddress,
    GetLockWhitelistSize,
    GetMinimumLockTxValue,
    GetNextPegoutCreationBlockNumber,
    GetPendingFederationHash,
    GetPendingFederationSize,
    GetPendingFederatorPublicKey,
    GetPendingFederatorPublicKeyOfType,
    GetProposedFederationAddress,
    GetProposedFederationCreationBlockNumber,
    GetProposedFederationCreationTime,
    GetProposedFederationSize,
    GetProposedFederatorPublicKeyOfType,
    GetQueuedPegoutsCount,
    GetRetiringFederationAddress,
    GetRetiringFederationCreationBlockNumber,
    GetRetiringFederationCreationTime,
    GetRetiringFederationSize,
    GetRetiringFederationThreshold,
    GetRetiringFederatorPublicKey,
    GetRetiringFederatorPublicKeyOfType,
    GetStateForBtcReleaseClient,
    GetStateForDebugging,
    GetStateForSvpClient,
    GetSuperEvent,
    GetUnionBridgeContractAddress,
    GetUnionBridgeLockingCap,
    HasBtcBlockCoinbaseTransactionInformation,
    IncreaseLockingCap,
    IncreaseUnionBridgeLockingCap,
    IsBtcTxHashAlreadyProcessed,
    ReceiveHeader,
    ReceiveHeaders,
    RegisterBtcCoinbaseTransaction,
    RegisterBtcTransaction,
    RegisterFastBridgeBtcTransaction,
    ReleaseBtc,
    ReleaseUnionBridgeRbtc,
    RemoveLockWhitelistAddress,
    RequestUnionBridgeRbtc,
    RollbackFederation,
    SetBaseEvent,
    SetLockWhitelistDisableBlockDelay,
    SetSuperEvent,
    SetUnionBridgeContractAddressForTestnet,
    SetUnionBridgeTransferPermissions,
    UpdateCollections,
    VoteFeePerKbChange,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ArgumentType {
    /// `int256` and `uint256`, both signed.
    Int,
    Bool,
    Address,
    /// `bytes32`
    Word,
    Bytes,
    /// `string`
    Text,
    /// `bytes[]`
    ByteList,
    /// `bytes32[]`
    WordList,
}

/// The rules under which a method exists.
#[derive(Debug, Clone, Copy)]
enum Activation {
    Always,
    Since(Rule),
    Until(Rule),
}

/// The calls that a method accepts.
#[derive(Debug, Clone, Copy)]
enum MethodAccess {
    /// CALL, and transactions.
    Write,
    /// CALL, STATICCALL, and transactions.
    Read,
    /// Like `Read`, but only in local execution.
    LocalRead,
    /// Like `LocalRead` until the rule is active, then like `Read`.
    LocalReadUntil(Rule),
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct MethodEntry {
    pub(crate) selector: u32,
    pub(crate) method: Method,
    pub(crate) arguments: &'static [ArgumentType],
    activation: Activation,
    /// Gas without the gas for the data; 0 if it depends on the arguments.
    pub(crate) gas: u64,
    access: MethodAccess,
}

impl MethodEntry {
    /// Returns true if only local execution may run the method (enforced from RSKIP-88 on).
    pub(crate) fn is_local_only(&self, rules: &Rules) -> bool {
        match self.access {
            LocalRead => true,
            LocalReadUntil(rule) => !rules.is_active(rule),
            Read | Write => false,
        }
    }

    /// Returns true if STATICCALL may run the method (enforced from RSKIP-417 on).
    pub(crate) fn accepts_static_calls(&self) -> bool {
        !matches!(self.access, Write)
    }

    fn is_enabled(&self, rules: &Rules) -> bool {
        match self.activation {
            Always => true,
            Since(rule) => rules.is_active(rule),
            Until(rule) => !rules.is_active(rule),
        }
    }

    /// Returns true if the arguments decode. Empty data decode to zeros and empty arrays.
    fn accepts(&self, arguments: Arguments<'_>) -> bool {
        self.arguments.iter().enumerate().all(|(slot, kind)| match kind {
            Int | Bool | Address => arguments.integer(slot).is_some(),
            Word => arguments.word_at(slot).is_some(),
            Bytes | Text => arguments.bytes(slot).is_some(),
            ByteList => arguments.list(slot).is_some(),
            WordList => arguments.words(slot).is_some(),
        })
    }
}

/// Returns the method that call data select, with its arguments. `None` if no enabled method accepts them.
pub(crate) fn parse<'a>(input: &'a [u8], rules: &Rules) -> Option<(&'static MethodEntry, Arguments<'a>)> {
    if input.is_empty() {
        let row = ROWS.iter().find(|row| row.method == Method::ReleaseBtc)?;
        return Some((row, Arguments::none()));
    }
    let (selector, arguments) = abi::selector(input)?;
    let row = ROWS.iter().find(|row| row.selector == selector)?;
    (row.accepts(arguments) && row.is_enabled(rules)).then_some((row, arguments))
}

const fn row(
    selector: u32,
    method: Method,
    arguments: &'static [ArgumentType],
    activation: Activation,
    gas: u64,
    access: MethodAccess,
) -> MethodEntry {
    MethodEntry { selector, method, arguments, activation, gas, access }
}

#[rustfmt::skip]
pub(crate) static ROWS: [MethodEntry; 83] = [
    row(0xecef_d339, Method::AddFederatorPublicKey, &[Bytes], Until(Rskip123), 13_000, Write),
    row(0x444f_f9da, Method::AddFederatorPublicKeyMultikey, &[Bytes, Bytes, Bytes], Since(Rskip123), 13_000, Write),
    row(0x502b_bbce, Method::AddLockWhitelistAddress, &[Text, Int], Until(Rskip87), 25_000, Write),
    row(0x8482_06d9, Method::AddOneOffLockWhitelistAddress, &[Text, Int], Since(Rskip87), 25_000, Write),
    row(0xf10b_9c59, Method::AddSignature, &[Bytes, ByteList, Bytes], Always, 70_000, Write),
    row(0xb906_c938, Method::AddUnlimitedLockWhitelistAddress, &[Text], Since(Rskip87), 25_000, Write),
    row(0x93e7_a33b, Method::ClearBaseEvent, &[], Since(Rskip529), 8_000, Write),
    row(0xd2ba_1e45, Method::ClearSuperEvent, &[], Since(Rskip529), 8_000, Write),
    row(0x1533_330f, Method::CommitFederation, &[Bytes], Always, 38_000, Write),
    row(0x1183_d5d1, Method::CreateFederation, &[], Always, 11_000, Write),
    row(0x177d_6e18, Method::GetActiveFederationCreationBlockHeight, &[], Since(Rskip186), 3_000, Read),
    row(0x1d73_d5dd, Method::GetActivePowpegRedeemScript, &[], Since(Rskip293), 30_000, Read),
    row(0xa25b_94cb, Method::GetBaseEvent, &[], Since(Rskip529), 3_000, Read),
    row(0xf0b2_424b, Method::GetBtcBlockchainBestBlockHeader, &[], Since(Rskip220), 3_800, Read),
    row(0x14c8_9c01, Method::GetBtcBlockchainBestChainHeight, &[], Always, 19_000, LocalReadUntil(Rskip220)),
    row(0xefd4_4418, Method::GetBtcBlockchainBlockHashAtDepth, &[Int], Since(Rskip89), 20_000, LocalRead),
    row(0x739e_364a, Method::GetBtcBlockchainBlockHeaderByHash, &[Word], Since(Rskip220), 4_600, Read),
    row(0xbd0c_1fff, Method::GetBtcBlockchainBlockHeaderByHeight, &[Int], Since(Rskip220), 5_000, Read),
    row(0xcf4f_f2d2, Method::GetBtcBlockchainBlockLocator, &[], Until(Rskip89), 76_000, LocalRead),
    row(0x4897_193f, Method::GetBtcBlockchainInitialBlockHeight, &[], Since(Rskip89), 20_000, LocalRead),
    row(0xe023_6724, Method::GetBtcBlockchainParentBlockHeaderByHash, &[Word], Since(Rskip220), 4_900, Read),
    row(0x5b64_4587, Method::GetBtcTransactionConfirmations, &[Word, Word, Int, WordList], Since(Rskip122), 0, Read),
    row(0x97fc_ca7d, Method::GetBtcTxHashProcessedHeight, &[Text], Always, 22_000, LocalRead),
    row(0x7817_d854, Method::GetEstimatedFeesForNextPegOutEvent, &[], Since(Rskip271), 10_000, Read),
    row(0xd2b7_12f4, Method::GetEstimatedFeesForPegOutAmount, &[Int], Since(Rskip540), 10_000, Read),
    row(0x6923_fa85, Method::GetFederationAddress, &[], Always, 11_000, LocalRead),
    row(0x1b20_45ee, Method::GetFederationCreationBlockNumber, &[], Always, 10_000, LocalRead),
    row(0x5e2d_b9d4, Method::GetFederationCreationTime, &[], Always, 10_000, LocalRead),
    row(0x802a_d4b6, Method::GetFederationSize, &[], Always, 10_000, LocalRead),
    row(0x0fd4_7456, Method::GetFederationThreshold, &[], Always, 11_000, LocalRead),
    row(0x6b89_a1af, Method::GetFederatorPublicKey, &[Int], Until(Rskip123), 10_000, LocalRead),
    row(0x549c_fd1c, Method::GetFederatorPublicKeyOfType, &[Int, Text], Since(Rskip123), 10_000, LocalRead),
    row(0x724e_c886, Method::GetFeePerKb, &[], Always, 2_000, LocalRead),
    row(0x3f9d_b977, Method::GetLockingCap, &[], Since(Rskip134), 3_000, LocalRead),
    row(0x9398_8b76, Method::GetLockWhitelistAddress, &[Int], Always, 16_000, LocalRead),
    row(0x251c_5f7b, Method::GetLockWhitelistEntryByAddress, &[Text], Since(Rskip87), 16_000, LocalRead),
    row(0xe9e6_58dc, Method::GetLockWhitelistSize, &[], Always, 16_000, LocalRead),
    row(0x2f8d_158f, Method::GetMinimumLockTxValue, &[], Always, 2_000, LocalRead),
    row(0xe34f_834f, Method::GetNextPegoutCreationBlockNumber, &[], Since(Rskip271), 3_000, Read),
    row(0x6ce0_ed5a, Method::GetPendingFederationHash, &[], Always, 3_000, LocalRead),
    row(0x3ac7_2b38, Method::GetPendingFederationSize, &[], Always, 3_000, LocalRead),
    row(0x492f_7c44, Method::GetPendingFederatorPublicKey, &[Int], Until(Rskip123), 3_000, LocalRead),
    row(0xc612_95d9, Method::GetPendingFederatorPublicKeyOfType, &[Int, Text], Since(Rskip123), 3_000, LocalRead),
    row(0x956d_9713, Method::GetProposedFederationAddress, &[], Since(Rskip419), 3_000, LocalRead),
    row(0x2b16_9b23, Method::GetProposedFederationCreationBlockNumber, &[], Since(Rskip419), 3_000, LocalRead),
    row(0xfa2d_f78c, Method::GetProposedFederationCreationTime, &[], Since(Rskip419), 3_000, LocalRead),
    row(0x06eb_eb8c, Method::GetProposedFederationSize, &[], Since(Rskip419), 3_000, LocalRead),
    row(0xe322_8fab, Method::GetProposedFederatorPublicKeyOfType, &[Int, Text], Since(Rskip419), 3_000, LocalRead),
    row(0xf4e4_f963, Method::GetQueuedPegoutsCount, &[], Since(Rskip271), 3_000, Read),
    row(0x4722_7286, Method::GetRetiringFederationAddress, &[], Always, 3_000, LocalRead),
    row(0xd905_153f, Method::GetRetiringFederationCreationBlockNumber, &[], Always, 3_000, LocalRead),
    row(0x3f0c_e9b1, Method::GetRetiringFederationCreationTime, &[], Always, 3_000, LocalRead),
    row(0xd970_b0fd, Method::GetRetiringFederationSize, &[], Always, 3_000, LocalRead),
    row(0x07bb_dfc4, Method::GetRetiringFederationThreshold, &[], Always, 3_000, LocalRead),
    row(0x4675_d6de, Method::GetRetiringFederatorPublicKey, &[Int], Until(Rskip123), 3_000, LocalRead),
    row(0x68bc_2b2b, Method::GetRetiringFederatorPublicKeyOfType, &[Int, Text], Since(Rskip123), 3_000, LocalRead),
    row(0xc4fb_ca20, Method::GetStateForBtcReleaseClient, &[], Always, 4_000, LocalRead),
    row(0x0d0c_ee93, Method::GetStateForDebugging, &[], Always, 3_000_000, LocalRead),
    row(0x4c72_3e89, Method::GetStateForSvpClient, &[], Since(Rskip419), 4_000, LocalRead),
    row(0xf8cf_da8e, Method::GetSuperEvent, &[], Since(Rskip529), 3_000, Read),
    row(0xd3af_747c, Method::GetUnionBridgeContractAddress, &[], Since(Rskip502), 3_000, Read),
    row(0x33e0_8fed, Method::GetUnionBridgeLockingCap, &[], Since(Rskip502), 3_000, Read),
    row(0x253b_944b, Method::HasBtcBlockCoinbaseTransactionInformation, &[Word], Since(Rskip143), 5_000, Read),
    row(0x2910_aeb2, Method::IncreaseLockingCap, &[Int], Since(Rskip134), 8_000, Write),
    row(0xa57a_0ada, Method::IncreaseUnionBridgeLockingCap, &[Int], Since(Rskip502), 8_000, Write),
    row(0x248a_982d, Method::IsBtcTxHashAlreadyProcessed, &[Text], Always, 23_000, LocalRead),
    row(0x884b_dd86, Method::ReceiveHeader, &[Bytes], Since(Rskip200), 10_600, Write),
    row(0xe540_0e7b, Method::ReceiveHeaders, &[ByteList], Always, 0, Write),
    row(0xccf4_17ae, Method::RegisterBtcCoinbaseTransaction, &[Bytes, Word, Bytes, Word, Word], Since(Rskip143), 10_000, Write),
    row(0x43dc_0656, Method::RegisterBtcTransaction, &[Bytes, Int, Bytes], Always, 22_000, Write),
    row(0x6adc_0133, Method::RegisterFastBridgeBtcTransaction, &[Bytes, Int, Bytes, Word, Bytes, Address, Bytes, Bool], Since(Rskip176), 25_000, Write),
    row(0x80af_2871, Method::ReleaseBtc, &[], Always, 23_000, Write),
    row(0x4304_62a8, Method::ReleaseUnionBridgeRbtc, &[], Since(Rskip502), 8_000, Write),
    row(0xfcde_b46f, Method::RemoveLockWhitelistAddress, &[Text], Always, 24_000, Write),
    row(0x5521_647a, Method::RequestUnionBridgeRbtc, &[Int], Since(Rskip502), 8_000, Write),
    row(0x8dec_3d32, Method::RollbackFederation, &[], Always, 12_000, Write),
    row(0xfe43_e2f8, Method::SetBaseEvent, &[Bytes], Since(Rskip529), 8_000, Write),
    row(0xc1cc_54f5, Method::SetLockWhitelistDisableBlockDelay, &[Int], Always, 24_000, Write),
    row(0x9996_1ea5, Method::SetSuperEvent, &[Bytes], Since(Rskip529), 8_000, Write),
    row(0xcc55_d66f, Method::SetUnionBridgeContractAddressForTestnet, &[Address], Since(Rskip502), 8_000, Write),
    row(0x5fcc_6d24, Method::SetUnionBridgeTransferPermissions, &[Bool, Bool], Since(Rskip502), 8_000, Write),
    row(0x0c5a_9990, Method::UpdateCollections, &[], Always, 48_000, Write),
    row(0x0461_313e, Method::VoteFeePerKbChange, &[Int], Always, 10_000, Write),
];

/// Returns the selectors of all methods.
pub fn selectors() -> impl Iterator<Item = u32> {
    ROWS.iter().map(|row| row.selector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    #[test]
    fn call_data_select_a_method() {
        let rules = Rules::all();
        let method = |input: &[u8]| parse(input, &rules).map(|(row, _)| row.method);
        assert_eq!(method(&[]), Some(Method::ReleaseBtc));
        assert_eq!(method(&hex!("724ec886")), Some(Method::GetFeePerKb));
        assert_eq!(method(&hex!("724ec88600")), Some(Method::GetFeePerKb));
        assert_eq!(method(&hex!("724ec8")), None);
        assert_eq!(method(&hex!("01020304")), None);
        // A truncated integer, and an absent one.
        assert_eq!(method(&[&hex!("bd0c1fff")[..], &[0; 31]].concat()), None);
        assert_eq!(method(&hex!("bd0c1fff")), Some(Method::GetBtcBlockchainBlockHeaderByHeight));
        assert_eq!(method(&hex!("739e364a")), None);
    }

    #[test]
    fn the_last_offset_may_be_cut() {
        // `getRetiringFederatorPublicKeyOfType(int256,string)`: at offset 0 the number 3 is the length of the text.
        let is_accepted = |bytes: usize| {
            let number = [&[0; 31][..], &[3]].concat();
            parse(&[&hex!("68bc2b2b")[..], &number, &vec![0; bytes]].concat(), &Rules::all()).is_some()
        };
        assert_eq!([2, 3, 22, 32].map(is_accepted), [false, true, true, true]);
    }

    #[test]
    fn rules_enable_and_disable_methods() {
        let selector = hex!("502bbbce");
        let data = [&selector[..], &[0; 31], &[0x40], &[0; 32], &[0; 32]].concat();
        assert!(parse(&data, &Rules::none()).is_some());
        assert!(parse(&data, &Rules::none().with(Rskip87)).is_none());
    }

    #[test]
    fn selectors_are_unique() {
        let mut selectors: Vec<u32> = ROWS.iter().map(|row| row.selector).collect();
        selectors.sort_unstable();
        selectors.dedup();
        assert_eq!(selectors.len(), ROWS.len());
    }
}
