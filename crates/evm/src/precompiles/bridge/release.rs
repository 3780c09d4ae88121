//! Peg-out requests, and `updateCollections` as long as there are no coins to pay them with (bridge chapter 7).

use super::cells::{self, Cell};
use super::federation::{Role, word};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_bitcoin::hash160;
use rhizome_primitives::{B256, Network, Rule, U256, rlp};

pub(super) const WEI_PER_SATOSHI: U256 = U256::from_limbs([10_000_000_000, 0, 0, 0]);
/// Reasons of a refusal.
const LOW_AMOUNT: u64 = 1;
const FROM_CONTRACT: u64 = 2;
const FEE_ABOVE_VALUE: u64 = 3;
/// Requests that one call looks at, until RSKIP-271.
const REQUESTS_PER_CALL: usize = 30;
/// Inputs and outputs of the peg-out that the minimum is estimated with.
const ESTIMATED_OUTPUTS: u64 = 2;

/// A peg-out that waits: to whom, how much, and since RSKIP-146 which transaction asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    destination: [u8; 20],
    satoshis: u64,
    hash: Option<B256>,
}

impl Invocation<'_, '_> {
    pub(super) fn release(&mut self) -> Result<Answer> {
        let wei = self.ctx.value;
        if !self.ctx.is_direct {
            if !self.has(Rule::Rskip185) {
                return Err(Failure::Call);
            }
            self.log_release_rejected(wei, FROM_CONTRACT);
            return Ok(Answer::Nothing);
        }
        let key = (self.ctx.public_key)().ok_or(Failure::Call)?;
        let destination = hash160(&key);
        let satoshis = u64::try_from(wei / WEI_PER_SATOSHI).map_err(|_too_much| Failure::Call)?;
        if let Some(reason) = self.refusal(satoshis)? {
            if self.has(Rule::Rskip185) {
                let refund = if self.has(Rule::Rskip427) { wei } else { wei - wei % WEI_PER_SATOSHI };
                let sender = self.sender();
                self.pay(sender, refund)?;
                self.log_release_rejected(wei, reason);
            }
            return Ok(Answer::Nothing);
        }
        let hash = self.has(Rule::Rskip146).then_some(self.ctx.transaction_hash);
        self.queue()?.push(Request { destination, satoshis, hash });
        if self.has(Rule::Rskip185) {
            self.log_release_received(&destination, &self.constants.key_address(destination), wei);
        }
        Ok(Answer::Nothing)
    }

    /// Why an amount is not paid out.
    fn refusal(&mut self, satoshis: u64) -> Result<Option<u64>> {
        if !self.has(Rule::Rskip219) {
            return Ok((satoshis <= self.constants.legacy_minimum_peg_out).then_some(LOW_AMOUNT));
        }
        let fee = self.estimated_fee(ESTIMATED_OUTPUTS)?;
        let gap = fee.checked_mul(self.constants.peg_out_gap).ok_or(Failure::Call)? / 100;
        let fee = fee.checked_add(gap).ok_or(Failure::Call)?;
        let minimum = self.constants.minimum_peg_out.max(fee);
        let reason = if minimum == fee { FEE_ABOVE_VALUE } else { LOW_AMOUNT };
        Ok((satoshis < minimum).then_some(reason))
    }

    /// With no coins no request can be paid, so that all of them stay.
    pub(super) fn update_collections(&mut self) -> Result<Answer> {
        self.require_member()?;
        self.require_no(Role::Proposed)?;
        self.log_update_collections();
        self.read_active_coins()?;
        self.read_confirmations()?;
        self.fee_per_kb()?;
        if self.has(Rule::Rskip271) {
            let (number, next) = (self.ctx.env.number, self.next_peg_out_height()?);
            if self.queue()?.is_empty() && number >= next {
                self.memory.next_peg_out_height = number.checked_add(self.constants.blocks_between_batches);
            }
        } else {
            let queue = self.queue()?;
            let count = queue.len().min(REQUESTS_PER_CALL);
            queue.rotate_left(count);
        }
        self.read_signatures()?;
        if self.has(Rule::Rskip186) {
            self.require_absent(cells::NEXT_CREATION_HEIGHT)?;
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn next_peg_out_height(&mut self) -> Result<u64> {
        if !self.has(Rule::Rskip271) {
            return Ok(0);
        }
        if let Some(height) = self.memory.next_peg_out_height {
            return Ok(height);
        }
        let height = self.read_u64(cells::NEXT_PEG_OUT_HEIGHT)?.unwrap_or_default();
        self.memory.next_peg_out_height = Some(height);
        Ok(height)
    }

    pub(super) fn queue_size(&mut self) -> Result<Answer> {
        Ok(word(self.queue()?.len() as u64))
    }

    /// The requests of both cells, in one list.
    pub(super) fn queue(&mut self) -> Result<&mut Vec<Request>> {
        if self.memory.queue.is_none() {
            let mut queue = self.read_queue(cells::QUEUE, false)?;
            if self.has(Rule::Rskip146) {
                queue.extend(self.read_queue(cells::QUEUE_WITH_HASH, true)?);
            }
            self.memory.queue = Some(queue);
        }
        self.memory.queue.as_mut().ok_or(Failure::Call)
    }

    fn read_queue(&mut self, cell: Cell, has_hashes: bool) -> Result<Vec<Request>> {
        let Some(bytes) = self.read(&cell.key)? else { return Ok(Vec::new()) };
        decode_queue(&bytes, has_hashes).ok_or_else(|| self.missing(cell.name, cell.stage))
    }

    pub(super) fn save_queue(&mut self, queue: &[Request]) -> Result<()> {
        self.write(cells::QUEUE.key, encode_queue(queue, false))?;
        if self.has(Rule::Rskip146) {
            self.write(cells::QUEUE_WITH_HASH.key, encode_queue(queue, true))?;
        }
        Ok(())
    }

    /// The queue in the form of the rules, which leaves the requests of the other form out.
    pub(super) fn shown_queue(&mut self) -> Result<Vec<u8>> {
        let has_hashes = self.has(Rule::Rskip146);
        Ok(encode_queue(self.queue()?, has_hashes))
    }

    pub(super) fn read_confirmations(&mut self) -> Result<()> {
        self.require_empty(cells::CONFIRMATIONS)?;
        if self.has(Rule::Rskip146) {
            self.require_empty(cells::CONFIRMATIONS_WITH_HASH)?;
        }
        self.memory.has_read_confirmations = true;
        Ok(())
    }

    pub(super) fn read_signatures(&mut self) -> Result<()> {
        self.require_empty(cells::SIGNATURES)?;
        self.memory.has_read_signatures = true;
        Ok(())
    }

    /// The coins of the active federation: none, or a stop.
    pub(super) fn read_active_coins(&mut self) -> Result<()> {
        self.require_genesis_federation()?;
        self.require_empty(self.active_coins_cell())?;
        self.memory.has_read_active_coins = true;
        Ok(())
    }

    /// The testnet has had three lists.
    pub(super) fn active_coins_cell(&self) -> Cell {
        let is_testnet = matches!(self.ctx.spec.network, Network::Testnet | Network::Testnet2);
        match (is_testnet, self.has(Rule::Rskip284), self.has(Rule::Rskip293)) {
            (true, true, true) => cells::ACTIVE_COINS_TESTNET_LATER,
            (true, true, false) => cells::ACTIVE_COINS_TESTNET,
            _ => cells::ACTIVE_COINS,
        }
    }
}

/// The requests with a hash, or those without.
fn encode_queue(queue: &[Request], has_hashes: bool) -> Vec<u8> {
    let mut items = Vec::new();
    for request in queue.iter().filter(|request| request.hash.is_some() == has_hashes) {
        rlp::put_bytes(&mut items, &request.destination);
        rlp::put_u64(&mut items, request.satoshis);
        if let Some(hash) = &request.hash {
            rlp::put_bytes(&mut items, hash.as_slice());
        }
    }
    rlp::list(&items)
}

fn decode_queue(bytes: &[u8], has_hashes: bool) -> Option<Vec<Request>> {
    let items = cells::elements(bytes)?;
    let chunks = items.chunks(if has_hashes { 3 } else { 2 });
    let request = |items: &[rlp::Item<'_>]| {
        let (destination, satoshis, hash) = match items {
            [destination, satoshis] if !has_hashes => (destination, satoshis, None),
            [destination, satoshis, hash] if has_hashes => {
                (destination, satoshis, Some(B256::try_from(hash.bytes()).ok()?))
            }
            _ => return None,
        };
        let satoshis = rlp::read_u64(satoshis.bytes(), u64::MAX, "amount").ok()?;
        Some(Request { destination: destination.bytes().try_into().ok()?, satoshis, hash })
    };
    chunks.map(request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_read_back() {
        let request = |hash| Request { destination: [1; 20], satoshis: 7, hash };
        let queue = [request(None), request(Some(B256::repeat_byte(9)))];
        assert_eq!(decode_queue(&encode_queue(&queue, false), false).unwrap(), queue[..1]);
        assert_eq!(decode_queue(&encode_queue(&queue, true), true).unwrap(), queue[1..]);
        assert_eq!(decode_queue(&[0xc0], true), Some(vec![]));
        assert_eq!(decode_queue(&[0xc1, 1], true), None);
        assert_eq!(decode_queue(&encode_queue(&queue, true), false), None);
    }
}
