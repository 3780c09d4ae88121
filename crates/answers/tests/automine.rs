//! Instant mining: submissions are answered after their block.

use crate::node::{reference_options, regtest, steps};
use crate::transcript::Tally;
use rhizome_answers::options::MiningMode;
use rhizome_chain::Clock;

#[test]
fn submissions_mine() {
    let node = regtest(reference_options(MiningMode::Auto), Clock::system());
    let mut tally = Tally::default();
    steps("30-scenario-automine.json").iter().for_each(|step| tally.run(&node, step));
    tally.conclude("30-scenario-automine.json", &[]);
}
