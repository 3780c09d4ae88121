//! The federators that REMASC pays (docs/spec/bridge.md, 8.8).

use crate::context::{Call, CallContext};
use crate::error::CallFailure;
use crate::federation;
use crate::federation::member_address::address_of;
use crate::slots::access::Host;
use crate::slots::pending_federation::FederationMember;
use crate::storage::Storage;
use rhizome_primitives::{Address, Network, Rule, Rules};

/// Returns the addresses that REMASC pays for the block `height`, in the order of payment, under the rules of the executing
/// block. Saves nothing. Fails if the stored federation is malformed, and on the devnet, which has no federation.
pub fn federators(
    network: Network,
    rules: Rules,
    height: u64,
    host: &mut dyn Host,
) -> Result<Vec<Address>, CallFailure> {
    let call = Call::local(network, rules, height);
    let ctx = CallContext::of(&call)?;
    let mut storage = Storage::new(host, network, rules, Vec::new());
    let federation = federation::active(&mut storage, &ctx)?;
    let address = |member: &FederationMember| {
        let key = if rules.is_active(Rule::Rskip415) { &member.rsk } else { &member.bitcoin };
        address_of(key).ok_or(CallFailure::Rejected)
    };
    federation.members.iter().map(address).collect()
}
