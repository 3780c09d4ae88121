//! Elections: votes that have not reached the required number (docs/spec/bridge.md, 3.3.8 and 9.1).

use super::access::{SlotAccess, decode_elements};
use super::keys::SlotKey;
use super::slot::SlotEncoding;
use crate::error::Result;
use rhizome_primitives::{Address, rlp};

/// The function call that a vote is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoteSpec {
    pub(crate) function: &'static [u8],
    pub(crate) arguments: Vec<Vec<u8>>,
}

/// The open specs with their voters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Election(Vec<Ballot>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ballot {
    function: Vec<u8>,
    arguments: Vec<Vec<u8>>,
    voters: Vec<Address>,
}

impl Ballot {
    fn is_for(&self, spec: &VoteSpec) -> bool {
        self.function == spec.function && self.arguments == spec.arguments
    }

    /// Sort key of specs: function and arguments as signed bytes.
    fn sort_key(&self) -> Vec<i8> {
        self.function.iter().chain(self.arguments.iter().flatten()).map(|byte| *byte as i8).collect()
    }

    fn decode(spec: &rlp::Item<'_>, voters: &rlp::Item<'_>) -> Option<Ballot> {
        let spec = spec.list("spec").ok()?;
        let [function, arguments] = spec.as_slice() else { return None };
        let arguments = arguments.list("arguments").ok()?;
        let voters = voters.list("voters").ok()?;
        let address = |voter: &rlp::Item<'_>| Address::try_from(voter.bytes()).ok();
        Some(Ballot {
            function: function.bytes().to_vec(),
            arguments: arguments.iter().map(|argument| argument.bytes().to_vec()).collect(),
            voters: voters.iter().map(address).collect::<Option<_>>()?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut arguments = Vec::new();
        self.arguments.iter().for_each(|argument| rlp::put_bytes(&mut arguments, argument));
        let mut spec = Vec::new();
        rlp::put_bytes(&mut spec, &self.function);
        spec.extend(rlp::list(&arguments));
        out.extend(rlp::list(&spec));
        let mut sorted = self.voters.clone();
        sorted.sort_unstable();
        let mut voters = Vec::new();
        sorted.iter().for_each(|voter| rlp::put_address(&mut voters, Some(voter)));
        out.extend(rlp::list(&voters));
    }
}

impl Election {
    /// Registers a vote. Returns false if the voter has already voted for the spec.
    pub(crate) fn vote(&mut self, spec: &VoteSpec, voter: Address) -> bool {
        match self.0.iter_mut().find(|ballot| ballot.is_for(spec)) {
            Some(ballot) if ballot.voters.contains(&voter) => return false,
            Some(ballot) => ballot.voters.push(voter),
            None => self.0.push(Ballot {
                function: spec.function.to_vec(),
                arguments: spec.arguments.clone(),
                voters: vec![voter],
            }),
        }
        true
    }

    /// Returns true if the spec has `required` votes.
    pub(crate) fn is_won(&self, spec: &VoteSpec, required: usize) -> bool {
        self.0.iter().any(|ballot| ballot.is_for(spec) && ballot.voters.len() >= required)
    }

    pub(crate) fn remove(&mut self, spec: &VoteSpec) {
        self.0.retain(|ballot| !ballot.is_for(spec));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns true if every voter satisfies the predicate.
    pub(crate) fn all_voters(&self, is_valid: impl Fn(&Address) -> bool) -> bool {
        self.0.iter().flat_map(|ballot| &ballot.voters).all(is_valid)
    }

    fn encode(&self) -> Vec<u8> {
        let mut ballots: Vec<&Ballot> = self.0.iter().collect();
        ballots.sort_by_cached_key(|ballot| ballot.sort_key());
        let mut items = Vec::new();
        ballots.iter().for_each(|ballot| ballot.encode(&mut items));
        rlp::list(&items)
    }

    fn decode(bytes: &[u8]) -> Option<Election> {
        let items = decode_elements(bytes)?;
        let (pairs, rest) = items.as_chunks::<2>();
        let ballots = pairs.iter().map(|[spec, voters]| Ballot::decode(spec, voters)).collect::<Option<_>>()?;
        rest.is_empty().then_some(Election(ballots))
    }
}

impl SlotEncoding for Election {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Ok(slots.decoded(&key.word(), Self::decode)?.unwrap_or_default())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(argument: u8) -> VoteSpec {
        VoteSpec { function: b"add", arguments: vec![vec![argument]] }
    }

    #[test]
    fn votes_count_once_and_survive_a_round_trip() {
        let [one, two] = [2, 1].map(Address::repeat_byte);
        let mut election = Election::default();
        assert!(election.vote(&spec(3), one) && !election.vote(&spec(3), one) && !election.is_won(&spec(3), 2));
        assert!(election.vote(&spec(3), two) && election.is_won(&spec(3), 2) && !election.is_won(&spec(4), 1));
        let read = Election::decode(&election.encode()).unwrap();
        assert_eq!(read.encode(), election.encode());
        election.remove(&spec(3));
        assert_eq!(election.encode(), [0xc0]);
    }

    #[test]
    fn specs_are_sorted_as_signed_bytes() {
        let mut election = Election::default();
        for argument in [1, 0x80, 0x7f] {
            election.vote(&spec(argument), Address::ZERO);
        }
        let read = Election::decode(&election.encode()).unwrap();
        let arguments: Vec<u8> = read.0.iter().map(|ballot| ballot.arguments[0][0]).collect();
        assert_eq!(arguments, [0x80, 1, 0x7f]);
    }

    #[test]
    fn malformed_values_are_rejected() {
        for bytes in [&[0x80][..], &[0xc1, 0xc0], &[0xc2, 0xc0, 0xc0], &[0xc2, 1, 2]] {
            assert_eq!(Election::decode(bytes), None);
        }
    }
}
