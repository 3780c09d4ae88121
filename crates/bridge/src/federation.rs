//! Federations: members, scripts and addresses (docs/spec/bridge.md, 8.1 and 8.2).

pub(crate) mod member_address;
pub(crate) mod roles;
pub(crate) mod views;

pub(crate) use roles::{
    Role, activation_age, active, active_coins, forget_retiring, is_activation_pending, live, migration_ages, proposed,
    require_member, retiring, retiring_coins, update_creation_heights,
};

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::public_key;
use crate::scripts;
use crate::slots::pending_federation::FederationMember;
use rhizome_bitcoin::BitcoinAddress;
use rhizome_bitcoin::script::script_hash;
use rhizome_primitives::{Address, B256};

/// The forms of redeem scripts of federations, by the numbers in their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FederationVersion {
    Standard = 1000,
    NonStandardErp = 2000,
    P2shErp = 3000,
    P2wshErp = 4000,
}

impl FederationVersion {
    /// Returns the version of a number. Other numbers mean a standard multisig.
    pub(crate) fn of_number(number: u64) -> Self {
        match number {
            2000 => Self::NonStandardErp,
            3000 => Self::P2shErp,
            4000 => Self::P2wshErp,
            _ => Self::Standard,
        }
    }

    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    /// Returns true if signatures go into witnesses.
    pub(crate) fn is_segwit(self) -> bool {
        self == Self::P2wshErp
    }
}

/// A federation. Members are in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Federation {
    pub(crate) version: FederationVersion,
    pub(crate) members: Vec<FederationMember>,
    /// As stored, in milliseconds; federations from before RSKIP-419 have seconds.
    pub(crate) creation_time: i64,
    /// RSK height.
    pub(crate) creation_block: u64,
}

impl Federation {
    /// Returns the number of signatures that a spend requires.
    pub(crate) fn required_signatures(&self) -> usize {
        scripts::threshold(self.members.len())
    }

    /// Returns true if signatures go into witnesses.
    pub(crate) fn is_segwit(&self) -> bool {
        self.version.is_segwit()
    }

    /// Returns true if the redeem script has an emergency branch.
    pub(crate) fn is_erp(&self) -> bool {
        self.version != FederationVersion::Standard
    }

    /// Returns the Bitcoin keys of the members, in ascending order.
    pub(crate) fn bitcoin_keys(&self) -> Vec<[u8; 33]> {
        self.members.iter().map(|member| member.bitcoin).collect()
    }

    /// Returns the redeem script under the rules of the call. Fails if it is too large.
    pub(crate) fn redeem_script(&self, ctx: &CallContext<'_>) -> Result<Vec<u8>> {
        let script = scripts::redeem_script(self.version, &self.bitcoin_keys(), ctx.constants, &ctx.call.rules);
        script.ok_or(MethodFailure::Rejected)
    }

    /// Returns the redeem script without the emergency branch. Fails for the constant script of testnet.
    pub(crate) fn standard_redeem_script(&self, ctx: &CallContext<'_>) -> Result<Vec<u8>> {
        if self.version == FederationVersion::NonStandardErp
            && scripts::is_testnet_constant(ctx.constants, &ctx.call.rules)
        {
            return Err(MethodFailure::Rejected);
        }
        Ok(scripts::multisig(&self.bitcoin_keys()))
    }

    /// Returns the script that pays to the federation.
    pub(crate) fn output_script(&self, ctx: &CallContext<'_>) -> Result<Vec<u8>> {
        Ok(scripts::output_script(self.version, &self.redeem_script(ctx)?))
    }

    /// Returns the script that pays to the redeem script without the emergency branch.
    pub(crate) fn standard_output_script(&self, ctx: &CallContext<'_>) -> Result<Vec<u8>> {
        Ok(scripts::output_script(self.version, &self.standard_redeem_script(ctx)?))
    }

    /// Returns the redeem script of the flyover address with this derivation.
    pub(crate) fn flyover_redeem_script(&self, ctx: &CallContext<'_>, derivation: &B256) -> Result<Vec<u8>> {
        Ok(scripts::flyover_redeem_script(derivation, &self.redeem_script(ctx)?))
    }

    /// Returns the script that pays to the flyover address with this derivation.
    pub(crate) fn flyover_output_script(&self, ctx: &CallContext<'_>, derivation: &B256) -> Result<Vec<u8>> {
        Ok(scripts::output_script(self.version, &self.flyover_redeem_script(ctx, derivation)?))
    }

    /// Returns the address that an output script of the federation pays to.
    pub(crate) fn address(&self, ctx: &CallContext<'_>) -> Result<BitcoinAddress> {
        let hash = script_hash(&self.output_script(ctx)?).ok_or(MethodFailure::Rejected)?;
        let [_key, version] = ctx.constants.address_versions;
        Ok(BitcoinAddress { version, hash })
    }

    /// Returns the member with this RSK address: that of its RSK key.
    pub(crate) fn member_at(&self, address: &Address) -> Option<&FederationMember> {
        self.members.iter().find(|member| member_address::address_of(&member.rsk) == Some(*address))
    }

    /// Returns the member with this Bitcoin key.
    pub(crate) fn member_with_bitcoin_key(&self, key: &[u8]) -> Option<&FederationMember> {
        self.members.iter().find(|member| public_key::encoded(&member.bitcoin) == key)
    }
}
