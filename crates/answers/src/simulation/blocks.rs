use super::request::{BlockRequest, Simulation};
use crate::error::{ErrorCode, RpcError};

/// Maximum number of blocks of a simulation, including blocks that fill gaps between numbers.
const MAX_BLOCKS: u64 = 256;

/// A block to be simulated, with its number and time decided.
pub(super) struct Planned<'a> {
    pub(super) number: u64,
    pub(super) time: u64,
    /// `None` for a block that fills a gap.
    pub(super) request: Option<&'a BlockRequest>,
}

/// The blocks after the one with this number and time, in order.
pub(super) fn plan(simulation: &Simulation, number: u64, time: u64) -> Result<Vec<Planned<'_>>, RpcError> {
    let mut planned: Vec<Planned<'_>> = Vec::new();
    let (first, mut last_number, mut last_time) = (number, number, time);
    for request in &simulation.blocks {
        let number = request.block.number.unwrap_or(last_number.saturating_add(1));
        if number <= last_number {
            let message = format!("block numbers must be in order: {number} <= {last_number}");
            return Err(RpcError::new(ErrorCode::SimulatedNumber, message));
        }
        if number.saturating_sub(first) > MAX_BLOCKS {
            return Err(RpcError::new(ErrorCode::SimulationLimit, "too many blocks"));
        }
        for gap in last_number.saturating_add(1)..number {
            last_time = last_time.saturating_add(1);
            planned.push(Planned { number: gap, time: last_time, request: None });
        }
        let time = request.block.time.unwrap_or(last_time.saturating_add(1));
        if time <= last_time {
            let message = format!("block timestamps must be in order: {time} <= {last_time}");
            return Err(RpcError::new(ErrorCode::SimulatedTime, message));
        }
        (last_number, last_time) = (number, time);
        planned.push(Planned { number, time, request: Some(request) });
    }
    Ok(planned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(json: &str) -> Result<Vec<(u64, u64, bool)>, ErrorCode> {
        let simulation = Simulation::parse(json).unwrap();
        let blocks = plan(&simulation, 10, 100).map_err(|error| error.code)?;
        Ok(blocks.iter().map(|block| (block.number, block.time, block.request.is_some())).collect())
    }

    #[test]
    fn gaps_are_filled() {
        let blocks = planned(
            r#"{"blockStateCalls":[{},{"blockOverrides":{"number":"0xe"}},{"blockOverrides":{"time":"0x100"}}]}"#,
        );
        let expected = [(11, 101, true), (12, 102, false), (13, 103, false), (14, 104, true), (15, 256, true)];
        assert_eq!(blocks.unwrap(), expected);
    }

    #[test]
    fn numbers_and_times_rise() {
        let refused =
            |overrides: &str| planned(&format!(r#"{{"blockStateCalls":[{{"blockOverrides":{overrides}}}]}}"#));
        assert_eq!(refused(r#"{"number":"0xa"}"#), Err(ErrorCode::SimulatedNumber));
        assert_eq!(refused(r#"{"time":"0x64"}"#), Err(ErrorCode::SimulatedTime));
        assert_eq!(refused(r#"{"number":"0xffffffffffffffff"}"#), Err(ErrorCode::SimulationLimit));
    }
}
