//! The union bridge: what it has been lent, and who may set what (RSKIP-502, RSKIP-529; bridge chapters 9.8 and 9.9).

use super::cells::{self, Cell};
use super::constants::{Authorizer, INITIAL_UNION_CAP};
use super::federation::{code, word};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_primitives::{Address, BRIDGE, I256, U256, rlp};

const SUCCESS: i64 = 0;
const NOT_AUTHORIZED: i64 = -1;
const INVALID: i64 = -2;
const DISABLED: i64 = -3;
/// Bytes of a super or base event.
const EVENT_SIZE_LIMIT: usize = 128;

const ADDRESS: &str = "unionBridgeContractAddress";
const CAP: &str = "unionBridgeLockingCap";
const LENT: &str = "weisTransferredToUnionBridge";
const REQUESTS: &str = "unionBridgeRequestEnabled";
const RELEASES: &str = "unionBridgeReleaseEnabled";

/// One of the two events that the union bridge keeps here.
#[derive(Clone, Copy)]
pub(super) enum Notice {
    Super,
    Base,
}

impl Notice {
    fn key(self) -> U256 {
        cells::long_key(match self {
            Notice::Super => "superEvent",
            Notice::Base => "baseEvent",
        })
    }
}

/// What was set. Amounts in wei.
#[derive(Default)]
pub(super) struct UnionCells {
    address: Option<Address>,
    cap: Option<U256>,
    lent: Option<U256>,
    /// Requests and releases.
    permissions: Option<[bool; 2]>,
    notices: Vec<(Notice, Vec<u8>)>,
}

impl Invocation<'_, '_> {
    fn require_union_authorizer(&self, authorizer: &Authorizer) -> Result<()> {
        if authorizer.knows(&self.sender()) { Ok(()) } else { Err(Failure::Call) }
    }

    fn union_number(&mut self, name: &'static str) -> Result<Option<U256>> {
        self.read_number(Cell { key: cells::long_key(name), name, stage: 4 })
    }

    /// The zero address if there is none.
    fn union_contract(&mut self) -> Result<Address> {
        if !self.constants.has_union_bridge {
            return Ok(Address::ZERO);
        }
        let Some(bytes) = self.read(&cells::long_key(ADDRESS))? else { return Ok(Address::ZERO) };
        let item = rlp::decode_all(&bytes).ok().and_then(|items| Address::try_from(items.first()?.bytes()).ok());
        item.ok_or_else(|| self.missing(ADDRESS, 4))
    }

    fn is_union_contract(&mut self) -> Result<bool> {
        Ok(self.union_contract()? == self.sender())
    }

    fn union_cap(&mut self) -> Result<U256> {
        Ok(self.union_number(CAP)?.unwrap_or(U256::from(INITIAL_UNION_CAP)))
    }

    /// Whether requests and releases are enabled.
    fn union_permissions(&mut self) -> Result<[bool; 2]> {
        let mut is_enabled = |name| Ok::<_, Failure>(self.union_number(name)?.is_none_or(|flag| !flag.is_zero()));
        Ok([is_enabled(REQUESTS)?, is_enabled(RELEASES)?])
    }

    pub(super) fn union_address(&mut self) -> Result<Answer> {
        Ok(Answer::Word(self.union_contract()?.into_word().into()))
    }

    pub(super) fn union_locking_cap(&mut self) -> Result<Answer> {
        Ok(Answer::Word(self.union_cap()?))
    }

    pub(super) fn set_union_address(&mut self, address: Address) -> Result<Answer> {
        if !self.constants.has_union_bridge {
            return Err(Failure::Call);
        }
        self.require_union_authorizer(&self.constants.union_address_change)?;
        self.memory.union.address = Some(address);
        Ok(code(SUCCESS))
    }

    pub(super) fn increase_union_cap(&mut self, cap: I256) -> Result<Answer> {
        self.require_union_authorizer(&self.constants.union_cap_change)?;
        let present = self.union_cap()?;
        let Ok(cap) = U256::try_from(cap) else { return Ok(code(INVALID)) };
        if cap <= present || cap > present.saturating_mul(U256::from(2)) {
            return Ok(code(INVALID));
        }
        self.memory.union.cap = Some(cap);
        self.log_union_cap(present, cap);
        Ok(code(SUCCESS))
    }

    pub(super) fn request_union_money(&mut self, amount: I256) -> Result<Answer> {
        if !self.is_union_contract()? {
            return Ok(code(NOT_AUTHORIZED));
        }
        let [may_request, _] = self.union_permissions()?;
        if !may_request {
            return Ok(code(DISABLED));
        }
        let amount = U256::try_from(amount).unwrap_or_default();
        let lent = self.union_number(LENT)?.unwrap_or_default().saturating_add(amount);
        if amount.is_zero() || lent > self.union_cap()? {
            return Ok(code(INVALID));
        }
        self.memory.union.lent = Some(lent);
        let contract = self.sender();
        self.pay(contract, amount)?;
        self.log_union_requested(amount);
        Ok(code(SUCCESS))
    }

    /// Takes back the value of the call. With a negative code the sender gets it again.
    pub(super) fn release_union_money(&mut self) -> Result<Answer> {
        let value = self.ctx.value;
        let result = self.try_release(value)?;
        if result != SUCCESS && !value.is_zero() {
            let sender = self.sender();
            self.pay(sender, value)?;
        }
        Ok(code(result))
    }

    fn try_release(&mut self, value: U256) -> Result<i64> {
        if !self.is_union_contract()? {
            return Ok(NOT_AUTHORIZED);
        }
        let [_, may_release] = self.union_permissions()?;
        if !may_release {
            return Ok(DISABLED);
        }
        if value.is_zero() {
            return Ok(INVALID);
        }
        let lent = self.union_number(LENT)?.unwrap_or_default();
        match lent.checked_sub(value) {
            Some(rest) => {
                self.memory.union.lent = Some(rest);
                self.log_union_released(value);
                Ok(SUCCESS)
            }
            None => {
                self.memory.union.permissions = Some([false; 2]);
                self.log_union_permissions(BRIDGE, [false; 2]);
                Ok(INVALID)
            }
        }
    }

    pub(super) fn set_union_permissions(&mut self, permissions: [bool; 2]) -> Result<Answer> {
        self.require_union_authorizer(&self.constants.union_permission_change)?;
        if self.union_permissions()? != permissions {
            self.memory.union.permissions = Some(permissions);
            self.log_union_permissions(self.ctx.caller, permissions);
        }
        Ok(code(SUCCESS))
    }

    pub(super) fn notice(&mut self, notice: Notice) -> Result<Answer> {
        Ok(Answer::Bytes(self.read(&notice.key())?.map(|bytes| bytes.to_vec()).unwrap_or_default()))
    }

    pub(super) fn set_notice(&mut self, notice: Notice, data: &[u8]) -> Result<Answer> {
        if !self.is_union_contract()? || data.len() > EVENT_SIZE_LIMIT {
            return Err(Failure::Call);
        }
        self.memory.union.notices.push((notice, data.to_vec()));
        Ok(Answer::Nothing)
    }

    pub(super) fn save_union(&mut self, union: UnionCells) -> Result<()> {
        if let Some(address) = union.address {
            self.write(cells::long_key(ADDRESS), cells::string(address.as_slice()))?;
        }
        let flags = union.permissions.map(|flags| flags.map(|flag| U256::from(flag)));
        let numbers = [
            (CAP, union.cap),
            (LENT, union.lent),
            (REQUESTS, flags.map(|[requests, _]| requests)),
            (RELEASES, flags.map(|[_, releases]| releases)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                let mut value = Vec::new();
                rlp::put_value(&mut value, &number);
                self.write(cells::long_key(name), value)?;
            }
        }
        for (notice, data) in union.notices {
            self.write(notice.key(), data)?;
        }
        Ok(())
    }

    /// The length of a notice that nobody has set is zero.
    pub(super) fn clear_notice(&mut self, notice: Notice) -> Result<Answer> {
        self.set_notice(notice, &[])
    }
}

/// A flag as the word of an answer.
pub(super) fn flag(flag: bool) -> Answer {
    word(u64::from(flag))
}
