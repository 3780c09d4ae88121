//! Types by the scripts of inputs and outputs, until the index of peg-outs (docs/spec/bridge.md, 6.2).

use super::TransactionType;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation::{Federation, FederationVersion};
use crate::federation_outputs::{output_scripts, outputs_to, sum};
use crate::redeem_script::{RedeemScript, check_rewritable, last_script, redeem_script_of_input};
use rhizome_bitcoin::script::p2sh_p2wsh_script;
use rhizome_bitcoin::{BitcoinTransaction, hash160, p2sh_script, spends_correctly};
use rhizome_primitives::Rule;
use std::rc::Rc;

/// A transaction and the federations that it may involve.
pub(super) struct LegacyTyping<'a> {
    pub(super) ctx: &'a CallContext<'a>,
    pub(super) transaction: &'a BitcoinTransaction,
    /// The active federation first.
    pub(super) live: Vec<Rc<Federation>>,
    pub(super) retiring: Option<Rc<Federation>>,
    /// Output script of the federation that retired last.
    pub(super) retired_script: Option<Vec<u8>>,
}

impl LegacyTyping<'_> {
    pub(super) fn run(&self) -> Result<TransactionType> {
        let old_federation = p2sh_script(&self.ctx.constants.old_federation);
        if self.ctx.has(Rule::Rskip199) && self.spends_any(&old_federation)? {
            return Ok(TransactionType::PegOut);
        }
        if self.is_peg_in(&self.live, self.retired_script.as_deref())? {
            return Ok(TransactionType::PegIn);
        }
        if self.is_migration()? || self.comes_from(&standard_scripts(self.ctx, &self.live)?)? {
            return Ok(TransactionType::PegOut);
        }
        Ok(TransactionType::Unknown)
    }

    /// Returns true if an input is a valid spend of an output script.
    fn spends_any(&self, script: &[u8]) -> Result<bool> {
        for input in 0..self.transaction.inputs.len() {
            if self.spends(input, script)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn spends(&self, input: usize, script: &[u8]) -> Result<bool> {
        spends_correctly(self.transaction, input, script).map_err(|_crash| MethodFailure::Rejected)
    }

    /// Returns true if no input belongs to `federations` or to a retired federation, and the amounts are sufficient.
    fn is_peg_in(&self, federations: &[Rc<Federation>], retired_script: Option<&[u8]>) -> Result<bool> {
        let scripts = output_scripts(self.ctx, federations)?;
        for input in 0..self.transaction.inputs.len() {
            for script in scripts.iter().map(Vec::as_slice).chain(retired_script) {
                if self.spends(input, script)? {
                    return Ok(false);
                }
            }
            if self.ctx.has(Rule::Rskip201) && self.is_change(input, federations, retired_script)? {
                return Ok(false);
            }
        }
        self.has_sufficient_amounts(&scripts)
    }

    /// Returns true if the standard part of the redeem script of an input is that of a federation, also behind a flyover
    /// prefix or beside an emergency branch.
    fn is_change(&self, input: usize, federations: &[Rc<Federation>], retired_script: Option<&[u8]>) -> Result<bool> {
        let script = redeem_script_of_input(self.transaction, input)?.filter(|script| script.is_multisig());
        let Some(script) = script else { return Ok(false) };
        let part = script.standard_part()?;
        for federation in federations {
            // The reference ignores the rest of the input if a federation has no standard part.
            if is_testnet_constant(self.ctx, federation)? {
                return Ok(false);
            }
            check_rewritable(part)?;
            if federation.standard_redeem_script(self.ctx)? == part {
                return Ok(true);
            }
        }
        Ok(retired_script == Some(&p2sh_script(&hash160(part))))
    }

    /// Until RSKIP-293 the sum must reach the minimum; since then every output must, so that no output is enough, too.
    fn has_sufficient_amounts(&self, scripts: &[Vec<u8>]) -> Result<bool> {
        let outputs = outputs_to(self.transaction, scripts)?;
        let total = sum(&outputs)?;
        let minimum = self.ctx.minimum_peg_in();
        Ok(match self.ctx.has(Rule::Rskip293) {
            true => outputs.iter().all(|(_, output)| output.satoshis >= minimum),
            false => total >= minimum,
        })
    }

    /// Returns true if coins of a retiring or retired federation move to the active one.
    fn is_migration(&self) -> Result<bool> {
        if self.retiring.is_none() && self.retired_script.is_none() {
            return Ok(false);
        }
        let mut origins: Vec<Vec<u8>> = self.retired_script.iter().cloned().collect();
        origins.extend(standard_scripts(self.ctx, self.retiring.as_slice())?);
        let moves_from = self.comes_from(&origins)?;
        let active = self.live.first().map(std::slice::from_ref).unwrap_or_default();
        Ok(self.is_peg_in(active, None)? && moves_from)
    }

    /// Returns true if the redeem script of an input has one of the output scripts.
    fn comes_from(&self, scripts: &[Vec<u8>]) -> Result<bool> {
        for input in 0..self.transaction.inputs.len() {
            let Some(script) = last_script(self.transaction, input)? else { continue };
            let compared = match self.ctx.has(Rule::Rskip201) {
                true => match RedeemScript::recognize(script)? {
                    script if script.is_multisig() => script.standard_part()?.to_vec(),
                    _ => continue,
                },
                false => script.to_vec(),
            };
            check_rewritable(&compared)?;
            let is_segwit = || self.ctx.has(Rule::Rskip305) && scripts.contains(&p2sh_p2wsh_script(&compared));
            if scripts.contains(&p2sh_script(&hash160(&compared))) || is_segwit() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn standard_scripts(ctx: &CallContext<'_>, federations: &[Rc<Federation>]) -> Result<Vec<Vec<u8>>> {
    federations.iter().map(|federation| federation.standard_output_script(ctx)).collect()
}

/// Returns true if the redeem script of a federation is the constant of testnet.
fn is_testnet_constant(ctx: &CallContext<'_>, federation: &Federation) -> Result<bool> {
    let is_candidate = federation.version == FederationVersion::NonStandardErp;
    Ok(is_candidate && federation.redeem_script(ctx)? == crate::redeem_script::TESTNET_REDEEM_SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Call;
    use rhizome_bitcoin::{OutPoint, TransactionInput, push_data};
    use rhizome_primitives::{Network, Rules};

    /// Returns whether the last push of the only input has the script of a federation; `None` for a call error.
    fn comes_from_a_federation(rules: Rules, last: &[u8]) -> Option<bool> {
        let mut script = Vec::new();
        push_data(&mut script, last);
        let outpoint = OutPoint { txid: [1; 32], index: 0 };
        let inputs = vec![TransactionInput { outpoint, script, sequence: 0, witness: Vec::new() }];
        let transaction = BitcoinTransaction { version: 2, inputs, outputs: Vec::new(), lock_time: 0 };
        let call = Call::local(Network::Regtest, rules, 1);
        let ctx = CallContext::of(&call).unwrap();
        let (live, retiring, retired_script) = (Vec::new(), None, None);
        let typing = LegacyTyping { ctx: &ctx, transaction: &transaction, live, retiring, retired_script };
        typing.comes_from(&[]).ok()
    }

    #[test]
    fn scripts_are_recognized_since_rskip201() {
        let empty_number = [0, 1, 7, 0x51, 0xae];
        assert_eq!(comes_from_a_federation(Rules::none(), &empty_number), Some(false));
        assert_eq!(comes_from_a_federation(Rules::all(), &empty_number), None);
    }

    #[test]
    fn long_pushes_with_four_bytes_of_length_cannot_be_written_again() {
        let long_push = |size: u16| [&[0x4e][..], &u32::from(size).to_le_bytes(), &vec![7; size.into()]].concat();
        for (size, result) in [(520, Some(false)), (521, None)] {
            let multisig = [&[0x51][..], &long_push(size), &[0x51, 0xae]].concat();
            assert_eq!(comes_from_a_federation(Rules::none(), &long_push(size)), result);
            assert_eq!(comes_from_a_federation(Rules::all(), &multisig), result);
            // Only the multisig is written again.
            assert_eq!(comes_from_a_federation(Rules::all(), &long_push(size)), Some(false));
        }
    }
}
