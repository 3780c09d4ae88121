//! Random sequences of calls with random arguments, under the rules of mainnet as they follow each other, then those of
//! regtest: no call panics or has no verdict, no coins come from nothing, and each slot can be read again.

mod actions;
mod bad_input;
mod call_data;
mod every_argument;
mod stand_in;
pub(crate) mod world;

use crate::mutation::with_random;
use world::World;

/// Calls in a sequence.
const CALLS: usize = 100;

#[test]
fn fuzz_sequences_of_calls() {
    with_random(|random| {
        let mut world = World::new(random);
        for _ in 0..CALLS {
            actions::act(&mut world, random);
            world.check();
        }
    });
}
