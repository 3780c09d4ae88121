//! `eth_simulateV1`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::objects::block::{TransactionList, write_simulated};
use crate::objects::log;
use crate::response_limit;
use crate::revert;
use crate::simulation::{self, SimulatedBlock, Simulation};
use rhizome_chain::LogPosition;
use rhizome_evm::{Deadline, End};

/// Code of a call that reverted (execution-apis).
const REVERTED: i64 = 3;
/// Code of a call that halted (execution-apis).
const HALTED: i64 = -32015;

/// Blocks of calls on top of a block of the chain: each as a block object with `calls`. Fails with -32011 above `max_bytes`.
pub fn answer(node: &Node, request: &Simulation, at: &BlockId<'_>, max_bytes: usize, deadline: &Deadline) -> Answer {
    if !node.options().has_overrides {
        return Err(RpcError::invalid_params("State override is not allowed"));
    }
    let BlockRef::Mined(base) = at.find(node)?.ok_or_else(|| at.not_found())? else {
        return Err(RpcError::invalid_params("Invalid block: a simulation starts from a block of the chain"));
    };
    let blocks = simulation::run(node, request, &base, deadline)?;
    let list = TransactionList::from_flag(request.is_full);
    let mut json = JsonWriter::new();
    json.begin_array();
    for simulated in &blocks {
        let form = node.options().transaction_form;
        write_simulated(&mut json, &simulated.block, &simulated.senders, list, form, |json| {
            json.key("calls").begin_array();
            for index in 0..simulated.outcomes.len() {
                // Rejected below.
                if json.len() > max_bytes {
                    break;
                }
                write_call(json, simulated, index);
            }
            json.end_array();
        });
        response_limit::check(&json, max_bytes)?;
    }
    json.end_array();
    Ok(json.finish())
}

fn write_call(json: &mut JsonWriter, simulated: &SimulatedBlock, index: usize) {
    let Some((outcome, transaction)) = simulated.outcomes.get(index).zip(simulated.block.transactions.get(index))
    else {
        return;
    };
    let first = simulated.logs_before(index);
    json.begin_object();
    json.key("status").quantity(u64::from(outcome.success));
    json.key("gasUsed").quantity(outcome.gas_used);
    json.key("returnData").data(&outcome.output);
    json.key("logs").begin_array();
    for (position, log) in (first..).zip(simulated.logs(index)) {
        let position = LogPosition {
            block_number: simulated.block.header.number,
            block_hash: simulated.block.hash(),
            transaction_hash: transaction.hash(),
            transaction_index: index as u64,
            log_index: position as u64,
        };
        log::write(json, log, &position, Some(false));
    }
    json.end_array();
    // In the words of execution-apis, which tools look for.
    let halted = |name: &str| Some((HALTED, format!("vm execution error: {name}")));
    let error = match outcome.end {
        End::Success if outcome.success => None,
        End::Revert => Some((REVERTED, reverted(&outcome.output))),
        End::Halt(reason) => halted(revert::name(reason)),
        End::Success => halted("precompiled contract failed"),
    };
    if let Some((code, message)) = error {
        json.key("error").begin_object();
        json.key("code").number(code);
        json.key("message").text(&message);
        if outcome.end == End::Revert {
            json.key("data").data(&outcome.output);
        }
        json.end_object();
    }
    json.end_object();
}

fn reverted(output: &[u8]) -> String {
    revert::reason(output).map_or_else(|| "execution reverted".into(), |reason| format!("execution reverted: {reason}"))
}
